//! An ask that is within all bounds, and nothing was asked of the backend for it yet.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use super::acquire::acquire;
use super::leases::Shared;
use super::request::{Hold, Wait};
use crate::clock::Moment;
use crate::error::Error;
#[cfg(feature = "component")]
use crate::error::{ErrorKind, Operation};
use crate::measures::{Asked, Outcome};
#[cfg(feature = "component")]
use crate::name::Key;
use crate::policy::Place;
use crate::spec::Ask;
#[cfg(feature = "component")]
use crate::spec::Mode;

/// An ask that is counted, where a plugin makes it: until it is dropped, or what it takes is gone.
#[derive(Debug)]
pub(crate) struct Asking<'a, H> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) ask: Ask,
    /// From when its wait, and the deadline of its hold, are counted.
    pub(super) began: Moment,
    pub(super) wait: Wait,
    pub(super) keep_alive: bool,
    pub(super) place: Option<Arc<Place>>,
    pub(super) asked: Asked,
    pub(super) held_as: PhantomData<fn() -> H>,
}

impl<H: Hold> Asking<'_, H> {
    /// Takes what is asked for.
    pub(crate) async fn acquire(self) -> Result<H, Error> {
        let Asking { shared, ask, began, wait, keep_alive, place, mut asked, .. } = self;
        let span = tracing::debug_span!("leases.acquire", key = %ask.key);
        let taken = acquire(shared, ask, (began, wait), place, &mut asked).instrument(span).await;
        let outcome = taken.as_ref().map_or_else(|error| error.kind().into(), |_| Outcome::Granted);
        asked.ended(outcome, |stood_in_line| match shared.properties.at_once && !stood_in_line {
            true => Duration::ZERO,
            false => shared.clock.now().since(began),
        });
        let held = taken?;
        Ok(H::from_held(if keep_alive { held.keep_alive() } else { held }))
    }

    /// It is not asked for after all: only this instance could free it.
    #[cfg(feature = "component")]
    pub(crate) fn would_deadlock(mut self) -> Error {
        self.asked.ended(Outcome::WouldDeadlock, |_| Duration::ZERO);
        Error::new(ErrorKind::WouldDeadlock, Operation::Acquire, Some(&self.ask.key))
    }

    #[cfg(feature = "component")]
    pub(crate) fn key(&self) -> &Key {
        &self.ask.key
    }

    #[cfg(feature = "component")]
    pub(crate) fn limit(&self) -> u32 {
        self.ask.limit.get()
    }

    #[cfg(feature = "component")]
    pub(crate) fn may_wait(&self) -> bool {
        self.ask.mode != Mode::Once
    }
}
