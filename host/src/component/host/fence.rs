//! The interface `fence`.

use crate::client::Guard;
use crate::component::bindings::leases::plugin::fence::{Host, Verdict};
use crate::component::{GuestError, LeasesCtxView};
use crate::error::{Error, Operation};
use crate::fence::{self, Fence, FenceToken, SlotFence};
use crate::invalid::Invalid;

impl Host for LeasesCtxView<'_> {
    async fn admit(&mut self, target: String, fence: u64) -> Result<Verdict, GuestError> {
        let guard = self.ctx.scope.guard(target)?;
        let fence = Fence::new(fence).map_err(invalid)?;
        admit(&guard, fence.into()).await
    }

    async fn admit_slot(
        &mut self,
        target: String,
        slot: u32,
        fence: u64,
    ) -> Result<Verdict, GuestError> {
        let guard = self.ctx.scope.guard(target)?;
        let fence = Fence::new(fence).map_err(invalid)?;
        admit(&guard, SlotFence::new(slot, fence).map_err(invalid)?.into()).await
    }

    async fn current(&mut self, target: String) -> Result<Option<u64>, GuestError> {
        let current = self.ctx.scope.guard(target)?.current().await?;
        Ok(current.map(Fence::as_u64))
    }

    async fn current_slot(&mut self, target: String, slot: u32) -> Result<Option<u64>, GuestError> {
        let current = self.ctx.scope.guard(target)?.current_slot(slot).await?;
        Ok(current.map(Fence::as_u64))
    }
}

async fn admit(guard: &Guard, token: FenceToken) -> Result<Verdict, GuestError> {
    Ok(match guard.admit(token).await? {
        fence::Verdict::Admitted => Verdict::Admitted,
        fence::Verdict::Stale(greater) => Verdict::Stale(greater.as_u64()),
    })
}

fn invalid(invalid: Invalid) -> Error {
    Error::invalid(invalid, Operation::Guard)
}
