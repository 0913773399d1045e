//! What the kernel says of this process's memory.

use std::fs;

use anyhow::{Context, Result};

/// Memory of this process, in KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Resident, a page that is shared counted in full.
    pub(crate) resident: u64,
    /// Resident, a page that is mapped n times counted as an nth.
    pub(crate) proportional: u64,
    /// The kernel's tables of its pages.
    pub(crate) page_tables: u64,
}

impl Memory {
    pub(crate) fn now() -> Result<Self> {
        let rollup = fs::read_to_string("/proc/self/smaps_rollup").context("reading smaps")?;
        let status = fs::read_to_string("/proc/self/status").context("reading status")?;
        Ok(Memory {
            resident: field(&rollup, "Rss:")?,
            proportional: field(&rollup, "Pss:")?,
            page_tables: field(&status, "VmPTE:")?,
        })
    }
}

fn field(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.split_whitespace().next());
    kib.with_context(|| format!("no {name}"))?.parse().context(name.to_owned())
}
