//! Aligned columns, for people.

use std::time::Duration;

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use leases::spec::{HolderView, KeyView, WaiterView};
use leases::{Listed, Note, Owner};

use super::text::shown;
use super::time::short;

/// The heads of [`rows`].
pub(crate) const HEADS: [&str; 10] =
    ["NAME", "KIND", "STATE", "SLOT", "FENCE", "OWNER", "SINCE", "ENDS IN", "PROCESS", "NOTE"];

/// The heads of [`holders`].
pub(super) const HOLDER_HEADS: [&str; 7] =
    ["SLOT", "FENCE", "OWNER", "SINCE", "ENDS IN", "PROCESS", "NOTE"];

/// The heads of [`waiters`].
pub(super) const WAITER_HEADS: [&str; 6] = ["PLACE", "LIMIT", "OWNER", "SINCE", "PROCESS", "NOTE"];

/// A line for each holder and, behind those of its key, each waiter in its place.
pub(crate) fn rows(listed: &Listed) -> impl Iterator<Item = [String; HEADS.len()]> {
    (0..).map_while(|at| row(listed, at, Duration::ZERO))
}

/// One of the [`rows`], as it is this much later, if nothing has changed.
pub(crate) fn row(listed: &Listed, at: usize, later: Duration) -> Option<[String; HEADS.len()]> {
    let Listed { key, view } = listed;
    let (name, kind) = (shown(key.name.as_str()), key.kind.as_str().to_owned());
    if let Some(view) = view.holders.get(at) {
        let [slot, fence, owner, since, ends_in, process, note] = holder(view, later);
        let state = "holds".to_owned();
        return Some([name, kind, state, slot, fence, owner, since, ends_in, process, note]);
    }
    let at = at - view.holders.len();
    let [_, owner, since, process, note] = waiter(view.waiters.get(at)?, later);
    let state = format!("waits {}", at + 1);
    Some([name, kind, state, none(), none(), owner, since, none(), process, note])
}

/// A line for each holder, by slot.
pub(super) fn holders(view: &KeyView) -> impl Iterator<Item = [String; 7]> {
    view.holders.iter().map(|view| holder(view, Duration::ZERO))
}

/// A line for each waiter, by place.
pub(super) fn waiters(view: &KeyView) -> impl Iterator<Item = [String; 6]> {
    (1..).zip(&view.waiters).map(|(place, view): (u32, _)| {
        let [limit, owner, since, process, note] = waiter(view, Duration::ZERO);
        [place.to_string(), limit, owner, since, process, note]
    })
}

fn holder(view: &HolderView, later: Duration) -> [String; 7] {
    let HolderView { slot, fence, owner, note, held_for, ends_in } = view;
    let [process, note] = of_note(note.as_ref());
    let (since, ends_in) = (ago(held_for.saturating_add(later)), ends_in.saturating_sub(later));
    [slot.to_string(), fence.to_string(), of_owner(owner), since, short(ends_in), process, note]
}

fn waiter(view: &WaiterView, later: Duration) -> [String; 5] {
    let WaiterView { limit, owner, note, waited_for } = view;
    let [process, note] = of_note(note.as_ref());
    let since = ago(waited_for.saturating_add(later));
    [limit.to_string(), of_owner(owner), since, process, note]
}

fn of_owner(owner: &Option<Owner>) -> String {
    owner.as_ref().map_or_else(none, |owner| shown(owner.as_str()))
}

/// By which process it is, and what else it says.
fn of_note(note: Option<&Note>) -> [String; 2] {
    let Some((said, origin)) = note.map(Note::parts) else { return [none(), none()] };
    let process = origin.map(|origin| format!("{}:{}", origin.host(), origin.process()));
    let said = if said.is_empty() { none() } else { shown(said) };
    [process.unwrap_or_else(none), said]
}

fn ago(length: Duration) -> String {
    format!("{} ago", short(length))
}

fn none() -> String {
    "-".to_owned()
}

/// The rows under their heads; as wide as they are, whatever the terminal.
pub(super) fn aligned<const N: usize>(
    heads: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heads).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
