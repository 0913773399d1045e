//! The signals that a command is passed.

use std::io;

use futures_util::{FutureExt as _, StreamExt as _};
use rustix::process::{Pid, Signal, getpid, getsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook_tokio::SignalsInfo;

/// Those that people and programs send, and that would end this process.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// The signals that come in.
pub(super) struct Signals(SignalsInfo<WithOrigin>);

/// One that came, and who sent it.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) signal: Signal,
    sender: Sender,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// The kernel: of these signals, what the terminal sends.
    Terminal,
    Process(i32),
}

impl Signals {
    /// Listens, so that none of them ends this process any more. One that is ignored stays so, here
    /// and in the command: `nohup` and a shell's `&` mean the command.
    pub(super) fn listen() -> io::Result<Self> {
        let ignored = ignored();
        let is_ignored = |signal: i32| ignored >> (signal - 1) & 1 == 1;
        let listened = PASSED_ON.into_iter().filter(|signal| !is_ignored(*signal));
        SignalsInfo::new(listened).map(Signals)
    }

    /// Returns when one comes.
    pub(super) async fn next(&mut self) -> Arrived {
        loop {
            match self.0.next().await.map(Arrived::of) {
                Some(Some(arrived)) => return arrived,
                Some(None) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// One that has come, if one has.
    pub(super) fn arrived(&mut self) -> Option<Arrived> {
        self.next().now_or_never()
    }
}

impl Arrived {
    fn of(origin: Origin) -> Option<Self> {
        let signal = Signal::from_named_raw(origin.signal)?;
        let process = origin.process.map(|process| Sender::Process(process.pid));
        Some(Arrived { signal, sender: process.unwrap_or(Sender::Terminal) })
    }

    /// Whether the command is to be told. The terminal sends INT and QUIT to all in the foreground,
    /// the command among them; a HUP to the session's leader alone.
    pub(super) fn is_news_to(&self, command: Pid) -> bool {
        match self.sender {
            Sender::Terminal if self.signal == Signal::HUP => getsid(None) == Ok(getpid()),
            Sender::Terminal => false,
            Sender::Process(sender) => sender != command.as_raw_nonzero().get(),
        }
    }
}

/// The set of the signals that this process ignores, one bit for each.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

/// Elsewhere it is not told.
#[cfg(not(target_os = "linux"))]
fn ignored() -> u64 {
    0
}
