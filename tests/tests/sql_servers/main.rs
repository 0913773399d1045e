//! The servers that speak SQL, on which other tests rely, do what they say.

use std::time::Duration;

#[cfg(target_os = "linux")]
mod ends;
mod mariadb;
mod pgbouncer;
mod postgres;

/// A real wait: an answer takes a hundredth of it.
const NO_ANSWER: Duration = Duration::from_millis(200);
