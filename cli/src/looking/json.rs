//! The same for programs.

use leases::spec::{HolderView, WaiterView};
use leases::{Listed, Note};
use serde_json::{Value, json};

/// The keys in use.
pub(crate) fn list(listed: &[Listed]) -> Value {
    json!({ "keys": listed.iter().map(key).collect::<Vec<_>>() })
}

/// A key in use, with its holders by slot and its waiters by place.
pub(crate) fn key(listed: &Listed) -> Value {
    let waiters = listed.view.waiters.iter().zip(1..);
    json!({
        "kind": listed.key.kind.as_str(),
        "name": listed.key.name.as_str(),
        "holders": listed.view.holders.iter().map(holder).collect::<Vec<_>>(),
        "waiters": waiters.map(|(view, position)| waiter(view, position)).collect::<Vec<_>>(),
    })
}

fn holder(view: &HolderView) -> Value {
    let mut holder = json!({
        "slot": view.slot,
        "fence": view.fence.as_u64(),
        "owner": view.owner.as_ref().map(|owner| owner.as_str()),
        "held_for_ms": millis(view.held_for),
        "ends_in_ms": millis(view.ends_in),
    });
    add_note(&mut holder, view.note.as_ref());
    holder
}

fn waiter(view: &WaiterView, position: u32) -> Value {
    let mut waiter = json!({
        "position": position,
        "limit": view.limit.get(),
        "owner": view.owner.as_ref().map(|owner| owner.as_str()),
        "waited_for_ms": millis(view.waited_for),
    });
    add_note(&mut waiter, view.note.as_ref());
    waiter
}

/// What the note says, and from which process it comes; null where that is not known.
fn add_note(to: &mut Value, note: Option<&Note>) {
    let (said, origin) = note.map(Note::parts).unzip();
    let (said, origin) = (said.filter(|said| !said.is_empty()), origin.flatten());
    if let Some(fields) = to.as_object_mut() {
        fields.insert("note".to_owned(), json!(said));
        fields.insert("host".to_owned(), json!(origin.as_ref().map(|origin| origin.host())));
        fields.insert("process".to_owned(), json!(origin.map(|origin| origin.process())));
    }
}

fn millis(length: std::time::Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
