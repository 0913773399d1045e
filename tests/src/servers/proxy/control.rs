//! What the proxy is told to do, and what that means for bytes that arrive.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// What happens to bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Pass,
    BlackHole,
    Delay(Duration),
    Refuse,
    Hold,
}

/// What happens once, to the next request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cut {
    AfterRequest,
    BeforeRequest,
}

/// All that a test can change.
#[derive(Debug, Default)]
pub(super) struct Control {
    pub(super) mode: Mode,
    pub(super) next_cut: Option<Cut>,
    /// How often all connections were cut: those that are older than the last cut are closed.
    pub(super) cuts: u64,
    /// How often all open connections fell silent: those that are older than the last time hold
    /// back what their clients send.
    pub(super) silences: u64,
    /// How often what was held was let go.
    pub(super) releases: u64,
}

impl Control {
    pub(super) fn let_go(&mut self) {
        self.mode = Mode::Pass;
        self.releases += 1;
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Forward,
    /// Forward it, and close the connection at the reply.
    ForwardAsLast,
    Swallow,
    Hold,
    Close,
}

/// What the proxy and its connections share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    control: watch::Sender<Control>,
    accepted: AtomicU64,
    held: AtomicUsize,
}

impl Shared {
    pub(super) fn change(&self, change: impl FnOnce(&mut Control)) {
        self.control.send_modify(change);
    }

    pub(super) fn watch(&self) -> watch::Receiver<Control> {
        self.control.subscribe()
    }

    pub(super) fn mode(&self) -> Mode {
        self.control.borrow().mode
    }

    pub(super) fn cuts(&self) -> u64 {
        self.control.borrow().cuts
    }

    pub(super) fn silences(&self) -> u64 {
        self.control.borrow().silences
    }

    pub(super) fn releases(&self) -> u64 {
        self.control.borrow().releases
    }

    /// What to do with a request on a healthy connection that holds nothing; a cut of the next
    /// request is used up by it.
    pub(super) fn fate_of_request(&self) -> Fate {
        let mut fate = Fate::Forward;
        self.control.send_if_modified(|control| {
            fate = match control.mode {
                Mode::BlackHole => Fate::Swallow,
                Mode::Hold => Fate::Hold,
                Mode::Pass | Mode::Delay(_) | Mode::Refuse => match control.next_cut.take() {
                    None => Fate::Forward,
                    Some(Cut::AfterRequest) => Fate::ForwardAsLast,
                    Some(Cut::BeforeRequest) => Fate::Close,
                },
            };
            // Nobody waits for a cut to be used up.
            false
        });
        fate
    }

    pub(super) fn count_accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// How many bytes its connections hold back.
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub(super) fn more_held(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn less_held(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}
