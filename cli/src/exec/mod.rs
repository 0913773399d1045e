//! `leases exec`: a command that runs while a name is held.

pub(crate) mod args;
mod command;
mod hold;
#[cfg(target_os = "linux")]
mod parent;
mod signals;

use std::process::ExitCode;

use leases::{ErrorKind, Leases};

use crate::backend::{self, BackendUrl};
use crate::failure::{self, Failure, LOST};
use args::ExecArgs;
use command::Running;
use hold::Held;
use rustix::process::Signal;
use signals::Signals;

/// Runs the command and answers the status to end with.
pub(crate) async fn exec(args: ExecArgs, url: Option<&BackendUrl>) -> Result<ExitCode, Failure> {
    let signals = Signals::listen();
    let mut signals = signals.map_err(|error| Failure::usage(format!("no signals: {error}")))?;
    let leases = tokio::select! {
        biased;
        arrived = signals.next() => return Ok(ended_by(arrived.signal)),
        leases = backend::connect_shared(url) => leases?,
    };
    let held = tokio::select! {
        biased;
        arrived = signals.next() => Err(arrived.signal),
        taken = Held::take(&leases, &args) => Ok(taken),
    };
    match held {
        Ok(Ok(held)) => run(&args, &leases, held, &mut signals).await,
        Ok(Err(failure)) => {
            leave(&leases, &mut signals).await;
            Err(failure)
        }
        Err(signal) => {
            leave(&leases, &mut signals).await;
            Ok(ended_by(signal))
        }
    }
}

/// Leaves the line, and gives back what may have been granted all the same. A signal does not wait
/// for that.
async fn leave(leases: &Leases, signals: &mut Signals) {
    tokio::select! {
        () = hold::leave(leases) => {}
        _ = signals.next() => {}
    }
}

/// Runs it under what is held, and gives that back.
async fn run(
    args: &ExecArgs,
    leases: &Leases,
    held: Held,
    signals: &mut Signals,
) -> Result<ExitCode, Failure> {
    let mut was_told = false;
    let ended = match Running::start(&args.command, &args.name, &held) {
        Ok(running) => {
            let told = |loss| {
                was_told = true;
                failure::say(format_args!("{}: {}", hold::key(args), ErrorKind::Lost(loss)));
            };
            running.end(signals, held.lost(), told).await
        }
        Err(failure) => Err(failure),
    };
    let loss = held.give_back(leases).await;
    match (ended?, loss) {
        (ended, None) => Ok(command::status(ended).into()),
        (_, Some(_)) if was_told => Ok(LOST.into()),
        (_, Some(loss)) => {
            Err(Failure::of(LOST, format_args!("{}: {}", hold::key(args), ErrorKind::Lost(loss))))
        }
    }
}

/// The status of what a signal ended, as shells say it.
fn ended_by(signal: Signal) -> ExitCode {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX).into()
}
