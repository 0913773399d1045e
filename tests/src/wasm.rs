//! The Wasm door: a guest that forwards what a case asks through the guest bindings.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use leases::component::{self, LeasesCtx, LeasesCtxView, LeasesView};
use leases::{Loss, Quota, Scope};
use tokio::sync::Mutex;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::actor::{Failure, Seen, Verdict};
use crate::ask::Ask;
use crate::guests;

mod bindings {
    #![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all)]

    wasmtime::component::bindgen!({
        path: "wit",
        world: "forward",
        exports: { default: async },
        require_store_data_send: true,
    });
}

use bindings::exports::leases::tests::operations as wit;
use bindings::{Forward, ForwardPre};

/// The forwarding guest, compiled and linked.
#[derive(Clone)]
pub struct Program {
    engine: Engine,
    forward: ForwardPre<State>,
}

/// One instance of it, in a store of its own.
#[derive(Clone)]
pub struct Guest(Arc<Mutex<Instance>>);

struct Instance {
    store: Store<State>,
    forward: Forward,
}

/// A hold of the guest's, by its number there.
pub struct Held {
    guest: Guest,
    number: u32,
}

/// What a test's store keeps.
pub struct State {
    wasi: WasiCtx,
    leases: LeasesCtx,
    table: ResourceTable,
}

impl State {
    /// A sandbox with nothing but this scope, and standard error to complain on.
    pub fn new(scope: Scope) -> Self {
        let wasi = WasiCtx::builder().inherit_stderr().build();
        State { wasi, leases: LeasesCtx::new(scope), table: ResourceTable::new() }
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

/// An engine and a linker as a host of plugins has them.
pub fn host() -> (Engine, Linker<State>) {
    let mut config = Config::new();
    config.concurrency_support(false);
    let engine = Engine::new(&config).expect("the engine's settings are right");
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).expect("nothing is linked yet");
    component::add_to_linker(&mut linker).expect("nothing of ours is linked yet");
    (engine, linker)
}

impl Program {
    /// Compiles it.
    pub fn load() -> Self {
        let (engine, linker) = host();
        let component = compiled(&engine, &guests::example("forward"));
        let linked = linker.instantiate_pre(&component).expect("all that it imports is linked");
        Program { engine, forward: ForwardPre::new(linked).expect("it exports operations") }
    }

    /// A new instance within a scope.
    pub async fn start(&self, scope: Scope) -> Guest {
        let mut store = Store::new(&self.engine, State::new(scope));
        let forward = self.forward.instantiate_async(&mut store).await.expect("it starts");
        Guest(Arc::new(Mutex::new(Instance { store, forward })))
    }
}

/// Compiles a guest that the build script made.
pub fn compiled(engine: &Engine, path: &Path) -> Component {
    Component::from_file(engine, path).unwrap_or_else(|error| panic!("{path:?}: {error:#}"))
}

/// Calls one exported operation of a guest; it must not trap.
macro_rules! call {
    ($guest:expr, $operation:ident $(, $argument:expr)*) => {{
        let mut guest = $guest.0.lock().await;
        let Instance { store, forward } = &mut *guest;
        let operations = forward.leases_tests_operations();
        operations.$operation(&mut *store $(, $argument)*).await.expect("the guest does not trap")
    }};
}

impl Guest {
    pub(crate) async fn acquire(&self, ask: Ask) -> Result<Held, Failure> {
        let number = call!(self, call_acquire, &ask.into())?;
        Ok(Held { guest: self.clone(), number })
    }

    pub(crate) async fn admit(
        &self,
        target: &str,
        slot: Option<u32>,
        fence: u64,
    ) -> Result<Verdict, Failure> {
        Ok(match call!(self, call_admit, target, slot, fence)? {
            wit::Verdict::Admitted => Verdict::Admitted,
            wit::Verdict::Stale(greater) => Verdict::Stale(greater),
        })
    }

    pub(crate) async fn current(
        &self,
        target: &str,
        slot: Option<u32>,
    ) -> Result<Option<u64>, Failure> {
        Ok(call!(self, call_current, target, slot)?)
    }

    /// Makes it trap, and keeps its store.
    pub async fn trap(&self) -> wasmtime::Error {
        let mut guest = self.0.lock().await;
        let Instance { store, forward } = &mut *guest;
        let trapped = forward.leases_tests_operations().call_trap(&mut *store).await;
        trapped.expect_err("it traps")
    }

    /// Drops its store, whatever it holds or waits for.
    pub fn kill(self) {
        let alone = Arc::into_inner(self.0);
        drop(alone.expect("nobody else may use a guest that is killed"));
    }
}

impl Held {
    pub(crate) async fn look(&self) -> Seen {
        let seen = call!(self.guest, call_look, self.number);
        Seen {
            name: seen.name,
            owner: seen.owner,
            slot: seen.slot,
            fence: seen.fence,
            remaining: Duration::from_nanos(seen.remaining),
            lost: seen.lost.map(Loss::from),
        }
    }

    pub(crate) async fn refresh(&mut self, ttl: Option<Duration>) -> Result<Duration, Failure> {
        let ttl = ttl.map(nanoseconds);
        Ok(Duration::from_nanos(call!(self.guest, call_refresh, self.number, ttl)?))
    }

    pub(crate) async fn release(self) -> Result<bool, Failure> {
        Ok(call!(self.guest, call_release, self.number)?)
    }

    pub(crate) async fn forget(self) {
        call!(self.guest, call_forget, self.number);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl From<Ask> for wit::Ask {
    fn from(ask: Ask) -> Self {
        wit::Ask {
            kind: match ask.kind {
                leases::Kind::Semaphore => wit::Kind::Semaphore,
                _ => wit::Kind::Lease,
            },
            name: ask.name,
            limit: ask.limit,
            ttl: nanoseconds(ask.ttl),
            keep_alive: ask.keep_alive,
            max_hold: ask.max_hold.map(nanoseconds),
            owner: ask.owner,
            note: ask.note,
            wait: Some(nanoseconds(ask.wait)),
        }
    }
}

impl From<wit::Loss> for Loss {
    fn from(loss: wit::Loss) -> Self {
        match loss {
            wit::Loss::Released => Loss::Released,
            wit::Loss::Expired => Loss::Expired,
            wit::Loss::Superseded => Loss::Superseded,
            wit::Loss::Revoked => Loss::Revoked,
            wit::Loss::MaxHold => Loss::MaxHold,
            wit::Loss::Unconfirmed => Loss::Unconfirmed,
        }
    }
}

impl From<wit::Quota> for Quota {
    fn from(quota: wit::Quota) -> Self {
        match quota {
            wit::Quota::Held => Quota::Held,
            wit::Quota::Waiting => Quota::Waiting,
            wit::Quota::Line => Quota::Line,
            wit::Quota::Rate => Quota::Rate,
        }
    }
}

impl From<wit::Failure> for Failure {
    fn from(failure: wit::Failure) -> Self {
        match failure {
            wit::Failure::Denied => Failure::Denied,
            wit::Failure::Invalid(what) => Failure::Invalid(what),
            wit::Failure::NotAcquired => Failure::NotAcquired,
            wit::Failure::WouldDeadlock => Failure::WouldDeadlock,
            wit::Failure::Lost(loss) => Failure::Lost(loss.into()),
            wit::Failure::OverQuota(quota) => Failure::OverQuota(quota.into()),
            wit::Failure::Unavailable => Failure::Unavailable,
            wit::Failure::Internal(_) => Failure::Internal,
        }
    }
}
