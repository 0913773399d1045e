//! A held lease.

use std::time::Duration;

use super::held::Held;
use super::request::sealed::FromHeld;
use crate::error::{Error, Loss};
use crate::fence::Fence;
#[cfg(feature = "component")]
use crate::name::Key;

/// A held lease; dropping it gives the lease back.
///
/// A holder that was stopped for longer than its ttl may still be running when somebody else holds
/// the name: guard what it writes with its [`fence`](Lease::fence) and a
/// [`Guard`](crate::Guard).
#[derive(Debug)]
#[must_use = "a lease that is dropped is given back at once"]
pub struct Lease(Held);

impl FromHeld for Lease {
    fn from_held(held: Held) -> Self {
        Lease(held)
    }
}

impl Lease {
    #[cfg(feature = "component")]
    pub(crate) fn key(&self) -> &Key {
        self.0.key()
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.0.key().name.as_str()
    }

    /// The owner, if one was given.
    pub fn owner(&self) -> Option<&str> {
        self.0.owner()
    }

    /// The number of this grant: greater than that of every earlier grant of the name.
    pub fn fence(&self) -> Fence {
        self.0.fence()
    }

    /// How long the hold surely still lasts; zero once it is lost. No I/O: measured from before
    /// the grant or refresh was asked for, less a tenth of the ttl, at most a second.
    pub fn remaining(&self) -> Duration {
        self.0.remaining()
    }

    /// Why the hold is gone; `None` while it is held. No I/O.
    pub fn lost(&self) -> Option<Loss> {
        self.0.lost()
    }

    /// Sets the end to now + the ttl of the acquire, never beyond max-hold; answers what remains.
    ///
    /// # Errors
    /// - [`Lost`](crate::ErrorKind::Lost) when the hold has ended, even if nobody took the name
    ///   since: a refresh never takes a lease again.
    /// - [`Unavailable`](crate::ErrorKind::Unavailable): the hold stays what it was, until its
    ///   deadline, and the refresh may be tried again.
    ///
    /// # Cancellation
    /// The end may have been moved or not; [`remaining`](Lease::remaining) counts on the nearer.
    pub async fn refresh(&mut self) -> Result<Duration, Error> {
        self.0.refresh(None).await
    }

    /// Sets the end to now + `ttl`, as [`refresh`](Lease::refresh) does.
    ///
    /// # Errors
    /// As for [`refresh`](Lease::refresh), and [`Invalid`](crate::ErrorKind::Invalid) for a ttl
    /// out of bounds.
    ///
    /// # Cancellation
    /// As for [`refresh`](Lease::refresh).
    pub async fn refresh_for(&mut self, ttl: Duration) -> Result<Duration, Error> {
        self.0.refresh(Some(ttl)).await
    }

    /// Gives the lease back and says whether it was still held. A second time it answers false.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable): it may be tried again. Dropped, it is given
    /// back in the background; at the latest its ttl ends it.
    ///
    /// # Cancellation
    /// As after an error.
    pub async fn release(&mut self) -> Result<bool, Error> {
        self.0.release().await
    }
}
