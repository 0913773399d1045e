//! The entries behind a guest's handles. Their drop gives back what they hold.

use crate::client::{Lease, Permit};
use crate::fence::Fence;
use crate::name::Key;

/// What stands behind a guest's `lease` handle.
#[derive(Debug)]
pub struct HeldLease(pub(super) Lease);

/// What stands behind a guest's `permit` handle.
#[derive(Debug)]
pub struct HeldPermit(pub(super) Permit);

/// What both have in common.
pub(super) trait Handle: Send + 'static {
    fn key(&self) -> &Key;

    /// The owner as the guest gave it.
    fn owner(&self) -> Option<&str>;

    fn fence(&self) -> Fence;

    fn is_held(&self) -> bool;
}

impl Handle for HeldLease {
    fn key(&self) -> &Key {
        self.0.key()
    }

    fn owner(&self) -> Option<&str> {
        self.0.owner()
    }

    fn fence(&self) -> Fence {
        self.0.fence()
    }

    fn is_held(&self) -> bool {
        self.0.loss().is_none()
    }
}

impl Handle for HeldPermit {
    fn key(&self) -> &Key {
        self.0.key()
    }

    fn owner(&self) -> Option<&str> {
        self.0.owner()
    }

    fn fence(&self) -> Fence {
        self.0.fence().fence
    }

    fn is_held(&self) -> bool {
        self.0.loss().is_none()
    }
}
