//! What a store keeps for its guest.

use std::collections::HashMap;

use wasmtime::component::ResourceTable;

use super::resources::Handle;
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
    /// Whether an ask for one of `limit` places would wait for this very instance: it holds all of
    /// them, and none as the same owner, which would take it over.
    pub(super) fn would_deadlock<H: Handle>(
        &self,
        key: &Key,
        limit: u32,
        owner: Option<&str>,
    ) -> bool {
        let Some(handles) = self.ctx.holding.0.get(key) else { return false };
        let mut held = 0;
        for handle in handles {
            let borrowed = wasmtime::component::Resource::<H>::new_borrow(*handle);
            match self.table.get(&borrowed) {
                Ok(holds) if holds.is_held() => {
                    if owner.is_some() && holds.owner() == owner {
                        return false;
                    }
                    held += 1;
                }
                _ => {}
            }
        }
        held >= limit
    }
}
