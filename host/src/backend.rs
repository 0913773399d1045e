//! What a storage implements.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use crate::error::{BackendError, Loss};
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::{Answer, Ask, End, KeyView};
use crate::terms::Ttl;
use crate::wake::Watch;

/// The future of a backend's operation.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, BackendError>> + Send + 'a>>;

/// A storage of grants, lines and guards.
///
/// Each operation is atomic and is one transition of [`spec`](crate::spec) at the backend's own
/// time. There are no default methods, and no driver's type in any signature.
///
/// # Errors
/// An operation that the backend did not confirm fails with a [`BackendError`] within the
/// backend's request timeout; it never hangs and is never taken for an answer.
///
/// # Cancellation
/// A dropped future may have applied its operation. Callers follow a dropped or failed
/// [`ask`](Backend::ask) by [`leave`](Backend::leave).
pub trait Backend: Debug + Send + Sync + 'static {
    /// What holds for every operation of this backend.
    fn properties(&self) -> Properties;

    /// Asks for a key: grants, puts in line, or refuses.
    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer>;

    /// Extends holds and gives tickets' signs of life, all in one round trip; answers each in its
    /// place.
    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>>;

    /// Ends the live grant of exactly this holder; says whether there was one.
    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, bool>;

    /// Removes this holder's ticket, and any grant of its that was not delivered.
    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()>;

    /// Ends the grant in one slot, or in all of them; answers how many it ended.
    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32>;

    /// Shows who holds and who waits.
    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView>;

    /// Asks the guard of a target whether a write under this fence may go ahead.
    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict>;

    /// The greatest fence admitted for a target, if one was.
    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>>;

    /// Listens for the moment at which this waiter should ask again.
    ///
    /// A wake that comes between this call and the next ask is not missed.
    fn watch(&self, key: &Key, holder: HolderId) -> Watch;
}

/// What holds for every operation of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Properties {
    /// How long a waiter's ticket lasts without a sign of life.
    pub patience: Duration,
    /// Whether every operation is done in the first poll of its future, without I/O. Then a hold
    /// that is dropped is given back there and then.
    pub at_once: bool,
}

/// One hold to extend, or one ticket whose waiter is alive.
#[derive(Debug, Clone)]
pub struct Refresh {
    /// The key.
    pub key: Key,
    /// Whose hold or ticket.
    pub holder: HolderId,
    /// What is asked for it.
    pub extend: Extend,
}

/// What a [`Refresh`] extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extend {
    /// A hold, to now + ttl.
    Hold(Ttl),
    /// A ticket, to now + patience.
    Ticket {
        /// How long it then lasts without another sign of life.
        patience: Duration,
    },
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// The hold is held.
    Held {
        /// Until when.
        ends_in: Duration,
        /// What sets that end.
        end: End,
    },
    /// The hold is not held.
    Lost(Loss),
    /// The ticket is in line.
    InLine {
        /// No later than the earliest moment at which anything ahead of it could lapse.
        retry_in: Duration,
    },
    /// There is no such ticket.
    NotInLine,
}
