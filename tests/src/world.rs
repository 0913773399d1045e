//! Where a case takes place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use leases::spec::KeyView;
use leases::{
    Backend, Grant, Key, Kind, Leases, ManualClock, MemoryBackend, MemoryConfig, Name, NamePattern,
    PluginId, Policy, Rate, Scope,
};
use tokio::task::JoinHandle;

use crate::actor::{Actor, Failure, Held};
use crate::ask::Ask;
use crate::counted::Counted;
use crate::rest::Rest;
use crate::setting::Setting;
use crate::{native, wasm};

pub use crate::rest::take_turns;

/// How long a condition may take to come true before a case fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A backend, its time, and the door through which its actors come.
#[derive(Clone)]
pub struct World {
    backend: Arc<dyn Backend>,
    rest: Rest,
    setting: Setting,
    door: Door,
    names: Arc<AtomicU32>,
}

/// How actors reach the engine.
#[derive(Clone)]
pub enum Door {
    /// The Rust API.
    Native,
    /// A guest.
    Wasm(wasm::Program),
}

/// An acquire that runs by itself.
pub struct Acquiring(JoinHandle<Result<Held, Failure>>);

impl World {
    /// A world in a setting.
    pub fn new(setting: Setting, door: Door) -> Self {
        let counted = Arc::new(Counted::new(Arc::clone(&setting.backend)));
        let rest = Rest::new(Arc::clone(&counted), setting.rest.clone());
        World { backend: counted, rest, setting, door, names: Arc::default() }
    }

    /// A world over a backend that does no I/O and whose clock is `time`.
    pub fn in_process(backend: Arc<dyn Backend>, time: ManualClock, door: Door) -> Self {
        World::new(Setting::in_process(backend, time), door)
    }

    /// A world in memory.
    pub fn memory(door: Door) -> Self {
        let time = ManualClock::new();
        World::in_process(Arc::new(memory(&time)), time, door)
    }

    /// The backend itself, but that what is asked of it is counted.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// How many of the backend's operations are in flight.
    pub fn in_flight(&self) -> u64 {
        self.rest.in_flight()
    }

    /// The engine over the backend.
    pub fn leases(&self) -> Leases {
        Leases::builder(Arc::clone(&self.backend)).clock(self.setting.time.clock()).build()
    }

    /// A name of this case's own.
    pub fn name(&self, name: &str) -> String {
        format!("{name}-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// Somebody who may use every name.
    pub async fn actor(&self) -> Actor {
        self.actor_of("tester").await
    }

    /// Somebody who may use every name, as this plugin.
    pub async fn actor_of(&self, plugin: &str) -> Actor {
        match &self.door {
            Door::Native => Actor::Native(native::Program(self.leases())),
            Door::Wasm(program) => Actor::Wasm(program.start(self.scope(plugin)).await),
        }
    }

    /// A plugin's scope on every name.
    pub fn scope(&self, plugin: &str) -> Scope {
        let plugin = PluginId::new(plugin).expect("a plugin's identity");
        let every_name = Grant::new(NamePattern::new("*").expect("every name"));
        let policy = Policy::builder().grant(every_name);
        // Cases ask as often as they need to, by a clock that stands still.
        let policy = policy.acquires(Rate::UNLIMITED).calls(Rate::UNLIMITED).build();
        Scope::new(self.leases(), plugin, policy.expect("a policy"))
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        self.setting.time.advance(time);
    }

    /// Returns when everybody sleeps: no operation is in flight, every wake-up that was sent has
    /// come, and whoever could run has run. Fails when that does not come true.
    pub async fn settle(&self) {
        self.rest.reached().await;
    }

    /// Lets others, and the runtime's I/O, go on before a condition is looked at again.
    pub async fn go_on(&self) {
        self.rest.go_on().await;
    }

    /// Lets time pass as it does: step by step, and whoever wakes in between acts.
    pub async fn pass_slowly(&self, time: Duration) {
        let step = Duration::from_millis(50);
        let mut left = time;
        while !left.is_zero() {
            let step = step.min(left);
            self.pass(step);
            self.settle().await;
            left -= step;
        }
    }

    /// Who holds and who waits.
    pub async fn view(&self, ask: &Ask) -> KeyView {
        self.backend.inspect(&key(ask)).await.expect("the backend answers")
    }

    /// Somebody new who waits in line: returns when the ticket is there and its waiter sleeps.
    pub async fn in_line(&self, ask: &Ask) -> Acquiring {
        let before = self.view(ask).await.waiters.len();
        let acquiring = acquiring(&self.actor().await, ask.clone());
        self.until(&format!("{} has {} waiters", ask.name, before + 1), async || {
            self.view(ask).await.waiters.len() == before + 1
        })
        .await;
        self.settle().await;
        acquiring
    }

    /// Returns when nobody holds and nobody waits.
    pub async fn until_free(&self, ask: &Ask) {
        self.until(&format!("{} is free", ask.name), async || {
            self.view(ask).await == KeyView::default()
        })
        .await;
    }

    /// Returns when a condition is true; fails when it does not come true.
    pub async fn until(&self, what: &str, mut condition: impl AsyncFnMut() -> bool) {
        let watched = async {
            while !condition().await {
                self.go_on().await;
            }
        };
        in_time(what, watched).await;
    }
}

/// What must come true, which fails when it does not.
pub(crate) async fn in_time<T>(what: &str, coming: impl Future<Output = T>) -> T {
    let in_time = tokio::time::timeout(PATIENCE, coming).await;
    in_time.unwrap_or_else(|_| panic!("in {PATIENCE:?} it did not come true that {what}"))
}

/// An acquire of this actor, by itself.
pub fn acquiring(actor: &Actor, ask: Ask) -> Acquiring {
    let actor = actor.clone();
    Acquiring(tokio::spawn(async move { actor.acquire(ask).await }))
}

/// An acquire of this request, by itself.
pub fn acquiring_with(request: leases::Request<leases::Lease>) -> Acquiring {
    Acquiring(tokio::spawn(async move {
        let held = request.acquire().await?;
        Ok(Held::Native(native::Held::Lease(held)))
    }))
}

impl Acquiring {
    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// What it ended in; fails when it does not end.
    pub async fn end(self) -> Result<Held, Failure> {
        let in_time = tokio::time::timeout(PATIENCE, self.0).await;
        in_time.expect("an acquire that should have ended still waits").expect("it does not panic")
    }

    /// The hold it must end in.
    pub async fn held(self) -> Held {
        self.end().await.unwrap_or_else(|failure| panic!("it must be admitted: {failure:?}"))
    }

    /// Drops its future, whatever it does.
    pub async fn cancel(self) {
        self.0.abort();
        drop(self.0.await);
    }
}

/// The memory backend by a clock that stands still until it is moved.
pub fn memory(time: &ManualClock) -> MemoryBackend {
    MemoryBackend::new(MemoryConfig { clock: time.clock(), ..MemoryConfig::default() })
}

/// The key of an ask.
pub fn key(ask: &Ask) -> Key {
    let name = Name::new(&ask.name).expect("a name");
    let kind = if ask.kind == Kind::Semaphore { Kind::Semaphore } else { Kind::Lease };
    Key { kind, name }
}
