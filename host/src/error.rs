//! The one public error: kind, operation, key, source.

use std::error::Error as StdError;
use std::fmt;

use crate::invalid::Invalid;
use crate::name::Key;

/// Why an operation did not do what was asked.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use leases::{ErrorKind, Leases};
///
/// let leases = Leases::memory();
/// let error = leases.lease("").unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Invalid(_)));
/// assert_eq!(error.to_string(), "lease: invalid name: 1 to 512 bytes, not 0");
/// # }
/// ```
pub struct Error(Box<Parts>);

struct Parts {
    kind: ErrorKind,
    operation: Operation,
    key: Option<Key>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What kind of failure it was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is out of bounds. Nothing was asked of any backend.
    Invalid(Invalid),
    /// The wait ended before the name was free.
    NotAcquired,
    /// Only the one who waits could free what it waits for.
    WouldDeadlock,
    /// The hold is gone, with the reason.
    Lost(Loss),
    /// This plugin may not use this name, or not for this primitive.
    Denied,
    /// A bound on how many may hold or wait.
    OverQuota(Quota),
    /// The backend did not confirm.
    Unavailable(Applied),
    /// A fault in this program or its backend's data.
    Internal,
}

/// Why a hold is no longer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Given back through its handle.
    Released,
    /// It reached its end without a refresh.
    Expired,
    /// The same owner took it again.
    Superseded,
    /// The host or an operator ended it.
    Revoked,
    /// It reached the longest time that it was asked for.
    MaxHold,
    /// Its time ran out on this side before the backend confirmed a refresh.
    Unconfirmed,
}

/// Which bound an ask would have passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quota {
    /// What a plugin may hold at once, asks under way counted.
    Held,
    /// How many of a plugin's asks may wait at once.
    Waiting,
    /// Waiters in the line of one key: 10,000.
    Line,
    /// How often a plugin may acquire, refresh or ask a guard, by the second, and how many names it
    /// may use in a day.
    Rate,
}

/// Whether a backend that did not confirm may have done it all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applied {
    /// It surely did not.
    No,
    /// It may have.
    Unknown,
}

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Asking for a lease.
    Lease,
    /// Asking for a semaphore's permit.
    Semaphore,
    /// Taking a lease or a permit.
    Acquire,
    /// Extending a hold.
    Refresh,
    /// Giving a hold back.
    Release,
    /// Taking up a hold that was detached.
    Attach,
    /// Ending somebody's hold.
    Revoke,
    /// Looking at who holds and who waits.
    Inspect,
    /// Looking for the keys that are in use.
    List,
    /// Asking a guard.
    Guard,
    /// Reaching a backend.
    Connect,
    /// Bringing what a backend stores to this version's layout.
    Migrate,
}

/// A backend's failure: never an answer, and never taken for one.
#[derive(Debug, thiserror::Error)]
#[error("the backend did not confirm")]
pub struct BackendError {
    /// Whether the operation may have been applied.
    pub applied: Applied,
    /// The driver's own error. Shows no password.
    pub source: Box<dyn StdError + Send + Sync>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, operation: Operation, key: Option<&Key>) -> Self {
        Error(Box::new(Parts { kind, operation, key: key.cloned(), source: None }))
    }

    pub(crate) fn invalid(invalid: Invalid, operation: Operation) -> Self {
        Error::new(ErrorKind::Invalid(invalid), operation, None)
    }

    pub(crate) fn backend(error: BackendError, operation: Operation, key: Option<&Key>) -> Self {
        let mut mapped = Error::new(ErrorKind::Unavailable(error.applied), operation, key);
        mapped.0.source = Some(error.source);
        mapped
    }

    /// What is asked of a handle that was closed.
    pub(crate) fn closed(operation: Operation, key: &Key) -> Self {
        let source = "this handle was closed".into();
        Error::backend(BackendError { applied: Applied::No, source }, operation, Some(key))
    }

    /// What kind of failure it was.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// What was being done.
    pub fn operation(&self) -> Operation {
        self.0.operation
    }

    /// The key it was about.
    pub fn key(&self) -> Option<&Key> {
        self.0.key.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { kind, operation, key, .. } = &*self.0;
        match key {
            Some(key) => write!(f, "{operation} {key}: {kind}"),
            None => write!(f, "{operation}: {kind}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, "\n  caused by: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Invalid(invalid) => invalid.fmt(f),
            ErrorKind::NotAcquired => f.write_str("not acquired: the wait ended first"),
            ErrorKind::WouldDeadlock => {
                f.write_str("would deadlock: only the waiter could free it")
            }
            ErrorKind::Lost(loss) => write!(f, "lost: {loss}"),
            ErrorKind::Denied => f.write_str("denied: this plugin may not use this name"),
            ErrorKind::OverQuota(quota) => write!(f, "over quota: {quota}"),
            ErrorKind::Unavailable(Applied::No) => f.write_str("unavailable: it was not done"),
            ErrorKind::Unavailable(Applied::Unknown) => {
                f.write_str("unavailable: it may have been done")
            }
            ErrorKind::Internal => f.write_str("internal fault"),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::Released => "released",
            Loss::Expired => "expired",
            Loss::Superseded => "superseded by the same owner",
            Loss::Revoked => "revoked",
            Loss::MaxHold => "reached its max-hold",
            Loss::Unconfirmed => "not confirmed in time",
        })
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quota::Held => "this plugin holds as much as it may",
            Quota::Waiting => "as many asks of this plugin wait as may",
            Quota::Line => "the line is full",
            Quota::Rate => "this plugin asked as often as it may",
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Lease => "lease",
            Operation::Semaphore => "semaphore",
            Operation::Acquire => "acquire",
            Operation::Refresh => "refresh",
            Operation::Release => "release",
            Operation::Attach => "attach",
            Operation::Revoke => "revoke",
            Operation::Inspect => "inspect",
            Operation::List => "list",
            Operation::Guard => "guard",
            Operation::Connect => "connect",
            Operation::Migrate => "migrate",
        })
    }
}
