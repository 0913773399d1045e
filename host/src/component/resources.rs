//! The entries behind a guest's handles. Their drop gives back what they hold.

use crate::client::{Lease, Permit};
use crate::fence::Fence;
use crate::name::Key;

/// What stands behind a guest's `lease` handle.
#[derive(Debug)]
pub struct HeldLease {
    pub(super) lease: Lease,
    pub(super) owner: Option<String>,
}

/// What stands behind a guest's `permit` handle.
#[derive(Debug)]
pub struct HeldPermit {
    pub(super) permit: Permit,
    pub(super) owner: Option<String>,
}

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
        self.lease.key()
    }

    fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    fn fence(&self) -> Fence {
        self.lease.fence()
    }

    fn is_held(&self) -> bool {
        self.lease.loss().is_none()
    }
}

impl Handle for HeldPermit {
    fn key(&self) -> &Key {
        self.permit.key()
    }

    fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    fn fence(&self) -> Fence {
        self.permit.fence().fence
    }

    fn is_held(&self) -> bool {
        self.permit.loss().is_none()
    }
}
