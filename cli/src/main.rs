//! The command `leases`.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod args;
mod backend;
mod completions;
mod environment;
mod failure;
mod looking;
mod manual;
mod migrate;
mod run;
mod typed;
mod watch;

use std::process::ExitCode;

use args::{Cli, Command};
use failure::Failure;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    log_to_stderr();
    let Cli { backend, command } = match args::parse() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    let done = runtime().and_then(|runtime| {
        let done = match command {
            Command::Run(args) => runtime.block_on(run::run(*args, backend.as_ref())),
            Command::List(args) => runtime.block_on(looking::list(args, backend.as_ref())),
            Command::Show(args) => runtime.block_on(looking::show(args, backend.as_ref())),
            Command::Revoke(args) => runtime.block_on(looking::revoke(args, backend.as_ref())),
            Command::Watch(args) => runtime.block_on(watch::watch(args, backend.as_ref())),
            Command::Migrate(args) => runtime.block_on(migrate::migrate(args, backend.as_ref())),
            Command::Completions(args) => completions::completions(&args),
            Command::Man(args) => manual::man(&args),
        };
        // A stopped guest may have left a thread behind that waits for a file of its folders.
        runtime.shutdown_background();
        done
    });
    done.unwrap_or_else(|failure: Failure| failure.report())
}

/// A runtime that looks at its timers after every turn of a guest: turns of guests that compute are
/// long, and holds are refreshed by timers.
fn runtime() -> Result<Runtime, Failure> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().event_interval(1);
    builder.build().map_err(|error| Failure::usage(format!("no runtime: {error}")))
}

/// What the library logs goes to standard error; the environment says how much, else `warn`.
fn log_to_stderr() {
    use tracing_subscriber::EnvFilter;

    let filter =
        EnvFilter::try_from_env(environment::LOG.name).unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(watch::log_writer).init();
}
