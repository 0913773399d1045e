//! What a case is given: a backend, its time, and what lives as long as both.

use std::any::Any;
use std::sync::Arc;

use leases::{Backend, ManualClock};

/// A backend, its time, and what lives as long as both.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The backend.
    pub backend: Arc<dyn Backend>,
    /// Its clock.
    pub time: ManualClock,
    pub(crate) rest: RestsBy,
    // Below the backend, so that it is dropped after it.
    _server: Option<Arc<dyn Any + Send + Sync>>,
}

/// By what it is known that everybody sleeps.
#[derive(Debug, Clone)]
pub(crate) enum RestsBy {
    /// Everybody had a turn: no operation, and no wake-up, needs more than this thread.
    Turns,
    /// Every operation was answered, and on a key of each of these names a wake-up has come that
    /// was sent after all others.
    Barriers(Vec<String>),
}

impl Setting {
    /// A backend whose clock is `time`, and whose wake-ups come one way, in the order in which they
    /// were sent. One that does everything [at once](leases::Properties::at_once) has no way.
    pub fn new(backend: Arc<dyn Backend>, time: ManualClock) -> Self {
        let rest = match backend.properties().at_once {
            true => RestsBy::Turns,
            false => RestsBy::Barriers(vec!["barrier".to_owned()]),
        };
        Setting { backend, time, rest, _server: None }
    }

    /// A backend that does no I/O even though it does not do everything at once: one that is told
    /// to be slow, or to fail, on top of memory. Operations of it may be in flight for ever.
    pub fn in_process(backend: Arc<dyn Backend>, time: ManualClock) -> Self {
        Setting { rest: RestsBy::Turns, ..Setting::new(backend, time) }
    }

    /// Wake-ups come several ways, in order on each: a name for each of them, of a lease whose
    /// wake-ups come that way and that nobody else uses.
    pub fn barriers(self, names: impl IntoIterator<Item = String>) -> Self {
        Setting { rest: RestsBy::Barriers(names.into_iter().collect()), ..self }
    }

    /// Keeps this, a server for instance, and drops it after the backend.
    pub fn keeping(self, server: Arc<dyn Any + Send + Sync>) -> Self {
        Setting { _server: Some(server), ..self }
    }
}
