//! The fields of a line of zone source.

use anyhow::{Context, Result, ensure};

/// The fields of a line, up to its comment. White space separates them, unless it stands in double
/// quotes.
pub(super) fn white_space(line: &str) -> Result<Vec<&str>> {
    let mut fields = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').context("a quote that does not end")?,
            None => rest.split_at(rest.find(ends_field).unwrap_or(rest.len())),
        };
        // Rows are written with tabs between their fields.
        ensure!(!field.contains('\t'), "a tab in a field");
        fields.push(field);
        rest = after.trim_start();
    }
    Ok(fields)
}

fn ends_field(c: char) -> bool {
    c.is_whitespace() || c == '#'
}

/// A year.
pub(super) fn year(text: &str) -> Result<i32> {
    text.parse().with_context(|| format!("{text:?} is not a year"))
}

/// A length of time, `[-]h[:mm[:ss]]`; `-` alone is none.
pub(super) fn seconds(text: &str) -> Result<i32> {
    if text == "-" {
        return Ok(0);
    }
    let not_a_time = || format!("{text:?} is not a length of time");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let mut total_s = 0;
    let mut unit_s = 3600;
    for part in digits.split(':') {
        let part: u16 = part.parse().with_context(not_a_time)?;
        ensure!(unit_s > 0 && (unit_s == 3600 || part < 60), not_a_time());
        total_s += i32::from(part) * unit_s;
        unit_s /= 60;
    }
    Ok(sign * total_s)
}
