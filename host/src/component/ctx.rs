//! What a store keeps for its guest.

use std::collections::HashMap;

use wasmtime::component::{Resource, ResourceTable};

use super::resources::Handle;
use crate::fence::Fence;
use crate::name::Key;
use crate::policy::Scope;

/// A guest's access to leases: its scope, and what its instance holds.
#[derive(Debug)]
pub struct LeasesCtx {
    pub(super) scope: Scope,
    pub(super) holding: Holding,
}

/// A store's [`LeasesCtx`] and resource table, borrowed for one call.
#[derive(Debug)]
pub struct LeasesCtxView<'a> {
    /// The context.
    pub ctx: &'a mut LeasesCtx,
    /// The table in which the guest's handles are.
    pub table: &'a mut ResourceTable,
}

/// Implemented by the data of a store whose guest may use leases.
pub trait LeasesView: Send {
    /// The context and the table.
    fn leases(&mut self) -> LeasesCtxView<'_>;
}

/// The handles of one instance, by what they hold.
#[derive(Debug, Default)]
pub(super) struct Holding(HashMap<Key, Vec<u32>>);

impl LeasesCtx {
    /// Access for one guest within this scope. A store of its own for each instance: what an
    /// instance would wait for in vain is judged by what its store holds.
    pub fn new(scope: Scope) -> Self {
        LeasesCtx { scope, holding: Holding::default() }
    }
}

impl Holding {
    pub(super) fn add(&mut self, key: Key, handle: u32) {
        self.0.entry(key).or_default().push(handle);
    }

    pub(super) fn remove(&mut self, key: &Key, handle: u32) {
        if let Some(handles) = self.0.get_mut(key) {
            handles.retain(|held| *held != handle);
            if handles.is_empty() {
                self.0.remove(key);
            }
        }
    }
}

impl LeasesCtxView<'_> {
    /// The fences of what this instance holds of a key, as far as it knows. None of them when one
    /// is the same owner's: an ask of that owner would take it over, and wait for nobody.
    pub(super) fn own_fences<H: Handle>(&self, key: &Key, owner: Option<&str>) -> Vec<Fence> {
        let mut fences = Vec::new();
        for handle in self.ctx.holding.0.get(key).into_iter().flatten() {
            let borrowed = Resource::<H>::new_borrow(*handle);
            let Ok(holds) = self.table.get(&borrowed) else { continue };
            if holds.is_held() {
                if owner.is_some() && holds.owner() == owner {
                    return Vec::new();
                }
                fences.push(holds.fence());
            }
        }
        fences
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::bindings::leases::plugin::lease::{Host, HostLease};
    use crate::component::bindings::leases::plugin::types::Terms;
    use crate::{Leases, PluginId, Policy};

    /// A guest that takes and gives back without end must not make its host grow.
    #[tokio::test]
    async fn a_handle_that_is_gone_is_not_remembered() {
        let policy = Policy::allowing(["*"]).unwrap();
        let scope = Scope::new(Leases::memory(), PluginId::new("plugin").unwrap(), policy);
        let (mut ctx, mut table) = (LeasesCtx::new(scope), ResourceTable::new());
        let mut view = LeasesCtxView { ctx: &mut ctx, table: &mut table };
        let ttl = 1_000_000_000;
        let terms = Terms { ttl, keep_alive: false, max_hold: None, owner: None, note: None };
        let dropped =
            Host::acquire(&mut view, "a".to_owned(), terms.clone(), Some(0)).await.unwrap();
        let released = Host::acquire(&mut view, "b".to_owned(), terms, Some(0)).await.unwrap();
        assert_eq!(view.ctx.holding.0.len(), 2);
        HostLease::drop(&mut view, dropped).unwrap();
        assert!(HostLease::release(&mut view, released).await.unwrap());
        assert!(ctx.holding.0.is_empty());
        assert!(table.is_empty());
    }
}
