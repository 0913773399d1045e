//! The command `leases`.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod args;
mod backend;
mod completions;
mod environment;
#[cfg(unix)]
mod exec;
mod failure;
mod log;
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
    let Cli { backend, log, command } = match args::parse() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    log::to_stderr(log);
    let done = runtime(&command).and_then(|runtime| {
        let done = match command {
            Command::Run(args) => runtime.block_on(run::run(*args, backend.as_ref())),
            #[cfg(unix)]
            Command::Exec(args) => runtime.block_on(exec::exec(*args, backend.as_ref())),
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

/// For guests, one that looks at its timers after every turn of a guest: turns of guests that
/// compute are long, and holds are refreshed by timers. Else this thread alone.
fn runtime(command: &Command) -> Result<Runtime, Failure> {
    let mut builder = match command {
        Command::Run(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    builder.enable_all().event_interval(1);
    builder.build().map_err(|error| Failure::usage(format!("no runtime: {error}")))
}
