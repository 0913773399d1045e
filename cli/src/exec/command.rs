//! The command that is run.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use leases::{Loss, Name};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::hold::Held;
use super::signals::{Arrived, Signals};
use crate::failure::{Failure, NOT_FOUND};

/// How long a command may take to end that was told to.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// As shells say it.
const NOT_RUNNABLE: u8 = 126;

/// A command that was started and not waited for.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    id: Pid,
}

impl Running {
    /// Starts it, from the thread that this is called on: the command is killed when that ends.
    pub(super) fn start(command: &[OsString], name: &Name, held: &Held) -> Result<Self, Failure> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Failure::usage("no command"));
        };
        let failed = |error: io::Error| {
            let status = match error.kind() {
                io::ErrorKind::NotFound => NOT_FOUND,
                _ => NOT_RUNNABLE,
            };
            Failure::of(status, format_args!("{}: {error}", program.display()))
        };
        let mut command = Command::new(program);
        command.args(arguments).env("LEASES_NAME", name.as_str());
        command.env("LEASES_FENCE", held.fence().to_string());
        command.env("LEASES_SLOT", held.slot().to_string());
        #[cfg(target_os = "linux")]
        super::parent::ends_with_its_own(command.as_std_mut());
        let child = command.spawn().map_err(failed)?;
        let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let id = id.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        Ok(Running { child, id })
    }

    /// Waits for its end, while `lost` has not resolved. Then it is told to end, by `on_loss` what
    /// was lost, and killed if it does not. Answers how it ended.
    pub(super) async fn end(
        mut self,
        signals: &mut Signals,
        lost: impl Future<Output = Loss>,
        on_loss: impl FnOnce(Loss),
    ) -> Result<ExitStatus, Failure> {
        // What came before it was there is not known to have reached it.
        while let Some(Arrived { signal, .. }) = signals.arrived() {
            self.send(signal);
        }
        let mut lost = pin!(lost);
        let loss = loop {
            tokio::select! {
                ended = self.child.wait() => return ended.map_err(not_waited_for),
                arrived = signals.next() => self.pass_on(&arrived),
                loss = &mut lost => break loss,
            }
        };
        on_loss(loss);
        self.send(Signal::TERM);
        let mut time_is_up = pin!(sleep(ENDS_WITHIN));
        let mut killed = false;
        loop {
            tokio::select! {
                ended = self.child.wait() => return ended.map_err(not_waited_for),
                arrived = signals.next() => self.pass_on(&arrived),
                () = &mut time_is_up, if !killed => {
                    self.send(Signal::KILL);
                    killed = true;
                }
            }
        }
    }

    fn pass_on(&self, arrived: &Arrived) {
        if arrived.is_news_to(self.id) {
            self.send(arrived.signal);
        }
    }

    /// It was not waited for yet, so its id is nobody else's. One that may not be sent anything has
    /// taken another user's rights, and ends by itself.
    fn send(&self, signal: Signal) {
        let _ = kill_process(self.id, signal);
    }
}

/// The status to end with, as shells say it.
pub(super) fn status(ended: ExitStatus) -> u8 {
    let code = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn not_waited_for(error: io::Error) -> Failure {
    Failure::of(NOT_RUNNABLE, format_args!("not waited for: {error}"))
}
