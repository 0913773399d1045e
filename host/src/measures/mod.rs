//! What is measured: through the crate `metrics` with the feature of that name, else nothing.
//!
//! The engine tells of each event in one place, whether or not it is measured; without the feature all of this
//! is nothing and costs nothing. Labels are of small fixed sets: no name, no owner and no key is ever
//! one.

mod backend;
mod call;
#[cfg(feature = "metrics")]
mod described;
#[cfg(not(feature = "metrics"))]
mod nothing;
mod outcome;
#[cfg(feature = "metrics")]
mod recorded;

pub(crate) use backend::Measured;
#[cfg(not(feature = "metrics"))]
pub(crate) use nothing::{Asked, Measures, OneHold};
pub(crate) use outcome::Outcome;
#[cfg(feature = "metrics")]
pub(crate) use recorded::{Asked, Measures, OneHold};
