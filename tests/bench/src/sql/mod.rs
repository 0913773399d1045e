//! The backends over SQL, on servers of this run's own.

mod others;
mod pairs;
mod places;
mod postgres;

use anyhow::Result;
use tokio::runtime::Builder;

use crate::report::Report;

pub(crate) fn run() -> Result<Report> {
    // The client's part on one core leaves the server the other of a small machine.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let title = "over the loopback, each commit on the disk; the ratios of rounds: median (least \
        to greatest)";
    let mut report = Report::new("sql", title);
    postgres::add(&mut report, &runtime)?;
    others::add_mariadb(&mut report, &runtime)?;
    others::add_sqlite(&mut report, &runtime)?;
    report.note("SQLite's commits are on the disk when the system puts them there.");
    Ok(report)
}
