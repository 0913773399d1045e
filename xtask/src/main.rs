//! `cargo xtask`: what newcomers and the automatic checks run.

mod command;
mod demo;
mod guests;
mod servers;
mod test;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Runs the demo, the tests and the measurements, with all the set-up that they need.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Runs plugin instances that share real work, and verifies that nothing is done twice.
    Demo(demo::Options),
    /// Runs everything that must hold: format, lints, tests, docs.
    #[command(visible_alias = "ci")]
    Test,
    /// Measures, and prints one table.
    Bench {
        /// Only the measurement of this name.
        name: Option<String>,
    },
}

fn main() -> ExitCode {
    let held = match Task::parse() {
        Task::Demo(options) => demo::run(&options),
        Task::Test => test::run(),
        Task::Bench { name } => bench(name.as_deref()),
    };
    match held {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn bench(name: Option<&str>) -> Result<bool> {
    guests::add_target()?;
    if name.is_none_or(|name| name == "redis" || name == "sql") {
        servers::install()?;
    }
    let mut bench = command::cargo(["run", "--release", "--package", "leases-bench", "--"]);
    command::run(bench.args(name))?;
    Ok(true)
}
