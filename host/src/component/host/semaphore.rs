//! The interface `semaphore`.

use std::time::Duration;

use wasmtime::component::Resource;

use super::to_wit;
use crate::component::bindings::leases::plugin::semaphore::{Host, HostPermit};
use crate::component::bindings::leases::plugin::types::{Loss, Terms};
use crate::component::resources::HeldPermit;
use crate::component::{GuestError, LeasesCtxView};

impl Host for LeasesCtxView<'_> {
    async fn acquire(
        &mut self,
        name: String,
        limit: u32,
        terms: Terms,
        wait: Option<u64>,
    ) -> Result<Resource<HeldPermit>, GuestError> {
        let request = self.ctx.scope.semaphore(name, limit)?;
        self.acquire(request, terms, wait, HeldPermit).await
    }
}

impl HostPermit for LeasesCtxView<'_> {
    fn name(&mut self, this: Resource<HeldPermit>) -> wasmtime::Result<String> {
        Ok(self.table.get(&this)?.0.name().to_owned())
    }

    fn owner(&mut self, this: Resource<HeldPermit>) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&this)?.0.owner().map(str::to_owned))
    }

    fn slot(&mut self, this: Resource<HeldPermit>) -> wasmtime::Result<u32> {
        Ok(self.table.get(&this)?.0.slot())
    }

    fn fence(&mut self, this: Resource<HeldPermit>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&this)?.0.fence().fence.as_u64())
    }

    fn remaining(&mut self, this: Resource<HeldPermit>) -> wasmtime::Result<u64> {
        Ok(to_wit(self.table.get(&this)?.0.remaining()))
    }

    fn lost(&mut self, this: Resource<HeldPermit>) -> wasmtime::Result<Option<Loss>> {
        Ok(self.table.get(&this)?.0.loss().map(Loss::from))
    }

    async fn refresh(
        &mut self,
        this: Resource<HeldPermit>,
        ttl: Option<u64>,
    ) -> Result<u64, GuestError> {
        let permit = &mut self.table.get_mut(&this)?.0;
        let remaining = match ttl {
            None => permit.refresh().await?,
            Some(ttl) => permit.refresh_for(Duration::from_nanos(ttl)).await?,
        };
        Ok(to_wit(remaining))
    }

    async fn release(&mut self, this: Resource<HeldPermit>) -> Result<bool, GuestError> {
        Ok(self.take(this)?.0.release().await?)
    }

    fn drop(&mut self, this: Resource<HeldPermit>) -> wasmtime::Result<()> {
        self.give_back(this)
    }
}
