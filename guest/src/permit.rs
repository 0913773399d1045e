//! A held place of a semaphore.

use std::time::Duration;

use crate::bindings::leases::plugin::semaphore as wit;
use crate::error::{Error, Loss};
use crate::fence::{Fence, SlotFence};
use crate::request::nanoseconds;

/// A held place of a semaphore; dropping it gives the place back.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back at once"]
pub struct Permit(wit::Permit);

impl Permit {
    pub(crate) fn new(handle: wit::Permit) -> Self {
        Permit(handle)
    }

    /// The name, as it was asked for.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// The owner, if one was given.
    pub fn owner(&self) -> Option<String> {
        self.0.owner()
    }

    /// Which place this is, from 0 to limit - 1.
    pub fn slot(&self) -> u32 {
        self.0.slot()
    }

    /// The number of this grant, with its slot: a semaphore's resource is guarded per slot.
    pub fn fence(&self) -> SlotFence {
        SlotFence { slot: self.0.slot(), fence: Fence::from_u64(self.0.fence()) }
    }

    /// How long the hold surely still lasts; zero once it is lost. No I/O.
    pub fn remaining(&self) -> Duration {
        Duration::from_nanos(self.0.remaining())
    }

    /// Whether the hold is gone. No I/O.
    pub fn is_lost(&self) -> bool {
        self.lost().is_some()
    }

    /// Why the hold is gone; `None` while it is held. No I/O.
    pub fn lost(&self) -> Option<Loss> {
        self.0.lost().map(Loss::from)
    }

    /// Sets the end to now + the ttl of the acquire; answers what remains.
    ///
    /// # Errors
    /// [`Error::Lost`] when the hold has ended, even if nobody took the name since. After
    /// [`Error::Unavailable`] the hold stays what it was and this may be tried again.
    pub fn refresh(&mut self) -> Result<Duration, Error> {
        Ok(Duration::from_nanos(self.0.refresh(None)?))
    }

    /// Sets the end to now + `ttl`; answers what remains.
    ///
    /// # Errors
    /// As for [`refresh`](Permit::refresh).
    pub fn refresh_for(&mut self, ttl: Duration) -> Result<Duration, Error> {
        Ok(Duration::from_nanos(self.0.refresh(Some(nanoseconds(ttl)))?))
    }

    /// Gives the place back and says whether it was still held.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the backend did not confirm; the host goes on giving it back.
    pub fn release(self) -> Result<bool, Error> {
        Ok(wit::Permit::release(self.0)?)
    }
}
