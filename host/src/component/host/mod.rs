//! One file per interface of the contract: convert, call, convert.

mod fence;
mod lease;
mod semaphore;
mod types;

use std::time::Duration;

use wasmtime::component::{Resource, ResourceTableError};

use super::bindings::leases::plugin::types::Terms;
use super::ctx::LeasesCtxView;
use super::error::GuestError;
use super::resources::Handle;
use crate::client::{Hold, Request, Wait};
use crate::error::Error;
use crate::fence::Fence;
use crate::name::Key;
use crate::policy::Scope;

/// The contract's durations are u64 nanoseconds; none of ours comes near the greatest.
fn to_wit(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Puts a guest's terms into a request.
fn with_terms<H: Hold>(request: Request<H>, terms: &Terms) -> Request<H> {
    let mut request = request.ttl(Duration::from_nanos(terms.ttl));
    if terms.keep_alive {
        request = request.keep_alive();
    }
    if let Some(max_hold) = terms.max_hold {
        request = request.max_hold(Duration::from_nanos(max_hold));
    }
    if let Some(owner) = &terms.owner {
        request = request.owner(owner.as_str());
    }
    if let Some(note) = &terms.note {
        request = request.note(note.as_str());
    }
    request
}

/// Whether an ask for one of `limit` places would wait for its very instance, which holds all of
/// them under its `own` fences. What it believes to hold may have been ended by others, unknown to
/// it, so then the backend is asked too.
async fn would_deadlock(
    scope: &Scope,
    key: &Key,
    limit: u32,
    own: &[Fence],
) -> Result<bool, Error> {
    let limit = limit as usize;
    Ok(own.len() >= limit && scope.held_among(key, own).await? >= limit)
}

impl LeasesCtxView<'_> {
    /// Acquires what a guest asks for, within the host's bound on waiting.
    async fn acquire<H: Hold, E: Handle>(
        &mut self,
        request: Request<H>,
        terms: Terms,
        wait: Option<u64>,
        entry: impl FnOnce(H) -> E,
    ) -> Result<Resource<E>, GuestError> {
        let wait = wait.map_or(Wait::Forever, |wait| Duration::from_nanos(wait).into());
        let request = with_terms(request, &terms);
        let asking = request.begin(wait)?;
        let (key, limit) = (asking.key(), asking.limit());
        let own = self.own_fences::<E>(key, terms.owner.as_deref());
        if asking.may_wait() && would_deadlock(&self.ctx.scope, key, limit, &own).await? {
            return Err(asking.would_deadlock().into());
        }
        let held = asking.acquire().await?;
        // From here on without an await: the hold is in the table in the poll that returns it.
        let entry = entry(held);
        let key = entry.key().clone();
        let handle = self.table.push(entry)?;
        self.ctx.holding.add(key, handle.rep());
        Ok(handle)
    }

    /// Takes an entry out of the table, before anything is awaited. A handle that is none traps.
    fn take<E: Handle>(&mut self, handle: Resource<E>) -> Result<E, ResourceTableError> {
        let number = handle.rep();
        let entry = self.table.delete(handle)?;
        self.ctx.holding.remove(entry.key(), number);
        Ok(entry)
    }

    /// A guest dropped a handle: its entry's own drop gives back what it holds.
    fn give_back<E: Handle>(&mut self, handle: Resource<E>) -> wasmtime::Result<()> {
        drop(self.take(handle)?);
        Ok(())
    }
}
