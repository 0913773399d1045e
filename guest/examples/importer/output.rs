//! The output folder: rows on their way, rows that are complete, and receipts.
//!
//! For a table `europe` it has `europe.rows/<fence>` while the holder of that fence writes,
//! `europe.tsv` once the rows are complete, and `europe.receipt` with one line per completed
//! import, so that a second import would be seen.
//!
//! Rows on their way have a folder per table, and only that is ever listed: a host looks at each
//! file while it lists, and fails when one is renamed meanwhile, as other tables' files are.
//!
//! The order is: rows complete, renamed, receipt. The receipt alone says that a table is imported,
//! so a crash at any step is mended by the next import:
//!
//! - before the rename there are only rows on their way, which the next holder removes;
//! - between rename and receipt the rows are there but not said to be, so they are imported again
//!   and replaced, as a whole, by the same; only that import writes a receipt;
//! - after the receipt nobody imports the table again.
//!
//! The other way round, a crash after the receipt would leave a table that everybody skips and
//! nobody has.

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use leases_guest::Fence;

use crate::row::Row;

/// Where one table's output goes.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    folder: PathBuf,
    table: String,
}

/// A completed import.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Receipt {
    pub(crate) instance: usize,
    pub(crate) fence: Fence,
    pub(crate) rows: usize,
}

/// The rows that one holder has written so far.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    rows: usize,
}

impl Output {
    /// The output of `table` in `folder`.
    pub(crate) fn new(folder: &Path, table: &str) -> Self {
        Output { folder: folder.to_owned(), table: table.to_owned() }
    }

    /// Whether the table is imported.
    pub(crate) fn is_imported(&self) -> Result<bool> {
        let path = self.path("receipt");
        match fs::read_to_string(&path) {
            Ok(receipts) => Ok(receipts.contains('\n')),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// A file for the rows that are written under `fence`. Call it once the guard has admitted
    /// `fence`.
    ///
    /// What earlier holders left is removed first, and not at the end: the guard refuses them from
    /// now on, and one that had been admitted just before finds nothing to rename.
    pub(crate) fn begin(&self, fence: Fence) -> Result<Partial> {
        let folder = self.path("rows");
        self.remove_older(&folder, fence)
            .with_context(|| format!("clearing {}", folder.display()))?;
        let path = folder.join(fence.to_string());
        let file = File::create_new(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Partial { file, path, rows: 0 })
    }

    /// Makes complete rows the table's output.
    pub(crate) fn publish(&self, partial: Partial) -> Result<()> {
        let complete = self.path("tsv");
        partial.file.sync_all().context("syncing rows")?;
        fs::rename(&partial.path, &complete)
            .with_context(|| format!("renaming to {}", complete.display()))?;
        // Not empty if a holder that was replaced before it began has begun since. Its rows are
        // refused, and no fault of these.
        let _ = fs::remove_dir(self.path("rows"));
        Ok(())
    }

    /// Says that the table is imported.
    pub(crate) fn add_receipt(&self, receipt: Receipt) -> Result<()> {
        let Receipt { instance, fence, rows } = receipt;
        let line = format!("{}\t{instance}\t{fence}\t{rows}\n", self.table);
        let path = self.path("receipt");
        let add = || {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.write_all(line.as_bytes())?;
            file.sync_all()
        };
        add().with_context(|| format!("writing {}", path.display()))
    }

    /// Leaves a mark that the trap was sprung; false if there is one already.
    pub(crate) fn mark_trapped(&self) -> Result<bool> {
        match File::create_new(self.path("trapped")) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error).context("marking the trap"),
        }
    }

    /// Makes the folder for rows on their way, and removes from it those of lesser fences: never
    /// those of a greater one, if it is this holder that has been replaced.
    fn remove_older(&self, folder: &Path, fence: Fence) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let left_by = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if left_by.is_none_or(|left_by| Fence::from_u64(left_by) < fence) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.table))
    }
}

impl Partial {
    /// Adds rows, one line each.
    pub(crate) fn add(&mut self, rows: &[Row<'_>]) -> Result<()> {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        self.file
            .write_all(lines.as_bytes())
            .with_context(|| format!("writing {}", self.path.display()))?;
        self.rows += rows.len();
        Ok(())
    }

    /// How many rows were added.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
}
