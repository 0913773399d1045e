//! An ask that is within all bounds, and nothing was asked of the backend for it yet.

use std::marker::PhantomData;
use std::sync::Arc;

use super::acquire::acquire;
use super::leases::Shared;
use super::request::{Hold, Wait};
use crate::clock::Moment;
use crate::error::Error;
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
    pub(super) held_as: PhantomData<fn() -> H>,
}

impl<H: Hold> Asking<'_, H> {
    /// Takes what is asked for.
    pub(crate) async fn acquire(self) -> Result<H, Error> {
        let Asking { shared, ask, began, wait, keep_alive, place, .. } = self;
        let held = acquire(shared, ask, began, wait, place).await?;
        Ok(H::from_held(if keep_alive { held.keep_alive() } else { held }))
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
