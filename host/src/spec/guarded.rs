//! The guard: the greatest fence that was admitted.

use crate::clock::Timestamp;
use crate::fence::{Fence, Verdict};

/// What a guard knows of one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardState {
    greatest: Fence,
    last_admit: Timestamp,
}

impl GuardState {
    /// The state after the first fence, which is always admitted.
    pub fn first(fence: Fence, now: Timestamp) -> Self {
        GuardState { greatest: fence, last_admit: now }
    }

    /// Admits a fence that is the greatest seen or equal to it.
    pub fn admit(&mut self, fence: Fence, now: Timestamp) -> Verdict {
        if fence < self.greatest {
            return Verdict::Stale(self.greatest);
        }
        *self = GuardState::first(fence, now);
        Verdict::Admitted
    }

    /// The greatest fence admitted.
    pub fn current(&self) -> Fence {
        self.greatest
    }

    /// When it was last asked to admit and did.
    pub fn last_admit(&self) -> Timestamp {
        self.last_admit
    }
}
