//! The leases interfaces for a wasmtime host.
//!
//! A store's data keeps a [`LeasesCtx`] and implements [`LeasesView`]; [`add_to_linker`] adds
//! every interface of `wit/v0.2`. A context's [`Scope`](crate::Scope) denies what its policy does not
//! grant, and a plugin that is denied learns it as an error value.
//!
//! What a guest holds is given back when it drops the handle, and at the latest when its `Store` is
//! dropped: wasmtime keeps a trapped or finished guest's handles until then. Drop a store as soon
//! as its call has ended.
//!
//! ```
//! use leases::component::{self, LeasesCtx, LeasesCtxView, LeasesView};
//! use leases::{Leases, PluginId, Policy, Scope};
//! use wasmtime::component::{Linker, ResourceTable};
//! use wasmtime::{Engine, Store};
//!
//! struct State {
//!     table: ResourceTable,
//!     leases: LeasesCtx,
//! }
//!
//! impl LeasesView for State {
//!     fn leases(&mut self) -> LeasesCtxView<'_> {
//!         LeasesCtxView { ctx: &mut self.leases, table: &mut self.table }
//!     }
//! }
//!
//! # fn main() -> wasmtime::Result<()> {
//! let engine = Engine::default();
//! let mut linker = Linker::<State>::new(&engine);
//! component::add_to_linker(&mut linker)?;
//!
//! let policy = Policy::allowing(["import:*"])?;
//! let scope = Scope::new(Leases::memory(), PluginId::new("importer")?, policy);
//! let state = State { table: ResourceTable::new(), leases: LeasesCtx::new(scope) };
//! let store = Store::new(&engine, state);
//! # drop(store); Ok(()) }
//! ```

pub mod bindings;
mod ctx;
mod error;
mod host;
mod limits;
mod resources;

use wasmtime::component::{HasData, Linker};

pub use ctx::{LeasesCtx, LeasesCtxView, LeasesView};
pub use error::GuestError;
pub use limits::bound_allocations;
pub use resources::{HeldLease, HeldPermit};

/// The type through which the linker finds a store's [`LeasesCtxView`].
#[derive(Debug)]
pub struct HasLeases;

impl HasData for HasLeases {
    type Data<'a> = LeasesCtxView<'a>;
}

/// Adds the interfaces `lease`, `semaphore` and `fence` to a linker.
///
/// # Errors
/// When the linker has one of them already.
pub fn add_to_linker<T: LeasesView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    use bindings::leases::plugin;

    plugin::types::add_to_linker::<T, HasLeases>(linker, T::leases)?;
    plugin::lease::add_to_linker::<T, HasLeases>(linker, T::leases)?;
    plugin::semaphore::add_to_linker::<T, HasLeases>(linker, T::leases)?;
    plugin::fence::add_to_linker::<T, HasLeases>(linker, T::leases)
}
