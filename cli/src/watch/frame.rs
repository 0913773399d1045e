//! How it is laid out.

use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;

use super::columns::{Column, GAP, fitted};
use super::view::View;
use crate::looking::{HEADS, short, shown};

const KEYS: &str = "q end  r look now  arrows PgUp PgDn Home End scroll";

/// As wide as the times that are seen now and then: what stands behind them does not jump.
const WIDTHS_MIN: [(usize, u16); 3] =
    [(2, "waits 10".len() as u16), (6, "59m 59s ago".len() as u16), (7, "59m 59s".len() as u16)];

/// What was cut off has this in its place.
const CUT: &str = "…";

/// Lays out what is known at this time.
pub(super) fn draw(view: &mut View, now: Instant, area: Rect, buffer: &mut Buffer) {
    let unanswered = view.unanswered().map(|why| unanswered(view.age(now), why));
    let [head, why, heads, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(u16::from(unanswered.is_some())),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    view.fit(usize::from(body.height));
    let style = Style::new();
    Line::styled(title(view, now), style.add_modifier(Modifier::BOLD)).render(head, buffer);
    if let Some(unanswered) = unanswered {
        Line::styled(unanswered, style.add_modifier(Modifier::REVERSED)).render(why, buffer);
    }
    let rows = view.rows(now);
    let columns = fitted(&widths(&rows), body.width);
    row(&HEADS, &columns, heads, style.add_modifier(Modifier::DIM), buffer);
    for (cells, line) in rows.iter().zip(body.rows()) {
        row(cells, &columns, line, style, buffer);
    }
    draw_foot(view, foot, style.add_modifier(Modifier::DIM), buffer);
}

fn title(view: &View, now: Instant) -> String {
    let (hold, wait) = view.counts();
    let ago = seconds(view.age(now));
    format!("{}: {hold} hold, {wait} wait; looked {ago} ago", view.of())
}

fn unanswered(age: Duration, why: &str) -> String {
    format!("no answer for {}: {}", seconds(age), shown(why))
}

/// Parts of a second would only flicker.
fn seconds(length: Duration) -> String {
    short(Duration::from_secs(length.as_secs()))
}

/// The keys, and at the right which rows are seen.
fn draw_foot(view: &View, area: Rect, style: Style, buffer: &mut Buffer) {
    let seen = view.seen();
    let seen = match seen.is_empty() {
        true => format!("0 of {}", view.len()),
        false => format!("{}-{} of {}", seen.start + 1, seen.end, view.len()),
    };
    let seen = Line::styled(seen, style);
    let width = u16::try_from(seen.width()).unwrap_or(u16::MAX);
    let [keys, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)])
        .spacing(GAP)
        .areas(area);
    Line::styled(KEYS, style).render(keys, buffer);
    seen.render(right, buffer);
}

/// How wide each column is where nothing is cut: as wide as what is seen of it.
fn widths(rows: &[[String; HEADS.len()]]) -> [u16; HEADS.len()] {
    let mut widths = HEADS.map(width);
    for (place, least) in WIDTHS_MIN {
        if let Some(column) = widths.get_mut(place) {
            *column = least.max(*column);
        }
    }
    for row in rows {
        for (column, cell) in widths.iter_mut().zip(row) {
            *column = width(cell).max(*column);
        }
    }
    widths
}

fn width(text: &str) -> u16 {
    u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX)
}

/// One line of cells, each cut to its column.
fn row<S: AsRef<str>>(
    cells: &[S],
    columns: &[Column],
    line: Rect,
    style: Style,
    buffer: &mut Buffer,
) {
    if line.is_empty() {
        return;
    }
    let mut x = line.x;
    for column in columns {
        let cell = cells.get(column.place).map_or("", AsRef::as_ref);
        let whole = width(cell) <= column.width;
        let room = column.width - u16::from(!whole && column.width > 0);
        let (end, _) = buffer.set_stringn(x, line.y, cell, room.into(), style);
        if !whole {
            buffer.set_stringn(end, line.y, CUT, (x + column.width - end).into(), style);
        }
        x += column.width + GAP;
    }
}

#[cfg(test)]
mod tests;
