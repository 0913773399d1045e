//! A held lease.

use std::time::Duration;

use super::held::Held;
use super::request::sealed::FromHeld;
use crate::error::{Error, Loss};
use crate::fence::Fence;
#[cfg(feature = "component")]
use crate::name::Key;
use crate::name::Kind;

/// A held lease; dropping it gives the lease back.
///
/// A holder that was stopped for longer than its ttl may still be running when somebody else holds
/// the name: guard what it writes with its [`fence`](Lease::fence) and a
/// [`Guard`](crate::Guard).
#[derive(Debug)]
#[must_use = "a lease that is dropped is given back at once"]
pub struct Lease(Held);

impl FromHeld for Lease {
    const KIND: Kind = Kind::Lease;

    fn from_held(held: Held) -> Self {
        Lease(held)
    }

    fn held_mut(&mut self) -> &mut Held {
        &mut self.0
    }
}

impl Lease {
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

    /// The number of this grant: greater than that of every earlier grant of the name.
    pub fn fence(&self) -> Fence {
        self.0.fence()
    }

    /// How long the hold surely still lasts; zero once it is lost. No I/O: measured from before
    /// the grant or refresh was asked for, less a tenth of the ttl, at most a second.
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
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// use leases::{Leases, Loss};
    ///
    /// let leases = Leases::memory();
    /// let lease = leases.lease("import:42")?.keep_alive().acquire().await?;
    /// let lost = lease.lost();
    /// tokio::select! {
    ///     loss = lost => println!("stop: {loss}"),
    ///     () = work() => {}
    /// }
    /// # assert!(!lease.is_lost()); Ok(()) }
    /// # async fn work() {}
    /// ```
    ///
    /// # Cancellation
    /// Nothing happens.
    pub fn lost(&self) -> impl Future<Output = Loss> + Send + use<> {
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

    /// Has the hold refreshed in the background from now on, as
    /// [`Request::keep_alive`](crate::Request::keep_alive) does. For one that was attached.
    pub fn keep_alive(self) -> Self {
        Lease(self.0.keep_alive())
    }

    /// Ends this handle without giving the lease back; answers a text with which
    /// [`Leases::attach`](crate::Leases::attach) carries the hold on, within its ttl, in this
    /// process or another one on the same backend.
    ///
    /// # Errors
    /// [`Lost`](crate::ErrorKind::Lost) when the hold is gone.
    ///
    /// # Cancellation
    /// The lease is given back.
    pub async fn detach(self) -> Result<String, Error> {
        self.0.detach().await
    }
}
