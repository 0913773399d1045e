//! What a backend tells of by itself: a waiter should ask again, a hold was revoked.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::holder::{HolderId, HolderMap};

/// Whom of one process a backend tells: those who wait, and whoever has holds. A backend keeps one.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use leases::{HolderId, Wakes};
///
/// let wakes = Wakes::default();
/// let holder = HolderId::random();
/// let watch = wakes.watch(holder);
/// wakes.wake(&[holder]);
/// watch.woken().await;
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Wakes(Arc<Ears>);

#[derive(Default)]
struct Ears {
    waiting: Mutex<HolderMap<Arc<Notify>>>,
    holding: Mutex<Vec<Arc<Tell>>>,
}

/// Is told of holds that were revoked: of anybody's, this process's perhaps. It must not block.
pub type Tell = dyn Fn(&[HolderId]) + Send + Sync;

/// Listens for holds that are revoked; it stops listening when dropped.
#[must_use = "it stops listening when dropped"]
pub struct Hearing {
    wakes: Wakes,
    tell: Arc<Tell>,
}

/// One waiter's ear; it stops listening when dropped.
pub struct Watch {
    wakes: Wakes,
    holder: HolderId,
    woken: Arc<Notify>,
    /// Dropped with it.
    with: Option<Box<dyn Any + Send + Sync>>,
}

/// Tells when any key of a backend may have changed, so that what is shown of them is looked at again.
/// A backend that does not tell of that never does.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use leases::Changes;
/// use std::time::Duration;
/// use tokio::time::timeout;
///
/// let changes = Changes::default(); // as of a backend that does not tell
/// loop {
///     // Look at what is to be shown; and again in a second, or at once.
///     let _ = timeout(Duration::from_secs(1), changes.changed()).await;
///     break;
/// }
/// # }
/// ```
#[derive(Default)]
pub struct Changes {
    changed: Arc<Notify>,
    /// Dropped with it.
    with: Option<Box<dyn Any + Send + Sync>>,
}

impl Changes {
    /// Changes that are told through `changed`, as long as `with` lives.
    pub fn told(changed: Arc<Notify>, with: impl Any + Send + Sync) -> Self {
        Changes { changed, with: Some(Box::new(with)) }
    }

    /// Returns when something may have changed since the last time.
    ///
    /// # Cancellation
    /// A change that was not heard is kept.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("told", &self.with.is_some()).finish()
    }
}

impl Wakes {
    /// Listens for this waiter. A wake from now on is kept until it is heard.
    pub fn watch(&self, holder: HolderId) -> Watch {
        let woken = Arc::clone(self.lock().entry(holder).or_default());
        Watch { wakes: self.clone(), holder, woken, with: None }
    }

    /// Wakes these waiters; those that nobody listens for are somebody else's.
    pub fn wake(&self, holders: &[HolderId]) {
        if holders.is_empty() {
            return;
        }
        let listening = self.lock();
        for woken in holders.iter().filter_map(|holder| listening.get(holder)) {
            woken.notify_one();
        }
    }

    /// Wakes everybody: some may have been to be woken while nobody was told.
    pub fn wake_all(&self) {
        for woken in self.lock().values() {
            woken.notify_one();
        }
    }

    /// Tells `tell` of holds that are revoked, from now on.
    ///
    /// ```
    /// use leases::{HolderId, Wakes};
    /// use std::sync::{Arc, Mutex};
    ///
    /// let wakes = Wakes::default();
    /// let revoked = Arc::new(Mutex::new(Vec::new()));
    /// let heard = Arc::clone(&revoked);
    /// let hearing = wakes.on_revoked(Arc::new(move |holders: &[HolderId]| {
    ///     heard.lock().unwrap().extend_from_slice(holders);
    /// }));
    /// let holder = HolderId::random();
    /// wakes.revoked(&[holder]);
    /// drop(hearing);
    /// wakes.revoked(&[HolderId::random()]);
    /// assert_eq!(*revoked.lock().unwrap(), [holder]);
    /// ```
    pub fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.holding().push(Arc::clone(&tell));
        Hearing { wakes: self.clone(), tell }
    }

    /// These holders' holds were revoked. Those that nobody here has are somebody else's.
    pub fn revoked(&self, holders: &[HolderId]) {
        if holders.is_empty() {
            return;
        }
        let told = self.holding().clone(); // What is told may listen, or stop, itself.
        for tell in told {
            tell(holders);
        }
    }

    /// Whether nobody waits.
    #[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HolderMap<Arc<Notify>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn holding(&self) -> MutexGuard<'_, Vec<Arc<Tell>>> {
        self.0.holding.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.wakes.holding().retain(|tell| !Arc::ptr_eq(tell, &self.tell));
    }
}

impl fmt::Debug for Hearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hearing(..)")
    }
}

impl fmt::Debug for Ears {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ears(..)")
    }
}

impl Watch {
    /// Returns when the waiter was woken since the last time it heard.
    ///
    /// # Cancellation
    /// A wake that was not heard is kept.
    pub async fn woken(&self) {
        self.woken.notified().await;
    }

    /// Drops something of the backend's, a subscription perhaps, when it stops listening.
    #[must_use]
    pub fn with(mut self, thing: impl Any + Send + Sync) -> Self {
        self.with = Some(Box::new(thing));
        self
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.wakes.lock().remove(&self.holder);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("holder", &self.holder).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stops_listening_is_forgotten() {
        let wakes = Wakes::default();
        let (one, other) = (HolderId::random(), HolderId::random());
        let (watch, listening) = (wakes.watch(one), wakes.watch(other));
        drop(watch);
        wakes.wake(&[one]);
        assert_eq!(wakes.lock().len(), 1);
        drop(listening);
        assert!(wakes.lock().is_empty());
    }
}
