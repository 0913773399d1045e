//! Asking for a hold: the builder words, then `acquire` or `try_acquire`.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::asking::Asking;
use super::lease::Lease;
use super::leases::Shared;
use super::permit::Permit;
use crate::clock::Moment;
use crate::error::{Error, ErrorKind, Loss, Operation};
use crate::holder::HolderId;
use crate::invalid::Invalid;
use crate::name::{Key, Kind, Name};
use crate::policy::{Allowed, Primitive, Waits};
use crate::spec::{Ask, Mode};
use crate::terms::{Limit, MaxHold, Note, Owner, Ttl};

const TTL_DEFAULT: Duration = Duration::from_secs(30);

/// An ask in the making; ends with [`acquire`](Request::acquire),
/// [`try_acquire`](Request::try_acquire), [`hold`](Request::hold) or
/// [`try_hold`](Request::try_hold). May be used again, by many at once.
///
/// Unless told otherwise the hold lasts 30 s and the ask waits 10 s. What the words are given is
/// checked when it is asked.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
/// use std::time::Duration;
/// use leases::{ErrorKind, Leases, Wait};
///
/// let leases = Leases::memory();
/// let request = leases
///     .lease("rebuild-index")?
///     .ttl(Duration::from_secs(300))
///     .owner("job-7")
///     .note("nightly")
///     .wait(Wait::Never);
/// let held = request.acquire().await?;
/// let other = leases.lease("rebuild-index")?.wait(Duration::ZERO).acquire().await;
/// assert_eq!(other.unwrap_err().kind(), &ErrorKind::NotAcquired);
/// # drop(held); Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "nothing is asked before acquire or try_acquire"]
pub struct Request<H> {
    shared: Arc<Shared>,
    key: Key,
    limit: Limit,
    terms: Terms,
    wait: Wait,
    held_as: PhantomData<fn() -> H>,
}

/// The terms as they were given; checked when asked.
#[derive(Debug, Clone)]
struct Terms {
    ttl: Duration,
    max_hold: Option<Duration>,
    owner: Option<Box<str>>,
    note: Option<Box<str>>,
    keep_alive: bool,
    allowed: Option<Allowed>,
}

/// How long an ask may wait in line. It bounds all of the ask, the backend's time included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// One attempt.
    Never,
    /// At most this long; zero is one attempt.
    AtMost(Duration),
    /// Until it is granted.
    Forever,
}

/// What a request can end in: a [`Lease`] or a [`Permit`].
pub trait Hold: Sized + sealed::FromHeld {}

impl Hold for Lease {}
impl Hold for Permit {}

pub(super) mod sealed {
    use crate::client::held::Held;
    use crate::name::Kind;

    pub trait FromHeld {
        const KIND: Kind;

        fn from_held(held: Held) -> Self;

        fn held_mut(&mut self) -> &mut Held;
    }
}

impl Wait {
    pub(super) fn until(self, now: Moment) -> Option<Moment> {
        match self {
            Wait::Never | Wait::Forever => None,
            Wait::AtMost(at_most) => Some(now.after(at_most)),
        }
    }

    /// This wait, but no longer than a bound.
    fn bounded_by(self, max: Duration) -> Self {
        match self {
            Wait::Never => Wait::Never,
            Wait::AtMost(at_most) => Wait::AtMost(at_most.min(max)),
            Wait::Forever => Wait::AtMost(max),
        }
    }

    /// Whether it never waits: such an ask joins no line.
    pub(super) fn is_one_attempt(self) -> bool {
        matches!(self, Wait::Never | Wait::AtMost(Duration::ZERO))
    }
}

impl Default for Wait {
    /// 10 s.
    fn default() -> Self {
        Wait::AtMost(Duration::from_secs(10))
    }
}

impl From<Duration> for Wait {
    fn from(at_most: Duration) -> Self {
        if at_most.is_zero() { Wait::Never } else { Wait::AtMost(at_most) }
    }
}

impl<H: Hold> Request<H> {
    pub(crate) fn new(shared: Arc<Shared>, key: Key, limit: Limit) -> Self {
        let (max_hold, owner, note, allowed) = (None, None, None, None);
        let terms = Terms { ttl: TTL_DEFAULT, max_hold, owner, note, keep_alive: false, allowed };
        Request { shared, key, limit, terms, wait: Wait::default(), held_as: PhantomData }
    }

    /// How long the hold lasts unless it is refreshed: 10 ms to 24 h unless the
    /// [`Leases`](crate::Leases) has other bounds.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.terms.ttl = ttl;
        self
    }

    /// The longest that the hold may last, however often it is refreshed: at most 30 days.
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.terms.max_hold = Some(max_hold);
        self
    }

    /// Who holds: the same owner may take its own live hold again, whoever waits, in the same slot
    /// and with a new fence. The earlier handle is then superseded. 1 to 128 bytes.
    ///
    /// An owner of a plugin has the plugin's identity and a slash before it: let none of a host's
    /// own begin so.
    pub fn owner(mut self, owner: impl Into<Box<str>>) -> Self {
        self.terms.owner = Some(owner.into());
        self
    }

    /// For people who look at who holds what. At most 256 bytes.
    pub fn note(mut self, note: impl Into<Box<str>>) -> Self {
        self.terms.note = Some(note.into());
        self
    }

    /// Refreshes the hold in the background, from when it is delivered until it is released,
    /// dropped or lost: all that are kept of one [`Leases`](crate::Leases) in few round trips.
    ///
    /// Bound it by [`max_hold`](Request::max_hold) where the holder may hang. In an ask of a
    /// [`Scope`](crate::Scope) its ttl is at least 1 s, where that allows as much.
    pub fn keep_alive(mut self) -> Self {
        self.terms.keep_alive = true;
        self
    }

    /// How long [`acquire`](Request::acquire) may take. In an ask of a [`Scope`](crate::Scope), no
    /// longer than that allows.
    pub fn wait(mut self, wait: impl Into<Wait>) -> Self {
        self.wait = wait.into();
        self
    }

    /// Makes this an ask of a plugin, by what allows it.
    pub(crate) fn of_plugin(mut self, allowed: Allowed) -> Self {
        self.terms.allowed = Some(allowed);
        self
    }

    /// Takes it, waiting in line first come first served.
    ///
    /// # Errors
    /// - [`NotAcquired`](ErrorKind::NotAcquired) when the wait ended first.
    /// - [`Invalid`](ErrorKind::Invalid) for terms out of bounds; nothing was asked.
    /// - [`OverQuota`](ErrorKind::OverQuota) when the line has its most waiters, or a plugin has as
    ///   much as its policy allows; [`Lost`](ErrorKind::Lost) when its host
    ///   [revoked](crate::Scope::revoke_all) what it waits for.
    /// - [`Unavailable`](ErrorKind::Unavailable) when the backend did not confirm.
    ///
    /// # Cancellation
    /// Dropping the future leaves the line, and gives back a grant that was on its way.
    pub async fn acquire(&self) -> Result<H, Error> {
        self.begin(self.wait)?.acquire().await
    }

    /// Makes one attempt; `None` when others hold it or wait for it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// let leases = leases::Leases::memory();
    /// let first = leases.lease("cron")?.try_acquire().await?;
    /// assert!(first.is_some());
    /// assert!(leases.lease("cron")?.try_acquire().await?.is_none());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As for [`acquire`](Request::acquire), but never [`NotAcquired`](ErrorKind::NotAcquired).
    ///
    /// # Cancellation
    /// As for [`acquire`](Request::acquire).
    pub async fn try_acquire(&self) -> Result<Option<H>, Error> {
        match self.begin(Wait::Never)?.acquire().await {
            Ok(held) => Ok(Some(held)),
            Err(error) if *error.kind() == ErrorKind::NotAcquired => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes it, keeps it alive while `work` runs, gives it back, and answers what `work` answered.
    /// It is given back whichever way `work` ends, a panic included.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// let leases = leases::Leases::memory();
    /// let request = leases.lease("import:42")?;
    /// let rows = request.hold(async |lease| {
    ///     assert!(!lease.is_lost());
    ///     Ok::<_, leases::Error>(42)
    /// });
    /// assert_eq!(rows.await?, 42);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As for [`acquire`](Request::acquire); whatever `work` fails with; and
    /// [`Lost`](ErrorKind::Lost) when the hold was lost while `work` ran, even if `work` succeeded.
    ///
    /// # Cancellation
    /// Dropping the future drops `work` where it is, and gives the hold back.
    pub async fn hold<T, E: From<Error>>(
        &self,
        work: impl AsyncFnOnce(&mut H) -> Result<T, E>,
    ) -> Result<T, E> {
        let held = self.clone().keep_alive().acquire().await?;
        run(held, work).await
    }

    /// Makes one attempt to [`hold`](Request::hold); `None`, and `work` is not run, when others hold
    /// it or wait for it.
    ///
    /// # Errors
    /// As for [`hold`](Request::hold), but never [`NotAcquired`](ErrorKind::NotAcquired) of its own.
    ///
    /// # Cancellation
    /// As for [`hold`](Request::hold).
    pub async fn try_hold<T, E: From<Error>>(
        &self,
        work: impl AsyncFnOnce(&mut H) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        match self.clone().keep_alive().try_acquire().await? {
            Some(held) => run(held, work).await.map(Some),
            None => Ok(None),
        }
    }

    /// Does all of an ask that needs no backend: checks it, and counts it where a plugin makes it.
    pub(crate) fn begin(&self, wait: Wait) -> Result<Asking<'_, H>, Error> {
        let mut asked = self.shared.measures.asked(self.key.kind);
        let mut error = |kind: ErrorKind| {
            asked.ended((&kind).into(), |_| Duration::ZERO);
            Error::new(kind, Operation::Acquire, Some(&self.key))
        };
        let allowed = self.terms.allowed.as_ref();
        let wait = allowed.map_or(wait, |allowed| wait.bounded_by(allowed.wait_max()));
        let ask = self.checked(wait).map_err(|invalid| error(ErrorKind::Invalid(invalid)))?;
        let waits = if ask.mode == Mode::Once { Waits::No } else { Waits::Yes };
        let began = self.shared.clock.now();
        let count = |allowed: &Allowed| allowed.place(&self.key.name, waits, began).map(Arc::new);
        let place = allowed.map(count).transpose();
        let place = place.map_err(|quota| error(ErrorKind::OverQuota(quota)))?;
        let (shared, keep_alive) = (&self.shared, self.terms.keep_alive);
        let held_as = PhantomData;
        Ok(Asking { shared, ask, began, wait, keep_alive, place, asked, held_as })
    }

    fn checked(&self, wait: Wait) -> Result<Ask, Invalid> {
        let Terms { ttl, max_hold, owner, note, keep_alive, allowed } = &self.terms;
        let bounds = self.shared.ttl_bounds;
        let ttls = match allowed {
            None => bounds,
            Some(allowed) if *keep_alive => allowed.kept_ttls(bounds),
            Some(allowed) => allowed.ttls(bounds),
        };
        let ttl = Ttl::new(*ttl, ttls)?;
        let max_hold = max_hold.map(|max_hold| MaxHold::new(max_hold, bounds)).transpose()?;
        let note = note.as_ref().map(Note::new).transpose()?;
        let (max_hold, owner) = match allowed {
            None => (max_hold, owner.as_ref().map(Owner::new).transpose()?),
            Some(allowed) => {
                note.as_ref().map(|note| allowed.check_note(note)).transpose()?;
                let owner = owner.as_ref().map(|owner| allowed.owner(owner)).transpose()?;
                (allowed.max_hold(max_hold)?, owner)
            }
        };
        let note = match &self.shared.origin {
            None => note,
            Some(origin) => Some(origin.added_to(note.as_ref())),
        };
        let patience = self.shared.properties.patience;
        let mode = if wait.is_one_attempt() { Mode::Once } else { Mode::Wait { patience } };
        let (key, limit, holder) = (self.key.clone(), self.limit, HolderId::random());
        Ok(Ask { key, limit, holder, owner, ttl, max_hold, note, mode })
    }
}

/// Runs `work` under a hold. A hold that was lost before it was given back is the failure, whatever
/// `work` did; a release that is not confirmed is left to the background.
async fn run<H: Hold, T, E: From<Error>>(
    mut hold: H,
    work: impl AsyncFnOnce(&mut H) -> Result<T, E>,
) -> Result<T, E> {
    let done = work(&mut hold).await?;
    let held = hold.held_mut();
    let seen = held.loss();
    let released = held.release().await;
    match (seen, released) {
        (Some(loss), _) => Err(held.lost_error(loss).into()),
        (None, Ok(false)) => Err(held.lost_error(held.loss().unwrap_or(Loss::Expired)).into()),
        (None, Ok(true) | Err(_)) => Ok(done),
    }
}

impl Request<Permit> {
    /// Makes this an ask of a plugin, by what allows it, for no more places than that allows.
    pub(crate) fn of_plugins_semaphore(self, allowed: Allowed) -> Result<Self, Error> {
        let within = allowed.check_limit(self.limit);
        within.map_err(|bad| Error::invalid(bad, Operation::Semaphore))?;
        Ok(self.of_plugin(allowed))
    }

    /// The same semaphore for one key of many, each with places of its own. Its name is
    /// `<name>:<key>`.
    ///
    /// # Errors
    /// - [`Invalid`](ErrorKind::Invalid) when the name so made is out of bounds.
    /// - [`Denied`](ErrorKind::Denied) in an ask of a [`Scope`](crate::Scope) that does not allow
    ///   that name.
    pub fn key(&self, key: impl AsRef<str>) -> Result<Self, Error> {
        let named = |name: &str| format!("{name}:{}", key.as_ref());
        let for_name = |name| Request { key: Key { kind: Kind::Semaphore, name }, ..self.clone() };
        match &self.terms.allowed {
            None => {
                let name = Name::new(named(self.key.name.as_str()));
                Ok(for_name(name.map_err(|bad| Error::invalid(bad, Operation::Semaphore))?))
            }
            Some(allowed) => {
                let name = named(allowed.seen(&self.key.name));
                let (name, allowed) =
                    allowed.find_other(&name, Primitive::Semaphore, Operation::Semaphore)?;
                for_name(name).of_plugins_semaphore(allowed)
            }
        }
    }
}

// By hand: a derived Clone would ask that a hold can be cloned.
impl<H> Clone for Request<H> {
    fn clone(&self) -> Self {
        Request {
            shared: Arc::clone(&self.shared),
            key: self.key.clone(),
            limit: self.limit,
            terms: self.terms.clone(),
            wait: self.wait,
            held_as: PhantomData,
        }
    }
}
