//! Where a hostile guest acts, and what must be so when it has.
//!
//! Of the guest nothing is left: no hold and no waiter on any key that the backend ever saw, no
//! count of its plugin, no operation in flight. Every name that it reached is its own, or the shared
//! one. The victim holds what it held, waits where it waited, was never starved, and goes on. The
//! memory of the host did not grow by more than a bound.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leases::{
    Backend, Clock, Counts, Grant, Leases, MemoryBackend, MemoryConfig, NamePattern, PluginId,
    Policy, PolicyBuilder, Prefix, Primitive, Rate, Scope,
};
use leases_tests::Counted;
use leases_tests::faults::{Remote, Slow};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::heap;
use crate::host::{Computes, Sandbox};
use crate::recording::Recording;
use crate::seen::{Ending, Seen};
use crate::victim::{self, Victim};

/// How long anything may take that must come true. Far less than the ttl of what guests hold: what
/// is gone by then was given back.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a guest may go on with what it does once it has said that it does it.
const GOES_ON: Duration = Duration::from_millis(100);
/// What the host may allocate for one guest: 2 MiB are what a call may hand over, and the rest, its
/// instance and the names that backend and test remember of it, is less than that again.
const ALLOCATED_MAX: usize = 4 << 20;
/// What may be resident beside a guest's own memory: that, freed memory that the allocator has not
/// given back, the guest's stack and code, and what the victim and this process do meanwhile.
const RESIDENT_BESIDE_MAX: usize = 16 << 20;

/// One at a time: the memory is this process's.
static ALONE: Mutex<()> = Mutex::const_new(());

/// A backend on which a victim works, and what the hostile plugin may do there.
pub(crate) struct Stage {
    leases: Leases,
    counted: Arc<Counted>,
    recording: Arc<Recording>,
    /// The hostile plugin's.
    pub(crate) scope: Scope,
    victim: Victim,
}

/// A guest, and what its host does with it.
#[derive(Clone)]
pub(crate) struct Guest {
    command: Vec<String>,
    memory: usize,
    allocated_max: usize,
    computes: Computes,
    /// What it says when it does what it does for ever; it is stopped some time after that.
    stopped_after: Option<&'static str>,
}

impl Guest {
    pub(crate) fn named(name: &str) -> Self {
        Guest {
            command: vec![name.to_owned()],
            memory: 8 << 20,
            allocated_max: ALLOCATED_MAX,
            computes: Computes::InTurns,
            stopped_after: None,
        }
    }

    pub(crate) fn args<A: ToString>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.extend(args.into_iter().map(|arg| arg.to_string()));
        self
    }

    /// Its call is dropped some time after it has said this.
    pub(crate) fn stopped_after(self, said: &'static str) -> Self {
        Guest { stopped_after: Some(said), ..self }
    }

    pub(crate) fn memory(self, memory: usize) -> Self {
        Guest { memory, ..self }
    }

    pub(crate) fn allocated_max(self, allocated_max: usize) -> Self {
        Guest { allocated_max, ..self }
    }

    pub(crate) fn computes(self, computes: Computes) -> Self {
        Guest { computes, ..self }
    }

    /// Runs it; its store is gone when this returns.
    async fn run(self, sandbox: Sandbox) -> (Ending, Sandbox) {
        let component = sandbox.compiled().await;
        let ending = tokio::select! {
            result = sandbox.run(&component) => result.into(),
            () = self.time_to_stop(&sandbox) => Ending::Stopped,
            () = tokio::time::sleep(3 * PATIENCE) => panic!("it does not end: {}", said(&sandbox)),
        };
        (ending, sandbox)
    }

    async fn time_to_stop(&self, sandbox: &Sandbox) {
        let Some(awaited) = self.stopped_after else { return std::future::pending().await };
        while !said(sandbox).lines().any(|line| line == awaited) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(GOES_ON).await;
    }
}

/// Acts over every kind of backend: one that does everything at once, one whose operations can be
/// dropped at any point of their way, and one at the end of a network.
pub(crate) async fn on_every_backend(act: impl AsyncFn(&Stage)) {
    on_every_backend_by(&policy().build().expect("a policy"), act).await;
}

/// The same, by a policy of its own.
pub(crate) async fn on_every_backend_by(policy: &Policy, act: impl AsyncFn(&Stage)) {
    let _alone = ALONE.lock().await;
    for backend in backends() {
        let stage = Stage::new(backend, policy.clone()).await;
        act(&stage).await;
        stage.end().await;
    }
}

/// One of each kind.
pub(crate) fn backends() -> [Arc<dyn Backend>; 3] {
    let memory = || Arc::new(MemoryBackend::new(MemoryConfig::default()));
    [memory(), Arc::new(Slow::new(memory(), 3)), Arc::new(Remote::new(Clock::system()))]
}

/// Little, behind a prefix, and the shared name.
pub(crate) fn policy() -> PolicyBuilder {
    let holding = [Primitive::Lease, Primitive::Semaphore];
    bounds()
        .grant(Grant::new(pattern("own/*")).prefix(prefix()))
        .grant(Grant::new(pattern("shared")).primitives(holding))
}

/// The same bounds, and nothing granted.
pub(crate) fn bounds() -> PolicyBuilder {
    Policy::builder()
        .held(8)
        .waiting(4)
        .acquires(Rate::per_second(500))
        .calls(Rate::per_second(500))
        .ttl_max(Duration::from_secs(60))
        .hold_max(Duration::from_secs(60))
        .wait_max(Duration::from_millis(300))
        .limit_max(16)
}

pub(crate) fn pattern(pattern: &str) -> NamePattern {
    NamePattern::new(pattern).expect("a pattern")
}

pub(crate) fn prefix() -> Prefix {
    Prefix::new("mallory/").expect("a prefix")
}

impl Stage {
    async fn new(backend: Arc<dyn Backend>, policy: Policy) -> Self {
        let recording = Arc::new(Recording::new(backend));
        let counted = Arc::new(Counted::new(Arc::clone(&recording) as Arc<dyn Backend>));
        let leases = Leases::builder(Arc::clone(&counted) as Arc<dyn Backend>).build();
        let plugin = PluginId::new("mallory").expect("an identity");
        let scope = Scope::new(leases.clone(), plugin, policy);
        let victim = Victim::begin(&leases).await;
        Stage { leases, counted, recording, scope, victim }
    }

    /// Runs one guest, and checks what must be so after it.
    pub(crate) async fn run(&self, guest: Guest) -> Seen {
        let mut seen = self.run_all([guest]).await;
        seen.pop().expect("one ran")
    }

    /// Runs some together, and checks what must be so after them.
    pub(crate) async fn run_all(&self, guests: impl IntoIterator<Item = Guest>) -> Vec<Seen> {
        let mut sandboxed = Vec::new();
        for guest in guests {
            let mut sandbox = Sandbox::new(guest.command.clone(), self.scope.clone());
            (sandbox.memory, sandbox.computes) = (guest.memory, guest.computes);
            sandbox.compiled().await;
            sandboxed.push((guest, sandbox));
        }
        let most = |of: fn(&Guest) -> usize| sandboxed.iter().map(|(guest, _)| of(guest)).sum();
        let allocated_max: usize = most(|guest| guest.allocated_max);
        let resident_max = RESIDENT_BESIDE_MAX + most(|guest| guest.memory + guest.allocated_max);
        let watched = heap::watch();
        let mut running = JoinSet::new();
        for (guest, sandbox) in sandboxed {
            running.spawn(guest.run(sandbox));
        }
        let ended = running.join_all().await;
        self.nothing_is_left().await;
        let growth = watched.growth();
        let seen = |(ending, sandbox): (Ending, Sandbox)| {
            let complained = String::from_utf8_lossy(&sandbox.complained.contents()).into_owned();
            Seen { ending, said: said(&sandbox), complained, growth }
        };
        let seen: Vec<Seen> = ended.into_iter().map(seen).collect();
        assert!(growth.allocated < bytes(allocated_max), "the host's memory grew: {seen:#?}");
        assert!(growth.resident < bytes(resident_max), "the process grew: {seen:#?}");
        seen
    }

    /// Nothing of the hostile plugin is left, and the victim is unharmed.
    async fn nothing_is_left(&self) {
        for key in self.recording.keys() {
            let name = key.name.as_str();
            assert!(name.starts_with("mallory/") || victim::is_used(name), "it reached {key}");
            if name.starts_with("mallory/") {
                self.until(&format!("{key} is free"), async || {
                    let view = self.leases.inspect(&key).await.expect("it answers");
                    view.holders.is_empty() && view.waiters.is_empty()
                })
                .await;
            }
        }
        for target in self.recording.targets() {
            assert!(target.starts_with("mallory/"), "it reached the guard of {target}");
        }
        self.until("it counts for nothing", async || {
            let view = self.scope.view();
            self.scope.counts() == Counts::default()
                && view.holds.is_empty()
                && view.waits.is_empty()
        })
        .await;
        self.until("the line is the victim's alone", async || {
            self.victim.is_alone(&self.leases).await
        })
        .await;
    }

    async fn end(self) {
        self.victim.end().await;
        let in_flight = tokio::time::timeout(PATIENCE, self.counted.all_ended()).await;
        in_flight.expect("no operation is in flight for ever");
        for key in self.recording.keys() {
            let view = self.recording.inner().inspect(&key).await.expect("it answers");
            assert!(view.holders.is_empty() && view.waiters.is_empty(), "{key}: {view:?}");
        }
    }

    /// Returns when a condition is true; at once where everything happens at once.
    async fn until(&self, what: &str, condition: impl AsyncFn() -> bool) {
        let began = Instant::now();
        while !condition().await {
            let at_once = self.recording.inner().properties().at_once;
            assert!(!at_once && began.elapsed() < PATIENCE, "it did not come true that {what}");
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }
}

fn said(sandbox: &Sandbox) -> String {
    String::from_utf8_lossy(&sandbox.said.contents()).into_owned()
}

fn bytes(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
