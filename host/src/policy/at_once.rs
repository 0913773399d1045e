//! How much a plugin has at once: two counts that change together.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Quota;

/// How much a plugin has at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Holds, and asks under way, each as the hold that it may become.
    pub held: u32,
    /// Those of the asks that may wait.
    pub waiting: u32,
}

/// The counts, held in the lower half and waiting in the upper.
#[derive(Debug, Default)]
pub(super) struct AtOnce(AtomicU64);

/// Whether an ask counts as waiting too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// It makes one attempt, or is a hold.
    No,
    /// It may wait.
    Yes,
}

const ONE_HELD: u64 = 1;
const ONE_WAITING: u64 = 1 << 32;

impl Waits {
    fn one(self) -> u64 {
        match self {
            Waits::No => ONE_HELD,
            Waits::Yes => ONE_HELD + ONE_WAITING,
        }
    }
}

impl Counts {
    fn of(packed: u64) -> Self {
        Counts { held: packed as u32, waiting: (packed >> 32) as u32 }
    }
}

impl AtOnce {
    pub(super) fn counts(&self) -> Counts {
        Counts::of(self.0.load(Ordering::Acquire))
    }

    /// Counts one more, where that is no more than so many.
    pub(super) fn take(&self, held_max: u32, waiting_max: u32, waits: Waits) -> Result<(), Quota> {
        let mut packed = self.0.load(Ordering::Acquire);
        loop {
            let Counts { held, waiting } = Counts::of(packed);
            if held >= held_max {
                return Err(Quota::Held);
            }
            if waits == Waits::Yes && waiting >= waiting_max {
                return Err(Quota::Waiting);
            }
            let one_more = packed + waits.one();
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match self.0.compare_exchange_weak(packed, one_more, order.0, order.1) {
                Ok(_) => return Ok(()),
                Err(changed) => packed = changed,
            }
        }
    }

    /// One waits no more; it may hold.
    pub(super) fn granted(&self) {
        self.0.fetch_sub(ONE_WAITING, Ordering::AcqRel);
    }

    /// One is gone.
    pub(super) fn give_back(&self, waits: Waits) {
        self.0.fetch_sub(waits.one(), Ordering::AcqRel);
    }
}
