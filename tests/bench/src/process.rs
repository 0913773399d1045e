//! What the kernel says of this process.

use std::fs;
use std::time::Duration;

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

/// Of the kernel's accounts of time, whatever its own clock's.
const TICKS_PER_SECOND: u64 = 100;

/// Processor time that this process has used, its own and the kernel's for it: exact to 20 ms.
pub(crate) fn cpu_time() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("reading stat")?;
    // The program's name comes before and may have blanks in it.
    let (_, fields) = stat.rsplit_once(')').context("no end of the name")?;
    let mut times = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let mut next = || times.next().context("no time")?.context("a time");
    let ticks = next()? + next()?;
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

fn field(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.split_whitespace().next());
    kib.with_context(|| format!("no {name}"))?.parse().context(name.to_owned())
}
