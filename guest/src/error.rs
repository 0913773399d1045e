//! Why a call did not do what was asked.

use std::fmt;

use crate::bindings::leases::plugin::types;

/// Why a call did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// This plugin may not use this name, or not in this way.
    Denied,
    /// An argument is out of bounds; the text says which and what is allowed.
    Invalid(String),
    /// The wait ended before the name was free.
    NotAcquired,
    /// Only this very instance could free what it asked to wait for.
    WouldDeadlock,
    /// The hold is gone. Of an acquire: the host ended the wait, as [`Revoked`](Loss::Revoked).
    Lost(Loss),
    /// A bound on what may be held, or wait, at once, or be asked in a second.
    OverQuota(Quota),
    /// The backend did not confirm; nothing is held that it did not confirm.
    Unavailable,
    /// A fault in the host.
    Internal(String),
}

/// Why a hold is no longer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Its time ran out before the backend confirmed a refresh.
    Unconfirmed,
}

/// Which bound an ask would have passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quota {
    /// What the plugin holds at once, over all its instances; its asks count from their start.
    Held,
    /// How many of its asks wait at once.
    Waiting,
    /// Waiters in the line of one key.
    Line,
    /// Acquires per second, or refreshes and questions to guards per second, or names per day.
    Rate,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Denied => f.write_str("denied: this plugin may not use this name"),
            Error::Invalid(what) => write!(f, "invalid {what}"),
            Error::NotAcquired => f.write_str("not acquired: the wait ended first"),
            Error::WouldDeadlock => {
                f.write_str("would deadlock: only this instance could free what it waits for")
            }
            Error::Lost(loss) => write!(f, "lost: {loss}"),
            Error::OverQuota(quota) => write!(f, "over quota: {quota}"),
            Error::Unavailable => f.write_str("unavailable: the backend did not confirm"),
            Error::Internal(what) => write!(f, "internal: {what}"),
        }
    }
}

impl std::error::Error for Error {}

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
            Quota::Held => "holds at once",
            Quota::Waiting => "waiting at once",
            Quota::Line => "waiters in one line",
            Quota::Rate => "calls per second, or names per day",
        })
    }
}

impl From<types::Error> for Error {
    fn from(error: types::Error) -> Self {
        match error {
            types::Error::Denied => Error::Denied,
            types::Error::Invalid(what) => Error::Invalid(what),
            types::Error::NotAcquired => Error::NotAcquired,
            types::Error::WouldDeadlock => Error::WouldDeadlock,
            types::Error::Lost(loss) => Error::Lost(loss.into()),
            types::Error::OverQuota(quota) => Error::OverQuota(quota.into()),
            types::Error::Unavailable => Error::Unavailable,
            types::Error::Internal(what) => Error::Internal(what),
        }
    }
}

impl From<types::Loss> for Loss {
    fn from(loss: types::Loss) -> Self {
        match loss {
            types::Loss::Released => Loss::Released,
            types::Loss::Expired => Loss::Expired,
            types::Loss::Superseded => Loss::Superseded,
            types::Loss::Revoked => Loss::Revoked,
            types::Loss::MaxHold => Loss::MaxHold,
            types::Loss::Unconfirmed => Loss::Unconfirmed,
        }
    }
}

impl From<types::Quota> for Quota {
    fn from(quota: types::Quota) -> Self {
        match quota {
            types::Quota::Held => Quota::Held,
            types::Quota::Waiting => Quota::Waiting,
            types::Quota::Line => Quota::Line,
            types::Quota::Rate => Quota::Rate,
        }
    }
}
