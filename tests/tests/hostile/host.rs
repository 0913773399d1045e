//! A host as a careful one is: it stops what computes, bounds what is allocated, and drops a store
//! as soon as its call has ended.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use leases::Scope;
use leases::component::{self, LeasesCtx, LeasesCtxView, LeasesView};
use leases_tests::{guests, wasm};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store, StoreLimits, StoreLimitsBuilder, UpdateDeadline};
use wasmtime_wasi::p2::bindings::Command;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// How often whoever computes makes room for others.
const TICK: Duration = Duration::from_millis(5);
/// How much a guest may print.
const PRINTED_MAX: usize = 64 << 10;

static HOST: LazyLock<Host> = LazyLock::new(Host::new);

struct Host {
    engine: Engine,
    linker: Linker<State>,
    compiled: Mutex<HashMap<String, Component>>,
}

/// What a guest's store keeps.
struct State {
    wasi: WasiCtx,
    leases: LeasesCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

/// What one guest is given.
pub(crate) struct Sandbox {
    /// Its file's name, and its arguments.
    pub(crate) command: Vec<String>,
    pub(crate) scope: Scope,
    /// How much memory it may have.
    pub(crate) memory: usize,
    pub(crate) computes: Computes,
    /// What it prints, on standard output and on standard error.
    pub(crate) said: MemoryOutputPipe,
    pub(crate) complained: MemoryOutputPipe,
}

/// What is done to a guest that computes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Computes {
    /// It makes room for others at each tick, and goes on.
    InTurns,
    /// So it does, and is stopped with a trap after so many ticks of its own.
    For(u64),
}

impl Host {
    fn new() -> Self {
        let mut config = Config::new();
        config.concurrency_support(false).epoch_interruption(true);
        let engine = Engine::new(&config).expect("the engine's settings are right");
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).expect("nothing is linked yet");
        component::add_to_linker(&mut linker).expect("nothing of ours is linked yet");
        let ticking = engine.clone();
        thread::spawn(move || {
            loop {
                thread::sleep(TICK);
                ticking.increment_epoch();
            }
        });
        Host { engine, linker, compiled: Mutex::default() }
    }
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

impl Sandbox {
    pub(crate) fn new(command: Vec<String>, scope: Scope) -> Self {
        let (said, complained) =
            (MemoryOutputPipe::new(PRINTED_MAX), MemoryOutputPipe::new(PRINTED_MAX));
        Sandbox { command, scope, memory: 8 << 20, computes: Computes::InTurns, said, complained }
    }

    /// The component, which is compiled once, where nobody else waits for it.
    pub(crate) async fn compiled(&self) -> Component {
        let name = self.command.first().expect("a command has a name").clone();
        let compiled = tokio::task::spawn_blocking(move || {
            let compile = || wasm::compiled(&HOST.engine, &guests::command(&name));
            let mut compiled = HOST.compiled.lock().unwrap_or_else(PoisonError::into_inner);
            compiled.entry(name.clone()).or_insert_with(compile).clone()
        });
        compiled.await.expect("it can be compiled")
    }

    fn store(&self) -> Store<State> {
        let mut wasi = WasiCtx::builder();
        wasi.args(&self.command).stdout(self.said.clone()).stderr(self.complained.clone());
        let limits = StoreLimitsBuilder::new()
            .memory_size(self.memory)
            .table_elements(10_000)
            .instances(10)
            .tables(10)
            .memories(2)
            .build();
        let leases = LeasesCtx::new(self.scope.clone());
        let state = State { wasi: wasi.build(), leases, table: ResourceTable::new(), limits };
        let mut store = Store::new(&HOST.engine, state);
        store.limiter(|state| &mut state.limits);
        component::bound_allocations(&mut store);
        let mut ticks = match self.computes {
            Computes::InTurns => u64::MAX,
            Computes::For(ticks) => ticks,
        };
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            ticks = ticks.saturating_sub(1);
            Ok(match ticks {
                0 => UpdateDeadline::Interrupt,
                // The runtime's own way of making room. A plain yield wakes its task at once, and
                // the runtime looks after its timers only once in 61 turns.
                _ => UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())),
            })
        });
        store
    }

    /// Runs it to its end. Its store is gone when this returns or is dropped.
    pub(crate) async fn run(&self, component: &Component) -> wasmtime::Result<Result<(), ()>> {
        let mut store = self.store();
        let command = Command::instantiate_async(&mut store, component, &HOST.linker).await?;
        command.wasi_cli_run().call_run(&mut store).await
    }
}
