//! Which tables there are, and which one an instance turns to first.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// How a table's text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Input of the time zone compiler: fields between white space.
    ZoneSource,
    /// Fields between tabs.
    TabSeparated,
}

impl Format {
    /// The format that a file's name stands for: no extension is zone source, `.tab` is
    /// tab-separated, and anything else is not a table.
    pub(crate) fn of(file_name: &str) -> Option<Self> {
        match Path::new(file_name).extension() {
            None => Some(Format::ZoneSource),
            Some(extension) if extension == "tab" => Some(Format::TabSeparated),
            Some(_) => None,
        }
    }
}

/// The names of the tables in a folder, sorted.
pub(crate) fn list(folder: &Path) -> Result<Vec<String>> {
    let in_folder = || format!("reading {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(in_folder)? {
        let name = entry.with_context(in_folder)?.file_name();
        let name = name.to_string_lossy();
        if Format::of(&name).is_some() {
            names.push(name.into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The same tables, from another one on for each instance, so that instances that begin together
/// spread instead of queueing.
pub(crate) fn starting_at(mut tables: Vec<String>, instance: usize) -> Vec<String> {
    let first = instance.checked_rem(tables.len()).unwrap_or(0);
    tables.rotate_left(first);
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_start_at_different_tables() {
        let tables = || ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(starting_at(tables(), 0), ["a", "b", "c"]);
        assert_eq!(starting_at(tables(), 2), ["c", "a", "b"]);
        assert_eq!(starting_at(tables(), 4), ["b", "c", "a"]);
        assert!(starting_at(Vec::new(), 4).is_empty());
    }

    #[test]
    fn only_tables_are_listed() {
        assert_eq!(Format::of("europe"), Some(Format::ZoneSource));
        assert_eq!(Format::of("zone1970.tab"), Some(Format::TabSeparated));
        assert_eq!(Format::of("ORIGIN.md"), None);
    }
}
