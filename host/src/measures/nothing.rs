//! Nothing is measured.

use std::time::Duration;

use super::Outcome;
use super::call::Call;
use crate::clock::Moment;
use crate::error::{BackendError, Error, Loss};
use crate::fence::Verdict;
use crate::name::Kind;

/// The measures of one handle.
#[derive(Debug, Clone)]
pub(crate) struct Measures;

/// An ask, until it is granted or not.
#[derive(Debug)]
pub(crate) struct Asked;

/// A hold, until it ends.
#[derive(Debug)]
pub(crate) struct OneHold;

impl Measures {
    /// Whether anything is.
    pub(crate) const ARE_TAKEN: bool = false;

    pub(crate) fn new() -> Self {
        Measures
    }

    pub(crate) fn asked(&self, _kind: Kind) -> Asked {
        Asked
    }

    pub(crate) fn hold(&self, _kind: Kind, _since: Moment) -> OneHold {
        OneHold
    }

    pub(crate) fn denied(&self, _kind: Option<Kind>) {}

    pub(crate) fn batch(&self, _size: usize, _confirmed: bool) {}

    pub(crate) fn given_back(&self, _done: bool) {}

    pub(crate) fn verdict(&self, _verdict: &Result<Verdict, Error>) {}

    pub(crate) fn called(
        &self,
        _call: Call,
        _took: impl FnOnce() -> Duration,
        _error: Option<&BackendError>,
    ) {
    }
}

impl Asked {
    pub(crate) fn in_line(&mut self, _position: u32) {}

    pub(crate) fn ended(&mut self, _outcome: Outcome, _waited: impl FnOnce(bool) -> Duration) {}
}

impl OneHold {
    pub(crate) fn ended(&mut self, _reason: Loss, _at: impl FnOnce() -> Moment) {}
}
