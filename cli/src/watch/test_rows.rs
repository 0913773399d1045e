//! What looks find in tests.

use std::time::{Duration, Instant};

use leases::spec::{HolderView, KeyView, WaiterView};
use leases::{Fence, Key, Kind, Limit, Listed, Name, Note, Owner};

use super::looks::Looked;

/// A look that found this.
pub(super) fn looked(listed: Vec<Listed>, at: Instant) -> Looked {
    Looked { answer: Ok(listed), at }
}

/// A hold since 4 s that ends in 26 s.
pub(super) fn holder(slot: u32, owner: &str, note: &str) -> HolderView {
    HolderView {
        slot,
        fence: Fence::new(1_764_580_000_000_000 + u64::from(slot)).unwrap(),
        owner: Owner::new(owner).ok(),
        note: Some(Note::new(note).unwrap()).filter(|_| !note.is_empty()),
        held_for: Duration::from_secs(4),
        ends_in: Duration::from_secs(26),
    }
}

/// One that has waited for 62 s.
pub(super) fn waiter(owner: &str, note: &str) -> WaiterView {
    let HolderView { owner, note, .. } = holder(0, owner, note);
    let waited_for = Duration::from_secs(62);
    WaiterView { limit: Limit::ONE, owner, note, waited_for }
}

pub(super) fn key(
    kind: Kind,
    name: &str,
    holders: Vec<HolderView>,
    waiters: Vec<WaiterView>,
) -> Listed {
    let key = Key { kind, name: Name::new(name).unwrap() };
    Listed { key, view: KeyView { holders, waiters } }
}

/// So many names, each held once.
pub(super) fn holders(count: u32) -> Vec<Listed> {
    let name = |number| format!("n{number:05}");
    let held = |number| key(Kind::Lease, &name(number), vec![holder(0, "", "")], vec![]);
    (0..count).map(held).collect()
}
