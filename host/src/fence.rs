//! The numbers that grow with every grant, and what a guard takes.

use std::fmt;

use crate::invalid::{Argument, Invalid};
use crate::name::Name;
use crate::terms::LIMIT_MAX;

/// The greatest fence: the greatest integer that a double holds exactly, with all below it.
pub const FENCE_MAX: u64 = (1 << 53) - 1;

/// The number of a grant: greater than that of every earlier grant of its key.
///
/// It is the greater of the last one + 1 and the backend's clock in microseconds, so it also grows
/// over a flush, a failover and a move to another backend.
///
/// ```
/// use leases::Fence;
///
/// assert!(Fence::new(42)? < Fence::new(43)?);
/// assert!(Fence::new(u64::MAX).is_err());
/// # Ok::<(), leases::Invalid>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(u64);

/// The number of a permit's grant, with the slot in which it counts.
///
/// Several permits are valid at once, so their fences say nothing across slots; within one slot
/// grants follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotFence {
    /// The slot, from 0 to limit - 1.
    pub slot: u32,
    /// The fence of the grant.
    pub fence: Fence,
}

/// What a [`Guard`](crate::Guard) takes: a lease's [`Fence`] or a permit's [`SlotFence`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenceToken {
    /// Guards the whole target.
    Lease(Fence),
    /// Guards one slot of the target.
    Permit(SlotFence),
}

/// What a guard keeps the greatest fence of: a target, or one slot of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// What is written to.
    pub name: Name,
    /// The slot of a semaphore's permit; none for a lease.
    pub slot: Option<u32>,
}

/// Whether a write may go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a stale write must not be made"]
pub enum Verdict {
    /// This fence is the greatest seen, or equal to it: the same holder writes again.
    Admitted,
    /// A greater fence was admitted before; carries it.
    Stale(Fence),
}

impl Fence {
    /// Checks a fence: 1 to 2^53 - 1.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(fence: u64) -> Result<Self, Invalid> {
        if !(1..=FENCE_MAX).contains(&fence) {
            return Err(Invalid::new(Argument::Fence, format!("1 to {FENCE_MAX}, not {fence}")));
        }
        Ok(Fence(fence))
    }

    /// The fence that follows `last` at `now_us`.
    pub(crate) fn next(last: u64, now_us: u64) -> Self {
        Fence((last + 1).max(now_us))
    }

    /// The number, to write down beside what it guards.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl SlotFence {
    /// A permit's fence that was written down earlier.
    ///
    /// # Errors
    /// [`Invalid`] for a slot that no semaphore has.
    pub fn new(slot: u32, fence: Fence) -> Result<Self, Invalid> {
        Ok(SlotFence { slot: check_slot(slot)?, fence })
    }
}

/// A slot is 0 to 999: below the greatest limit.
pub(crate) fn check_slot(slot: u32) -> Result<u32, Invalid> {
    if slot >= LIMIT_MAX {
        let bound = format!("0 to {}, not {slot}", LIMIT_MAX - 1);
        return Err(Invalid::new(Argument::Slot, bound));
    }
    Ok(slot)
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Fence> for FenceToken {
    fn from(fence: Fence) -> Self {
        FenceToken::Lease(fence)
    }
}

impl From<SlotFence> for FenceToken {
    fn from(fence: SlotFence) -> Self {
        FenceToken::Permit(fence)
    }
}
