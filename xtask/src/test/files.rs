//! No file grows past the length that one can keep in mind.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::{command, workspace};

const LINES_MAX: usize = 400;
const KINDS: [&str; 4] = ["*.rs", "*.sql", "*.lua", "*.wit"];

/// Fails with the files, of those that git knows, that are longer than that.
pub(super) fn none_too_long() -> Result<()> {
    let files = command::output(command::program("git").args(["ls-files", "-z"]).args(KINDS))?;
    let mut too_long = Vec::new();
    for name in files.split_terminator('\0') {
        let path = workspace::root().join(name);
        // A file that is deleted and not yet committed is still listed.
        if !path.exists() {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("reading {name}"))?;
        let lines = text.lines().count();
        if lines > LINES_MAX {
            too_long.push(format!("{name} has {lines} lines"));
        }
    }
    ensure!(too_long.is_empty(), "at most {LINES_MAX} lines: {}", too_long.join(", "));
    Ok(())
}
