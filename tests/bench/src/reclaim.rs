//! Memory of idle names, and after they were reclaimed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use leases::{Leases, ManualClock, MemoryBackend, MemoryConfig};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::child::Answers;
use crate::process::Memory;
use crate::report::{Figure, Goal, Report, Unit};
use crate::{Child, allocator};

const PROCESSES: usize = 5;
const NAMES: u32 = 100_000;
/// Names that are in use before, meanwhile and after.
const BUSY: u32 = 100;
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);
const CALLS_MAX: u32 = 1_000_000;

pub(crate) fn run() -> Result<Report> {
    let mut answers = Answers::default();
    for _ in 0..PROCESSES {
        answers.ask(Child::Reclaim)?;
    }
    let title = format!("{NAMES} idle names beside {BUSY} that are used; {PROCESSES} processes");
    let mut report = Report::new("reclaim", title);
    let mut add = |what: &str, unit, name: &str, goal: Option<Goal>| -> Result<()> {
        let figure = Figure::of(what, unit, &answers.figures(name)?);
        report.add(match goal {
            Some(goal) => figure.goal(goal),
            None => figure,
        });
        Ok(())
    };
    add("remembered, idle", Unit::Names, "remembered_idle", None)?;
    add("allocated, over the start", Unit::KiB, "allocated_idle", None)?;
    add("resident, over the start", Unit::KiB, "resident_idle", None)?;
    add("calls until they are reclaimed", Unit::Calls, "calls", None)?;
    let busy = Goal::AtMost(f64::from(BUSY));
    add("remembered, reclaimed", Unit::Names, "remembered_reclaimed", Some(busy))?;
    add("resident, over the start, reclaimed", Unit::KiB, "resident_reclaimed", None)?;
    let (left, idle) =
        (answers.figures("allocated_reclaimed")?, answers.figures("allocated_idle")?);
    let figure = Figure::of("allocated, over the start, reclaimed", Unit::KiB, &left);
    report.add(figure.beside("idle", &left, &idle).goal(Goal::RatioAtMost(0.01)));
    report.note("Allocated is exact, by a counting allocator; resident is the kernel's figure.");
    Ok(report)
}

/// Measures in this process.
pub(crate) fn take() -> Result<Value> {
    allocator::count();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let time = ManualClock::new();
    let config = MemoryConfig { clock: time.clock(), retention: RETENTION };
    let backend = MemoryBackend::new(config);
    let leases = Leases::builder(Arc::new(backend.clone())).clock(time.clock()).build();

    runtime.block_on(use_all("busy", BUSY, &leases))?;
    let start = Seen::now(&backend)?;
    runtime.block_on(use_all("idle", NAMES, &leases))?;
    let idle = Seen::now(&backend)?;
    time.advance(RETENTION + Duration::from_secs(1));
    let mut calls = 0;
    while backend.remembered() > BUSY as usize {
        ensure!(calls < CALLS_MAX, "{} are left", backend.remembered());
        runtime.block_on(use_all("busy", BUSY, &leases))?;
        calls += BUSY;
    }
    let reclaimed = Seen::now(&backend)?;
    Ok(json!({
        "remembered_idle": idle.remembered,
        "remembered_reclaimed": reclaimed.remembered,
        "allocated_idle": kib(idle.allocated - start.allocated),
        "allocated_reclaimed": kib(reclaimed.allocated - start.allocated),
        "resident_idle": idle.resident - start.resident,
        "resident_reclaimed": reclaimed.resident - start.resident,
        "calls": calls,
    }))
}

struct Seen {
    remembered: usize,
    allocated: i64,
    resident: i64,
}

impl Seen {
    fn now(backend: &MemoryBackend) -> Result<Self> {
        let resident = i64::try_from(Memory::now()?.resident)?;
        Ok(Seen {
            remembered: backend.remembered(),
            allocated: allocator::bytes_in_use(),
            resident,
        })
    }
}

/// Acquires and releases each of so many names.
async fn use_all(prefix: &str, names: u32, leases: &Leases) -> Result<()> {
    for number in 0..names {
        leases.lease(format!("{prefix}:{number}"))?.acquire().await?.release().await?;
    }
    Ok(())
}

fn kib(bytes: i64) -> f64 {
    bytes as f64 / 1024.0
}
