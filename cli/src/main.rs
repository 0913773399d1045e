//! The command `leases`.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod args;
mod failure;
mod run;

use std::process::ExitCode;

use args::Command;
use failure::Failure;

#[tokio::main]
async fn main() -> ExitCode {
    log_to_stderr();
    let command = match args::parse() {
        Ok(command) => command,
        Err(status) => return status,
    };
    let done = match command {
        Command::Run(args) => run::run(args).await,
    };
    done.unwrap_or_else(|failure: Failure| failure.report())
}

/// What the library logs goes to standard error; `LEASES_LOG` says how much (`warn` by default).
fn log_to_stderr() {
    use tracing_subscriber::EnvFilter;

    let filter = EnvFilter::try_from_env("LEASES_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
