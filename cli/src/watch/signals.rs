//! Being told to end from outside.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that would end the process before it has left the screen.
#[cfg(unix)]
pub(super) struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Signals {
    /// From now on they do not end the process.
    pub(super) fn taken() -> io::Result<Self> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The status to end with once one has come: what a shell says of who is ended by it.
    pub(super) async fn status(&mut self) -> u8 {
        tokio::select! {
            _ = self.hangup.recv() => 128 + 1,
            _ = self.interrupt.recv() => 128 + 2,
            _ = self.terminate.recv() => 128 + 15,
        }
    }
}

/// There are none.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn taken() -> io::Result<Self> {
        Ok(Signals)
    }

    pub(super) async fn status(&mut self) -> u8 {
        std::future::pending().await
    }
}
