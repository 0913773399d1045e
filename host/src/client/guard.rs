//! The guard that refuses stale writers.

use std::sync::Arc;

use super::leases::Shared;
use crate::clock::Moment;
use crate::error::{Error, ErrorKind, Operation, Quota};
use crate::fence::{Fence, FenceToken, Target, Verdict, check_slot};
use crate::name::Name;
use crate::policy::Allowed;

/// Remembers the greatest fence admitted for a target and refuses those below it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
/// use leases::{Leases, Verdict};
///
/// let leases = Leases::memory();
/// let guard = leases.guard("table:42")?;
/// let stalled = leases.lease("import:42")?.owner("worker").acquire().await?;
/// let current = leases.lease("import:42")?.owner("worker").acquire().await?;
/// assert_eq!(guard.admit(current.fence()).await?, Verdict::Admitted);
/// assert_eq!(guard.admit(stalled.fence()).await?, Verdict::Stale(current.fence()));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Guard {
    shared: Arc<Shared>,
    target: Name,
    allowed: Option<Allowed>,
}

impl Guard {
    pub(crate) fn new(shared: Arc<Shared>, target: Name) -> Self {
        Guard { shared, target, allowed: None }
    }

    /// Makes this a plugin's, by what allows it.
    pub(crate) fn of_plugin(self, allowed: Allowed) -> Self {
        Guard { allowed: Some(allowed), ..self }
    }

    /// Asks whether a write under a lease's [`Fence`] or a permit's
    /// [`SlotFence`](crate::SlotFence) may go ahead. An equal fence is admitted: the same holder
    /// writes again.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable) when the backend did not confirm: do not
    /// write. [`Invalid`](crate::ErrorKind::Invalid) for a slot that no semaphore has.
    /// [`OverQuota`](crate::ErrorKind::OverQuota) for a plugin that asked as often as it may.
    ///
    /// # Cancellation
    /// The fence may have been admitted or not; asking again is safe.
    pub async fn admit(&self, token: impl Into<FenceToken>) -> Result<Verdict, Error> {
        let verdict = self.ask(token.into()).await;
        self.shared.measures.verdict(&verdict);
        verdict
    }

    async fn ask(&self, token: FenceToken) -> Result<Verdict, Error> {
        let (slot, fence) = match token {
            FenceToken::Lease(fence) => (None, fence),
            FenceToken::Permit(at) => (Some(at.slot), at.fence),
        };
        let target = self.target(slot)?;
        self.count(|allowed, now| allowed.take_admit(&target, now))?;
        let verdict = self.shared.backend.admit(&target, fence).await;
        verdict.map_err(|error| Error::backend(error, Operation::Guard, None))
    }

    /// The greatest lease fence admitted for the target, if one was.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable) when the backend did not answer.
    ///
    /// # Cancellation
    /// Nothing happens.
    pub async fn current(&self) -> Result<Option<Fence>, Error> {
        self.greatest(None).await
    }

    /// The greatest fence admitted for one slot of the target, if one was.
    ///
    /// # Errors
    /// As for [`admit`](Guard::admit).
    ///
    /// # Cancellation
    /// Nothing happens.
    pub async fn current_slot(&self, slot: u32) -> Result<Option<Fence>, Error> {
        self.greatest(Some(slot)).await
    }

    async fn greatest(&self, slot: Option<u32>) -> Result<Option<Fence>, Error> {
        let target = self.target(slot)?;
        self.count(Allowed::take_call)?;
        let current = self.shared.backend.current(&target).await;
        current.map_err(|error| Error::backend(error, Operation::Guard, None))
    }

    fn target(&self, slot: Option<u32>) -> Result<Target, Error> {
        let slot = slot.map(check_slot).transpose();
        let slot = slot.map_err(|invalid| Error::invalid(invalid, Operation::Guard))?;
        Ok(Target { name: self.target.clone(), slot })
    }

    /// Counts a question, where a plugin asks it.
    fn count(
        &self,
        count: impl FnOnce(&Allowed, Moment) -> Result<(), Quota>,
    ) -> Result<(), Error> {
        let counted = self.allowed.as_ref().map(|allowed| count(allowed, self.shared.clock.now()));
        let refused = |quota| Error::new(ErrorKind::OverQuota(quota), Operation::Guard, None);
        counted.transpose().map(|_| ()).map_err(refused)
    }
}
