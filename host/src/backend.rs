//! What a storage implements.

use std::fmt::{self, Debug};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::error::{BackendError, Loss};
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::listing::{Cursor, Page};
use crate::name::Key;
use crate::pattern::NamePattern;
use crate::spec::{Answer, Ask, End, KeyView};
use crate::terms::Ttl;
use crate::wake::{Changes, Hearing, Tell, Watch};

/// The future of a backend's operation.
#[must_use = "what came of the operation is in its reply"]
pub struct Reply<'a, T>(State<'a, T>);

enum State<'a, T> {
    Answered(Option<T>),
    OnItsWay(Pin<Box<dyn Future<Output = Result<T, BackendError>> + Send + 'a>>),
}

impl<'a, T> Reply<'a, T> {
    /// The reply of an operation that is done: it costs no allocation.
    pub fn answered(answer: T) -> Self {
        Reply(State::Answered(Some(answer)))
    }

    /// The reply of an operation that is done by this future.
    pub fn new(reply: impl Future<Output = Result<T, BackendError>> + Send + 'a) -> Self {
        Reply(State::OnItsWay(Box::pin(reply)))
    }
}

impl<T: Unpin> Future for Reply<'_, T> {
    type Output = Result<T, BackendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::OnItsWay(reply) => reply.as_mut().poll(context),
            // A future is not polled again after it was ready.
            State::Answered(answer) => answer.take().map_or(Poll::Pending, |a| Poll::Ready(Ok(a))),
        }
    }
}

impl<T> Debug for Reply<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Answered(_) => "Reply(answered)",
            State::OnItsWay(_) => "Reply(on its way)",
        })
    }
}

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
/// An operation whose reply was dropped may have been applied, polled or not. Callers follow a
/// dropped or failed [`ask`](Backend::ask) by [`leave`](Backend::leave).
pub trait Backend: Debug + Send + Sync + 'static {
    /// What holds for every operation of this backend.
    fn properties(&self) -> Properties;

    /// Asks for a key: grants, puts in line, or refuses.
    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer>;

    /// Extends holds and gives tickets' signs of life, all in one round trip; answers each in its
    /// place.
    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>>;

    /// Ends the live grant of exactly this holder; where there is none, says why.
    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>>;

    /// Removes this holder's ticket, and any grant of its that was not delivered.
    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()>;

    /// Ends the grant in one slot, or in all of them; answers how many it ended. Who holds there is
    /// told where [`on_revoked`](Backend::on_revoked) hears it, and else by its next refresh.
    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32>;

    /// Shows who holds and who waits.
    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView>;

    /// Lists keys that somebody may hold or wait for, a page at a time, in no order. A key that is in
    /// use all the while is on one page at least; one whose use begins or ends meanwhile may be on
    /// none, and one that is no longer in use may be on one.
    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page>;

    /// Asks the guard of a target whether a write under this fence may go ahead.
    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict>;

    /// The greatest fence admitted for a target, if one was.
    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>>;

    /// Listens for the moment at which this waiter should ask again.
    ///
    /// A wake that comes between this call and the next ask is not missed.
    fn watch(&self, key: &Key, holder: HolderId) -> Watch;

    /// Listens for holds that are revoked, by whomever, as far as the backend tells: what is not told
    /// is learned by the next refresh, and what is may be told more than once.
    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing;

    /// Listens for changes of any key, where the backend tells of them: on Redis it does, in a cluster
    /// it does not. Costs nothing while nobody listens.
    fn changes(&self) -> Changes;

    /// Brings what is stored to this version's layout; answers how many steps that took. Safe when
    /// several do it at once.
    fn migrate(&self) -> Reply<'_, u32>;
}

/// What holds for every operation of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Properties {
    /// How long a waiter's ticket lasts without a sign of life.
    pub patience: Duration,
    /// Whether every operation is done, without I/O, by the time its call returns. Then a hold that
    /// is dropped is given back there and then.
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

impl Extend {
    /// How long it then lasts.
    pub(crate) fn lasts(self) -> Duration {
        match self {
            Extend::Hold(ttl) => ttl.as_duration(),
            Extend::Ticket { patience } => patience,
        }
    }
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
        /// No later than the earliest moment at which anything ahead of it could lapse; zero where
        /// it could be admitted now.
        retry_in: Duration,
    },
    /// There is no such ticket.
    NotInLine,
    /// Not confirmed: the part of the backend that has it did not answer, and others did.
    Unconfirmed,
}
