//! The guard that refuses stale writers.

use crate::bindings::leases::plugin::fence as wit;
use crate::error::Error;
use crate::fence::{Fence, FenceToken};

/// Remembers the greatest fence admitted for a target and refuses those below it.
#[derive(Debug, Clone)]
pub struct Guard {
    target: String,
}

/// Whether a write may go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a stale write must not be made"]
pub enum Verdict {
    /// This fence is the greatest seen, or equal to it.
    Admitted,
    /// A greater fence was admitted before; carries it.
    Stale(Fence),
}

/// The guard of `target`, whatever is written to.
pub fn guard(target: impl Into<String>) -> Guard {
    Guard { target: target.into() }
}

impl Guard {
    /// Asks whether a write under a lease's [`Fence`] or a permit's
    /// [`SlotFence`](crate::SlotFence) may go ahead.
    ///
    /// # Errors
    /// [`Error::Denied`] unless the host lets this plugin use the target's name.
    pub fn admit(&self, token: impl Into<FenceToken>) -> Result<Verdict, Error> {
        let verdict = match token.into() {
            FenceToken::Lease(fence) => wit::admit(&self.target, fence.as_u64()),
            FenceToken::Permit(at) => wit::admit_slot(&self.target, at.slot, at.fence.as_u64()),
        };
        Ok(match verdict? {
            wit::Verdict::Admitted => Verdict::Admitted,
            wit::Verdict::Stale(greater) => Verdict::Stale(Fence::from_u64(greater)),
        })
    }

    /// The greatest lease fence admitted for the target, if one was.
    ///
    /// # Errors
    /// As for [`admit`](Guard::admit).
    pub fn current(&self) -> Result<Option<Fence>, Error> {
        Ok(wit::current(&self.target)?.map(Fence::from_u64))
    }

    /// The greatest fence admitted for one slot of the target, if one was.
    ///
    /// # Errors
    /// As for [`admit`](Guard::admit).
    pub fn current_slot(&self, slot: u32) -> Result<Option<Fence>, Error> {
        Ok(wit::current_slot(&self.target, slot)?.map(Fence::from_u64))
    }
}
