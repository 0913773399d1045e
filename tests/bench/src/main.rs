//! Side-by-side measurements: `cargo xtask bench [NAME]`.
//!
//! What is compared is measured in alternating short rounds of one run, so that a busy moment of
//! the machine meets both: the ratios are medians of the ratios of single rounds.

mod allocator;
mod bindings;
mod child;
mod counting;
mod guest;
mod handover;
mod keep;
mod line;
mod machine;
#[cfg(feature = "metrics")]
mod measured;
mod native;
mod policy;
mod process;
mod program;
mod reclaim;
mod redis;
mod report;
mod samples;
mod sql;
mod tinystore;
mod waiting;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use keep::Kept;
use report::Report;
use waiting::Allocation;

/// Measures leases beside what they are compared with, and prints a table of each measurement.
#[derive(Debug, Parser)]
struct Args {
    /// Only this one.
    bench: Option<Bench>,
    /// Takes one figure in this process: how the measurements of a whole process call themselves.
    #[arg(long, hide = true)]
    child: Option<Child>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// Acquire and release on memory, uncontended, beside tinystore's locks.
    Native,
    /// From a release to the next waiter holding, beside tokio's semaphore.
    Handover,
    /// Calls from a guest, beside a host call that does nothing.
    Guest,
    /// What a plugin's policy adds to an acquire and its release.
    Policy,
    /// Guest instances that wait: memory of one, and how fast a line of them is empty.
    Waiting,
    /// Memory of idle names, and after they were reclaimed.
    Reclaim,
    /// What it takes to keep holds alive for a minute.
    Keep,
    /// What being measured adds to an acquire and its release.
    #[cfg(feature = "metrics")]
    Measured,
    /// The backend over Redis, beside the bare client library and another crate's locks.
    Redis,
    /// The backends over SQL, beside the bare driver.
    Sql,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Child {
    WaitingOnDemand,
    WaitingSnug,
    WaitingPooled,
    Reclaim,
    KeepTogether,
    KeepSpread,
    KeepAlone,
    Waiters,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.child {
        Some(child) => take_figure(child),
        None => measure(args.bench),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("leases-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(only: Option<Bench>) -> Result<()> {
    let chosen = |bench: &&Bench| only.is_none_or(|only| only == **bench);
    for bench in Bench::value_variants().iter().filter(chosen) {
        let report = run(*bench)?;
        println!("{report}");
        report.save()?;
    }
    Ok(())
}

fn run(bench: Bench) -> Result<Report> {
    match bench {
        Bench::Native => native::run(),
        Bench::Handover => handover::run(),
        Bench::Guest => guest::run(),
        Bench::Policy => policy::run(),
        #[cfg(feature = "metrics")]
        Bench::Measured => measured::run(),
        Bench::Waiting => waiting::run(),
        Bench::Reclaim => reclaim::run(),
        Bench::Keep => keep::run(),
        Bench::Redis => redis::run(),
        Bench::Sql => sql::run(),
    }
}

fn take_figure(child: Child) -> Result<()> {
    let figures = match child {
        Child::WaitingOnDemand => waiting::take(Allocation::OnDemand)?,
        Child::WaitingSnug => waiting::take(Allocation::Snug)?,
        Child::WaitingPooled => waiting::take(Allocation::Pooled)?,
        Child::Reclaim => reclaim::take()?,
        Child::KeepTogether => keep::take(Kept::Together)?,
        Child::KeepSpread => keep::take(Kept::Spread)?,
        Child::KeepAlone => keep::take(Kept::Alone)?,
        Child::Waiters => line::wait()?,
    };
    println!("{figures}");
    Ok(())
}
