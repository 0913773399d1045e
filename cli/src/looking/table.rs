//! Aligned columns, for people.

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
pub(crate) fn rows(listed: &Listed) -> Vec<[String; HEADS.len()]> {
    let Listed { key, view } = listed;
    let row = |state: String, [slot, fence, owner, since, ends_in, process, note]: [String; 7]| {
        let (name, kind) = (shown(key.name.as_str()), key.kind.as_str().to_owned());
        [name, kind, state, slot, fence, owner, since, ends_in, process, note]
    };
    let held = holders(view).map(|holder| row("holds".to_owned(), holder));
    let waited = waiters(view).map(|[place, _, owner, since, process, note]| {
        row(format!("waits {place}"), [none(), none(), owner, since, none(), process, note])
    });
    held.chain(waited).collect()
}

/// A line for each holder, by slot.
pub(super) fn holders(view: &KeyView) -> impl Iterator<Item = [String; 7]> {
    view.holders.iter().map(|HolderView { slot, fence, owner, note, held_for, ends_in }| {
        let [process, note] = of_note(note.as_ref());
        let (slot, fence) = (slot.to_string(), fence.to_string());
        [slot, fence, of_owner(owner), ago(*held_for), short(*ends_in), process, note]
    })
}

/// A line for each waiter, by place.
pub(super) fn waiters(view: &KeyView) -> impl Iterator<Item = [String; 6]> {
    (1..).zip(&view.waiters).map(
        |(place, WaiterView { limit, owner, note, waited_for }): (u32, _)| {
            let [process, note] = of_note(note.as_ref());
            [place.to_string(), limit.to_string(), of_owner(owner), ago(*waited_for), process, note]
        },
    )
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

fn ago(length: std::time::Duration) -> String {
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
