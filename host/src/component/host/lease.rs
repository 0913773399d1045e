//! The interface `lease`.

use std::time::Duration;

use wasmtime::component::Resource;

use super::to_wit;
use crate::component::bindings::leases::plugin::lease::{Host, HostLease};
use crate::component::bindings::leases::plugin::types::{Loss, Terms};
use crate::component::resources::HeldLease;
use crate::component::{GuestError, LeasesCtxView};

impl Host for LeasesCtxView<'_> {
    async fn acquire(
        &mut self,
        name: String,
        terms: Terms,
        wait: Option<u64>,
    ) -> Result<Resource<HeldLease>, GuestError> {
        let request = self.ctx.scope.lease(name)?;
        self.acquire(request, terms, wait, HeldLease).await
    }
}

impl HostLease for LeasesCtxView<'_> {
    fn name(&mut self, this: Resource<HeldLease>) -> wasmtime::Result<String> {
        Ok(self.table.get(&this)?.0.name().to_owned())
    }

    fn owner(&mut self, this: Resource<HeldLease>) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&this)?.0.owner().map(str::to_owned))
    }

    fn fence(&mut self, this: Resource<HeldLease>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&this)?.0.fence().as_u64())
    }

    fn remaining(&mut self, this: Resource<HeldLease>) -> wasmtime::Result<u64> {
        Ok(to_wit(self.table.get(&this)?.0.remaining()))
    }

    fn lost(&mut self, this: Resource<HeldLease>) -> wasmtime::Result<Option<Loss>> {
        Ok(self.table.get(&this)?.0.loss().map(Loss::from))
    }

    async fn refresh(
        &mut self,
        this: Resource<HeldLease>,
        ttl: Option<u64>,
    ) -> Result<u64, GuestError> {
        let lease = &mut self.table.get_mut(&this)?.0;
        let remaining = match ttl {
            None => lease.refresh().await?,
            Some(ttl) => lease.refresh_for(Duration::from_nanos(ttl)).await?,
        };
        Ok(to_wit(remaining))
    }

    async fn release(&mut self, this: Resource<HeldLease>) -> Result<bool, GuestError> {
        Ok(self.take(this)?.0.release().await?)
    }

    fn drop(&mut self, this: Resource<HeldLease>) -> wasmtime::Result<()> {
        self.give_back(this)
    }
}
