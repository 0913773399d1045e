//! Ending all that a handle has.

use std::fmt;
use std::time::Duration;

use super::leases::Leases;
use crate::error::Loss;
use crate::name::Key;

/// What could not be given back in time. Its ttl ends each of these holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotGivenBack {
    keys: Vec<Key>,
}

impl NotGivenBack {
    /// The keys, in order.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }
}

impl fmt::Display for NotGivenBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not given back in time, and left to their ttl: ")?;
        for (at, key) in self.keys.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{key}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NotGivenBack {}

impl Leases {
    /// Gives back everything that this handle and its clones hold and wait for, within a time.
    /// Their holders see it *released*; what waits, and what is asked later, is *unavailable*.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// use std::time::Duration;
    /// use leases::{Leases, Loss};
    ///
    /// let leases = Leases::memory();
    /// let held = leases.lease("import:42")?.acquire().await?;
    /// leases.close(Duration::from_secs(5)).await.expect("all was given back");
    /// assert_eq!(held.loss(), Some(Loss::Released));
    /// assert!(leases.lease("import:42")?.acquire().await.is_err());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`NotGivenBack`] with what the backend did not confirm in time.
    ///
    /// # Cancellation
    /// It is closed all the same, and goes on giving back.
    pub async fn close(&self, within: Duration) -> Result<(), NotGivenBack> {
        let shared = self.shared();
        let until = shared.clock.now().after(within);
        shared.live.close();
        for (holder, entry) in shared.live.all() {
            shared.end(holder, &entry, Loss::Released);
        }
        tokio::select! {
            biased;
            () = shared.live.emptied() => return Ok(()),
            () = shared.clock.sleep_until(until) => {}
        }
        let mut keys: Vec<Key> =
            shared.live.all().iter().map(|(_, entry)| entry.key().clone()).collect();
        keys.sort_unstable();
        if keys.is_empty() { Ok(()) } else { Err(NotGivenBack { keys }) }
    }
}
