//! What an actor is asked to take, in the words of both APIs.

use std::time::Duration;

use leases::Kind;

/// An ask; once, unless told to wait.
#[derive(Debug, Clone)]
pub struct Ask {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) limit: u32,
    pub(crate) ttl: Duration,
    pub(crate) keep_alive: bool,
    pub(crate) max_hold: Option<Duration>,
    pub(crate) owner: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) wait: Duration,
}

/// Asks for a lease, of a minute.
pub fn lease(name: impl Into<String>) -> Ask {
    Ask {
        kind: Kind::Lease,
        name: name.into(),
        limit: 1,
        ttl: Duration::from_secs(60),
        keep_alive: false,
        max_hold: None,
        owner: None,
        note: None,
        wait: Duration::ZERO,
    }
}

/// Asks for a permit, of a minute.
pub fn semaphore(name: impl Into<String>, limit: u32) -> Ask {
    Ask { kind: Kind::Semaphore, limit, ..lease(name) }
}

impl Ask {
    /// How long the hold lasts.
    pub fn ttl(self, ttl: Duration) -> Self {
        Ask { ttl, ..self }
    }

    /// Kept alive while its handle lives.
    pub fn kept(self) -> Self {
        Ask { keep_alive: true, ..self }
    }

    /// The longest it may last.
    pub fn max_hold(self, max_hold: Duration) -> Self {
        Ask { max_hold: Some(max_hold), ..self }
    }

    /// Who holds.
    pub fn owner(self, owner: impl Into<String>) -> Self {
        Ask { owner: Some(owner.into()), ..self }
    }

    /// For people.
    pub fn note(self, note: impl Into<String>) -> Self {
        Ask { note: Some(note.into()), ..self }
    }

    /// Waits for this long.
    pub fn wait(self, wait: Duration) -> Self {
        Ask { wait, ..self }
    }

    /// Waits for longer than any case lasts.
    pub fn waiting(self) -> Self {
        self.wait(Duration::from_secs(50))
    }
}
