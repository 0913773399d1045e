//! Asking for a hold: the builder words, then `acquire`, `try_acquire` or `hold`.

use std::marker::PhantomData;
use std::time::Duration;

use crate::bindings::leases::plugin::types::Terms;
use crate::bindings::leases::plugin::{lease as wit_lease, semaphore as wit_semaphore};
use crate::error::{Error, Loss};
use crate::lease::Lease;
use crate::permit::Permit;

const TTL_DEFAULT: Duration = Duration::from_secs(30);
const WAIT_DEFAULT: Duration = Duration::from_secs(10);

/// An ask in the making; ends with [`acquire`](Request::acquire),
/// [`try_acquire`](Request::try_acquire) or [`hold`](Request::hold). May be used again.
#[derive(Debug)]
#[must_use = "nothing is asked before acquire, try_acquire or hold"]
pub struct Request<H> {
    name: String,
    limit: u32,
    terms: Terms,
    wait: Option<Duration>,
    held_as: PhantomData<fn() -> H>,
}

/// What a request can end in: a [`Lease`] or a [`Permit`].
pub trait Hold: Sized + sealed::Ask {}

impl Hold for Lease {}
impl Hold for Permit {}

/// Asks for the lease of `name`: one holder at a time.
///
/// Unless told otherwise the hold lasts 30 s and the ask waits 10 s.
pub fn lease(name: impl Into<String>) -> Request<Lease> {
    Request::new(name.into(), 1)
}

/// Asks for one of `limit` places of `name`.
///
/// Unless told otherwise the hold lasts 30 s and the ask waits 10 s.
pub fn semaphore(name: impl Into<String>, limit: u32) -> Request<Permit> {
    Request::new(name.into(), limit)
}

impl<H: Hold> Request<H> {
    fn new(name: String, limit: u32) -> Self {
        let ttl = nanoseconds(TTL_DEFAULT);
        let terms = Terms { ttl, keep_alive: false, max_hold: None, owner: None, note: None };
        Request { name, limit, terms, wait: Some(WAIT_DEFAULT), held_as: PhantomData }
    }

    /// How long the hold lasts unless it is refreshed: 10 ms to 24 h unless the host says otherwise.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.terms.ttl = nanoseconds(ttl);
        self
    }

    /// The longest that the hold may last, however often it is refreshed.
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.terms.max_hold = Some(nanoseconds(max_hold));
        self
    }

    /// The host refreshes the hold for as long as its handle lives. Its ttl is then at least 1 s.
    pub fn keep_alive(mut self) -> Self {
        self.terms.keep_alive = true;
        self
    }

    /// The same owner may take its own live hold again; the earlier handle is then superseded.
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.terms.owner = Some(owner.into());
        self
    }

    /// For people who look at who holds what.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.terms.note = Some(note.into());
        self
    }

    /// How long [`acquire`](Request::acquire) may wait in line; the host may allow less.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// Waits for as long as the host allows.
    pub fn wait_as_allowed(mut self) -> Self {
        self.wait = None;
        self
    }

    /// Takes it, waiting in line first come first served.
    ///
    /// # Errors
    /// [`Error::NotAcquired`] when the wait ended first; [`Error::WouldDeadlock`] at once when only
    /// this instance could free it; [`Error::Denied`], [`Error::Invalid`], [`Error::OverQuota`] and
    /// [`Error::Unavailable`] as they say.
    pub fn acquire(&self) -> Result<H, Error> {
        H::ask(&self.name, self.limit, &self.terms, self.wait.map(nanoseconds))
    }

    /// Makes one attempt; `None` when it is held by others.
    ///
    /// # Errors
    /// As for [`acquire`](Request::acquire), but never [`Error::NotAcquired`].
    pub fn try_acquire(&self) -> Result<Option<H>, Error> {
        match H::ask(&self.name, self.limit, &self.terms, Some(0)) {
            Ok(held) => Ok(Some(held)),
            Err(Error::NotAcquired) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes it, keeps it alive while `work` runs, gives it back, and answers what `work` answered.
    ///
    /// # Errors
    /// As for [`acquire`](Request::acquire); whatever `work` fails with; and [`Error::Lost`] when
    /// the hold was lost while `work` ran, even if `work` succeeded.
    pub fn hold<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut H) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut held = self.clone().keep_alive().acquire()?;
        let done = work(&mut held)?;
        held.give_back()?;
        Ok(done)
    }
}

impl Request<Permit> {
    /// The same semaphore for one key of many, each with places of its own. Its name is
    /// `<name>:<key>`.
    pub fn key(&self, key: &str) -> Self {
        Request { name: format!("{}:{key}", self.name), ..self.clone() }
    }
}

// By hand: a derived Clone would ask that a hold can be cloned.
impl<H> Clone for Request<H> {
    fn clone(&self) -> Self {
        Request {
            name: self.name.clone(),
            limit: self.limit,
            terms: self.terms.clone(),
            wait: self.wait,
            held_as: PhantomData,
        }
    }
}

/// A duration for the contract. What does not fit is beyond every bound and refused by the host.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// What a hold's end says of the time before it: a loss that was seen is a loss whatever the
/// release answers, and a release that found nothing to release is one too.
fn give_back(seen: Option<Loss>, released: Result<bool, Error>) -> Result<(), Error> {
    match (seen, released) {
        (Some(loss), _) => Err(Error::Lost(loss)),
        (None, Ok(true)) => Ok(()),
        (None, Ok(false)) => Err(Error::Lost(Loss::Expired)),
        (None, Err(error)) => Err(error),
    }
}

mod sealed {
    use super::{Error, Lease, Permit, Terms, give_back, wit_lease, wit_semaphore};

    pub trait Ask: Sized {
        fn ask(name: &str, limit: u32, terms: &Terms, wait: Option<u64>) -> Result<Self, Error>;

        /// Releases; fails with the reason if the hold was lost before.
        fn give_back(self) -> Result<(), Error>;
    }

    impl Ask for Lease {
        fn ask(name: &str, _limit: u32, terms: &Terms, wait: Option<u64>) -> Result<Self, Error> {
            Ok(Lease::new(wit_lease::acquire(name, terms, wait)?))
        }

        fn give_back(self) -> Result<(), Error> {
            let seen = self.lost();
            give_back(seen, self.release())
        }
    }

    impl Ask for Permit {
        fn ask(name: &str, limit: u32, terms: &Terms, wait: Option<u64>) -> Result<Self, Error> {
            Ok(Permit::new(wit_semaphore::acquire(name, limit, terms, wait)?))
        }

        fn give_back(self) -> Result<(), Error> {
            let seen = self.lost();
            give_back(seen, self.release())
        }
    }
}
