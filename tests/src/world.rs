//! Where a case takes place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use leases::spec::KeyView;
use leases::{
    Backend, Key, Kind, Leases, ManualClock, MemoryBackend, MemoryConfig, Name, NamePattern,
    PluginId, Scope,
};
use tokio::task::JoinHandle;

use crate::actor::{Actor, Failure, Held};
use crate::ask::Ask;
use crate::{native, wasm};

/// How long a condition may take to come true before a case fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A backend, its time, and the door through which its actors come.
#[derive(Clone)]
pub struct World {
    backend: Arc<dyn Backend>,
    time: ManualClock,
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
    /// A world over a backend whose clock is `time`.
    pub fn new(backend: Arc<dyn Backend>, time: ManualClock, door: Door) -> Self {
        World { backend, time, door, names: Arc::default() }
    }

    /// A world in memory.
    pub fn memory(door: Door) -> Self {
        let time = ManualClock::new();
        World::new(Arc::new(memory(&time)), time, door)
    }

    /// The backend itself.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// The engine over the backend.
    pub fn leases(&self) -> Leases {
        Leases::builder(Arc::clone(&self.backend)).clock(self.time.clock()).build()
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
        Scope::new(self.leases(), plugin).allow(NamePattern::new("*").expect("every name"))
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        self.time.advance(time);
    }

    /// Lets time pass as it does: step by step, and whoever wakes in between acts.
    pub async fn pass_slowly(&self, time: Duration) {
        let step = Duration::from_millis(50);
        let mut left = time;
        while !left.is_zero() {
            let step = step.min(left);
            self.pass(step);
            settle().await;
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
        settle().await;
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
    pub async fn until(&self, what: &str, condition: impl AsyncFn() -> bool) {
        let watched = async {
            while !condition().await {
                tokio::task::yield_now().await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, watched).await;
        in_time.unwrap_or_else(|_| panic!("in {PATIENCE:?} it did not come true that {what}"));
    }
}

/// Lets every task that can run do so, for more turns than any of them takes. On the one thread of
/// a case that leaves all of them asleep.
pub async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
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
