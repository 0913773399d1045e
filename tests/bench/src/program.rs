//! The guest, compiled and linked as `leases run` does, with an entry that does nothing beside.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use leases::component::{self, LeasesCtx, LeasesCtxView, LeasesView};
use leases::{Grant, Leases, NamePattern, PluginId, Policy, PolicyError, Rate, Scope};
use wasmtime::component::{Component, HasData, Linker, Resource, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::bindings::leases::bench::things;
use crate::bindings::{Bench, BenchPre};

/// The entry behind a handle of which every call is a look-up.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the bindings name it again as public")]
pub struct Thing(u64);

/// What a store keeps.
pub(crate) struct State {
    wasi: WasiCtx,
    leases: LeasesCtx,
    table: ResourceTable,
}

/// What the instances have in common.
pub(crate) struct Program {
    engine: Engine,
    guest: BenchPre<State>,
    scope: Scope,
}

/// What the guest may do: its names, as often as it can. Its rates have an end, so that what they
/// cost is part of the figures.
pub(crate) fn policy() -> Result<Policy, PolicyError> {
    let often = Rate::per_second(1_000_000_000);
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("bench:*")?));
    policy.acquires(often).calls(often).wait_max(Duration::from_secs(600)).build()
}

impl Program {
    /// Compiles and links the guest, in the configuration given.
    pub(crate) fn load(path: &Path, config: &Config, leases: Leases) -> Result<Self> {
        let engine = Engine::new(config)?;
        let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        let component = Component::new(&engine, bytes)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        component::add_to_linker(&mut linker)?;
        things::add_to_linker::<State, HasThings>(&mut linker, State::things)?;
        let guest = BenchPre::new(linker.instantiate_pre(&component)?)?;
        let scope = Scope::new(leases, PluginId::new("bench")?, policy()?);
        Ok(Program { engine, guest, scope })
    }

    /// An instance in a store of its own.
    pub(crate) async fn instantiate(&self) -> Result<(Store<State>, Bench)> {
        self.instantiate_within(self.scope.clone()).await
    }

    /// The same, within another scope.
    pub(crate) async fn instantiate_within(&self, scope: Scope) -> Result<(Store<State>, Bench)> {
        let state = State {
            wasi: WasiCtx::builder().inherit_stderr().build(),
            leases: LeasesCtx::new(scope),
            table: ResourceTable::new(),
        };
        let mut store = Store::new(&self.engine, state);
        let guest = self.guest.instantiate_async(&mut store).await?;
        Ok((store, guest))
    }
}

/// The configuration of `leases run`.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config.concurrency_support(false);
    config
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl LeasesView for State {
    fn leases(&mut self) -> LeasesCtxView<'_> {
        LeasesCtxView { ctx: &mut self.leases, table: &mut self.table }
    }
}

impl State {
    fn things(&mut self) -> Things<'_> {
        Things { table: &mut self.table }
    }
}

pub(crate) struct HasThings;

impl HasData for HasThings {
    type Data<'a> = Things<'a>;
}

pub(crate) struct Things<'a> {
    table: &'a mut ResourceTable,
}

impl things::Host for Things<'_> {}

impl things::HostThing for Things<'_> {
    fn new(&mut self) -> wasmtime::Result<Resource<Thing>> {
        Ok(self.table.push(Thing(1))?)
    }

    fn noop(&mut self, this: Resource<Thing>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&this)?.0)
    }

    async fn noop_async(&mut self, this: Resource<Thing>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&this)?.0)
    }

    fn drop(&mut self, this: Resource<Thing>) -> wasmtime::Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}
