//! A held place of a semaphore.

use std::time::Duration;

use super::held::Held;
use super::request::sealed::FromHeld;
use crate::error::{Error, Loss};
use crate::fence::SlotFence;
#[cfg(feature = "component")]
use crate::name::Key;
use crate::name::Kind;

/// One of a semaphore's places, held; dropping it gives the place back.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back at once"]
pub struct Permit(Held);

impl FromHeld for Permit {
    const KIND: Kind = Kind::Semaphore;

    fn from_held(held: Held) -> Self {
        Permit(held)
    }

    fn held_mut(&mut self) -> &mut Held {
        &mut self.0
    }
}

impl Permit {
    #[cfg(feature = "component")]
    pub(crate) fn key(&self) -> &Key {
        self.0.key()
    }

    /// The name, as it was asked for.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The owner as it was given, if one was.
    pub fn owner(&self) -> Option<&str> {
        self.0.owner()
    }

    /// Which place this is, from 0 to limit - 1. A place has one holder at a time.
    pub fn slot(&self) -> u32 {
        self.0.slot()
    }

    /// The number of this grant with its slot. Several permits are valid at once, so a
    /// [`Guard`](crate::Guard) takes it for its slot alone.
    pub fn fence(&self) -> SlotFence {
        SlotFence { slot: self.0.slot(), fence: self.0.fence() }
    }

    /// How long the hold surely still lasts, as for a [`Lease`](crate::Lease::remaining).
    pub fn remaining(&self) -> Duration {
        self.0.remaining()
    }

    /// Whether the hold is gone. No I/O.
    pub fn is_lost(&self) -> bool {
        self.0.loss().is_some()
    }

    /// Why the hold is gone; `None` while it is held. No I/O.
    pub fn loss(&self) -> Option<Loss> {
        self.0.loss()
    }

    /// Resolves when the hold is lost, with the reason: at the latest at its local deadline,
    /// whatever the backend does. It may outlive the handle, whose end it tells as *released*.
    ///
    /// # Cancellation
    /// Nothing happens.
    pub fn lost(&self) -> impl Future<Output = Loss> + Send + use<> {
        self.0.lost()
    }

    /// Sets the end to now + the ttl of the acquire, as for a [`Lease`](crate::Lease::refresh).
    ///
    /// # Errors
    /// As for a [`Lease`](crate::Lease::refresh).
    ///
    /// # Cancellation
    /// As for a [`Lease`](crate::Lease::refresh).
    pub async fn refresh(&mut self) -> Result<Duration, Error> {
        self.0.refresh(None).await
    }

    /// Sets the end to now + `ttl`.
    ///
    /// # Errors
    /// As for a [`Lease`](crate::Lease::refresh_for).
    ///
    /// # Cancellation
    /// As for [`refresh`](Permit::refresh).
    pub async fn refresh_for(&mut self, ttl: Duration) -> Result<Duration, Error> {
        self.0.refresh(Some(ttl)).await
    }

    /// Gives the place back and says whether it was still held, as for a
    /// [`Lease`](crate::Lease::release).
    ///
    /// # Errors
    /// As for a [`Lease`](crate::Lease::release).
    ///
    /// # Cancellation
    /// As for a [`Lease`](crate::Lease::release).
    pub async fn release(&mut self) -> Result<bool, Error> {
        self.0.release().await
    }

    /// Has the hold refreshed in the background from now on, as
    /// [`Request::keep_alive`](crate::Request::keep_alive) does. For one that was attached.
    pub fn keep_alive(self) -> Self {
        Permit(self.0.keep_alive())
    }

    /// Ends this handle without giving the place back; answers a text with which
    /// [`Leases::attach`](crate::Leases::attach) carries the hold on, within its ttl, in this
    /// process or another one on the same backend.
    ///
    /// # Errors
    /// [`Lost`](crate::ErrorKind::Lost) when the hold is gone.
    ///
    /// # Cancellation
    /// The place is given back.
    pub async fn detach(self) -> Result<String, Error> {
        self.0.detach().await
    }
}
