//! From a table's text to its rows: one row for each line that is neither blank nor a comment.

mod fields;
#[cfg(test)]
mod tests;

use anyhow::{Context, Result, bail, ensure};

use crate::row::{Era, LastYear, Row, Rule};
use crate::tables::Format;
use fields::{seconds, white_space, year};

/// The rows of a table, in the order of its lines.
///
/// Fails at the first line that is not a row, with its number.
pub(crate) fn rows(text: &str, format: Format) -> Result<Vec<Row<'_>>> {
    match format {
        Format::TabSeparated => Ok(text.lines().filter_map(entry).collect()),
        Format::ZoneSource => zone_source(text),
    }
}

fn entry(line: &str) -> Option<Row<'_>> {
    let is_row = !line.trim().is_empty() && !line.starts_with('#');
    is_row.then(|| Row::Entry(line.split('\t').collect()))
}

fn zone_source(text: &str) -> Result<Vec<Row<'_>>> {
    let mut rows = Vec::new();
    let mut open_zone = None;
    for (line, number) in text.lines().zip(1..) {
        let at_line = || format!("line {number}");
        let fields = white_space(line).with_context(at_line)?;
        if fields.is_empty() {
            continue;
        }
        let row = match open_zone {
            Some(zone) => continuation(zone, &fields),
            None => first_line(&fields),
        };
        let row = row.with_context(at_line)?;
        open_zone = still_open(&row);
        rows.push(row);
    }
    match open_zone {
        Some(zone) => bail!("the text ends before zone {zone} does"),
        None => Ok(rows),
    }
}

/// The zone that the next line goes on with: an era that has an end is followed by another.
fn still_open<'t>(row: &Row<'t>) -> Option<&'t str> {
    match row {
        Row::Zone { name: zone, era } | Row::Continuation { zone, era } => {
            (!era.until.is_empty()).then_some(*zone)
        }
        _ => None,
    }
}

fn continuation<'t>(zone: &'t str, fields: &[&'t str]) -> Result<Row<'t>> {
    Ok(Row::Continuation { zone, era: era(fields)? })
}

fn first_line<'t>(fields: &[&'t str]) -> Result<Row<'t>> {
    match *fields {
        ["Rule", name, from, to, _, month, day, at, save, letters] => {
            let from = year(from)?;
            let to = last_year(from, to)?;
            let save_s = seconds(save)?;
            Ok(Row::Rule(Rule { name, from, to, month, day, at, save_s, letters }))
        }
        ["Zone", name, ref rest @ ..] => Ok(Row::Zone { name, era: era(rest)? }),
        ["Link", target, alias] => Ok(Row::Link { target, alias }),
        ["Leap", year, month, day, time, correction, kind] => {
            Ok(Row::Leap { date: [year, month, day], time, correction, kind })
        }
        [kind @ ("Rule" | "Link" | "Leap"), ref rest @ ..] => {
            bail!("{kind} has {} fields", rest.len())
        }
        [other, ..] => bail!("{other:?} begins no row"),
        [] => bail!("no fields"),
    }
}

fn era<'t>(fields: &[&'t str]) -> Result<Era<'t>> {
    let [offset, rules, format, until @ ..] = fields else {
        bail!("an era has an offset, rules and a format");
    };
    ensure!(until.len() <= 4, "an era's end has at most 4 fields, not {}", until.len());
    Ok(Era { offset_s: seconds(offset)?, rules, format, until: until.to_vec() })
}

fn last_year(from: i32, to: &str) -> Result<LastYear> {
    match to {
        "only" => Ok(LastYear::Year(from)),
        "max" => Ok(LastYear::Open),
        _ => Ok(LastYear::Year(year(to)?)),
    }
}
