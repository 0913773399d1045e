//! The handle of the whole process, for code that can't pass one around.

use std::sync::{PoisonError, RwLock};

use super::guard::Guard;
use super::lease::Lease;
use super::leases::Leases;
use super::permit::Permit;
use super::request::Request;
use crate::error::Error;

static DEFAULT: RwLock<Option<Leases>> = RwLock::new(None);

/// Says which handle [`lease`], [`semaphore`] and [`guard`] use from now on; `None` is a fresh
/// memory, in which nothing is held. Holds taken before stay what they are.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
/// leases::configure(leases::Leases::memory());
/// let held = leases::lease("cron:nightly")?.try_acquire().await?;
/// assert!(held.is_some());
/// leases::configure(None);
/// assert!(leases::lease("cron:nightly")?.try_acquire().await?.is_some());
/// # Ok(()) }
/// ```
pub fn configure(leases: impl Into<Option<Leases>>) {
    *DEFAULT.write().unwrap_or_else(PoisonError::into_inner) = leases.into();
}

/// [`Leases::lease`] of the process's handle.
///
/// # Errors
/// As for [`Leases::lease`].
pub fn lease(name: impl AsRef<str>) -> Result<Request<Lease>, Error> {
    current().lease(name)
}

/// [`Leases::semaphore`] of the process's handle.
///
/// # Errors
/// As for [`Leases::semaphore`].
pub fn semaphore(name: impl AsRef<str>, limit: u32) -> Result<Request<Permit>, Error> {
    current().semaphore(name, limit)
}

/// [`Leases::guard`] of the process's handle.
///
/// # Errors
/// As for [`Leases::guard`].
pub fn guard(target: impl AsRef<str>) -> Result<Guard, Error> {
    current().guard(target)
}

fn current() -> Leases {
    if let Some(leases) = &*DEFAULT.read().unwrap_or_else(PoisonError::into_inner) {
        return leases.clone();
    }
    let mut default = DEFAULT.write().unwrap_or_else(PoisonError::into_inner);
    default.get_or_insert_with(Leases::memory).clone()
}
