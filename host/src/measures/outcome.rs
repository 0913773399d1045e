//! What became of an ask.

use crate::error::ErrorKind;

/// What became of an ask for a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "metrics"), expect(dead_code, reason = "nothing is measured"))]
pub(crate) enum Outcome {
    Granted,
    NotAcquired,
    WouldDeadlock,
    Denied,
    OverQuota,
    Revoked,
    Invalid,
    Unavailable,
    Internal,
    /// Its future was dropped.
    Cancelled,
}

#[cfg(feature = "metrics")]
impl Outcome {
    pub(super) const ALL: [Outcome; 10] = [
        Outcome::Granted,
        Outcome::NotAcquired,
        Outcome::WouldDeadlock,
        Outcome::Denied,
        Outcome::OverQuota,
        Outcome::Revoked,
        Outcome::Invalid,
        Outcome::Unavailable,
        Outcome::Internal,
        Outcome::Cancelled,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Outcome::Granted => "granted",
            Outcome::NotAcquired => "not-acquired",
            Outcome::WouldDeadlock => "would-deadlock",
            Outcome::Denied => "denied",
            Outcome::OverQuota => "over-quota",
            Outcome::Revoked => "revoked",
            Outcome::Invalid => "invalid",
            Outcome::Unavailable => "unavailable",
            Outcome::Internal => "internal",
            Outcome::Cancelled => "cancelled",
        }
    }
}

impl From<&ErrorKind> for Outcome {
    fn from(kind: &ErrorKind) -> Self {
        match kind {
            ErrorKind::NotAcquired => Outcome::NotAcquired,
            ErrorKind::WouldDeadlock => Outcome::WouldDeadlock,
            ErrorKind::Denied => Outcome::Denied,
            ErrorKind::OverQuota(_) => Outcome::OverQuota,
            ErrorKind::Lost(_) => Outcome::Revoked,
            ErrorKind::Invalid(_) => Outcome::Invalid,
            ErrorKind::Unavailable(_) => Outcome::Unavailable,
            ErrorKind::Internal => Outcome::Internal,
        }
    }
}
