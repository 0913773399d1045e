//! The numbers that grow with every grant.

use std::fmt;

/// The number of a lease's grant: greater than that of every earlier grant of its name.
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
pub enum FenceToken {
    /// Guards the whole target.
    Lease(Fence),
    /// Guards one slot of the target.
    Permit(SlotFence),
}

impl Fence {
    /// A fence that was written down earlier. The host checks it when it is used.
    pub fn from_u64(fence: u64) -> Self {
        Fence(fence)
    }

    /// The number, to write down beside what it guards.
    pub fn as_u64(self) -> u64 {
        self.0
    }
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
