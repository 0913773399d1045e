//! What a store keeps for its guest.

use std::collections::HashMap;

use wasmtime::component::{Resource, ResourceTable};

use super::resources::Handle;
use crate::fence::Fence;
use crate::name::Key;
use crate::scope::Scope;

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
