//! From the engine's error to what a guest is told.

use super::bindings::leases::plugin::types;
use crate::error::{Error, ErrorKind, Loss, Quota};

/// Why a call of a guest did not do what was asked: a value for the guest, or a trap for one that
/// misused a handle.
#[derive(Debug)]
pub enum GuestError {
    /// The guest is told.
    Told(types::Error),
    /// The guest is stopped.
    Trap(wasmtime::Error),
}

impl From<wasmtime::component::ResourceTableError> for GuestError {
    fn from(error: wasmtime::component::ResourceTableError) -> Self {
        GuestError::Trap(error.into())
    }
}

impl From<types::Error> for GuestError {
    fn from(error: types::Error) -> Self {
        GuestError::Told(error)
    }
}

/// The guest learns the kind and the bound; addresses, names and causes stay in the host's log.
impl From<Error> for GuestError {
    fn from(error: Error) -> Self {
        let told = match error.kind() {
            ErrorKind::Invalid(invalid) => {
                let text = invalid.to_string();
                let text = text.strip_prefix("invalid ").unwrap_or(&text);
                types::Error::Invalid(text.to_owned())
            }
            ErrorKind::NotAcquired => types::Error::NotAcquired,
            ErrorKind::WouldDeadlock => types::Error::WouldDeadlock,
            ErrorKind::Lost(loss) => types::Error::Lost((*loss).into()),
            ErrorKind::Denied => types::Error::Denied,
            ErrorKind::OverQuota(quota) => types::Error::OverQuota((*quota).into()),
            ErrorKind::Unavailable(_) => {
                tracing::warn!(?error, "a guest's call was not confirmed");
                types::Error::Unavailable
            }
            ErrorKind::Internal => {
                tracing::error!(?error, "a guest's call failed");
                types::Error::Internal("a fault in the host".to_owned())
            }
        };
        GuestError::Told(told)
    }
}

impl From<Quota> for types::Quota {
    fn from(quota: Quota) -> Self {
        match quota {
            Quota::Held => types::Quota::Held,
            Quota::Waiting => types::Quota::Waiting,
            Quota::Line => types::Quota::Line,
            Quota::Rate => types::Quota::Rate,
        }
    }
}

impl From<Loss> for types::Loss {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Released => types::Loss::Released,
            Loss::Expired => types::Loss::Expired,
            Loss::Superseded => types::Loss::Superseded,
            Loss::Revoked => types::Loss::Revoked,
            Loss::MaxHold => types::Loss::MaxHold,
            Loss::Unconfirmed => types::Loss::Unconfirmed,
        }
    }
}
