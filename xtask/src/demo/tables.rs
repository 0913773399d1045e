//! The tables that are to be imported, counted without the plugin.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// A table, and how many rows it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) rows: usize,
}

/// The folder of the tables.
pub(super) fn folder() -> PathBuf {
    workspace::root().join("guest/examples/importer/tables")
}

/// Every table of the folder, sorted by name.
pub(super) fn list() -> Result<Vec<Table>> {
    let folder = folder();
    let mut tables = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !is_note(&path) {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {name}"))?;
            tables.push(Table { name, rows: rows(&text) });
        }
    }
    ensure!(!tables.is_empty(), "there are no tables in {}", folder.display());
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tables)
}

/// A page about the tables, and not one of them.
fn is_note(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// How many lines are neither blank nor a comment.
fn rows(text: &str) -> usize {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_are_no_rows() {
        assert_eq!(rows("# head\n\n  \t# indented\nRule A # why\n\t0:00 - GMT\n"), 2);
    }

    #[test]
    fn the_repository_has_twelve_tables() {
        let tables = list().unwrap();
        assert_eq!(tables.len(), 12);
        assert!(tables.contains(&Table { name: "europe".to_owned(), rows: 1018 }));
    }
}
