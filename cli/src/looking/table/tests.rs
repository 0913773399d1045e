use leases::{Fence, Key, Kind, Limit, Name};

use super::*;

fn holder(slot: u32, owner: &str, note: &str, held: u64, left: u64) -> HolderView {
    HolderView {
        slot,
        fence: Fence::new(1_764_580_000_000_000 + u64::from(slot)).unwrap(),
        owner: Owner::new(owner).ok(),
        note: Some(Note::new(note).unwrap()).filter(|_| !note.is_empty()),
        held_for: Duration::from_millis(held),
        ends_in: Duration::from_millis(left),
    }
}

fn waiter(limit: u32, owner: &str, note: &str, waited: u64) -> WaiterView {
    let HolderView { owner, note, held_for: waited_for, .. } = holder(0, owner, note, waited, 0);
    WaiterView { limit: Limit::new(limit).unwrap(), owner, note, waited_for }
}

fn listed(kind: Kind, name: &str, view: KeyView) -> Listed {
    Listed { key: Key { kind, name: Name::new(name).unwrap() }, view }
}

fn import() -> Listed {
    let holders = vec![holder(0, "job-7", "nightly [web-3:4711]", 252_000, 26_000)];
    let waiters = vec![waiter(1, "", "[web-12:99]", 350), waiter(1, "job-8", "", 3_700_000)];
    listed(Kind::Lease, "import:42", KeyView { holders, waiters })
}

#[test]
fn a_list_is_as_it_was_agreed() {
    let odd = KeyView { holders: vec![holder(12, "", "a\u{202e}b", 0, 999)], waiters: vec![] };
    let all = [
        import(),
        listed(Kind::Semaphore, "uploads \u{4e2d}\u{6587} caf\u{e9}", odd),
        listed(Kind::Lease, "x ", KeyView { holders: vec![], waiters: vec![waiter(1, "", "", 0)] }),
    ];
    let table = aligned(HEADS, all.iter().flat_map(rows));
    assert_eq!(table + "\n", include_str!("../golden/list.txt"));
}

#[test]
fn a_name_is_shown_as_it_was_agreed() {
    let shown = crate::looking::show::described(&[import()], "import:42");
    assert_eq!(shown + "\n", include_str!("../golden/show.txt"));
}
