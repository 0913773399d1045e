//! What a policy lets through, by real guests: each operation, each bound, each count.

mod counting;
mod namespaces;
mod revoking;
mod scopes;
mod table;

use std::sync::Arc;
use std::time::Duration;

use leases::{
    Backend, Counts, Grant, Leases, ManualClock, NamePattern, PluginId, Policy, PolicyBuilder,
    Scope,
};
use leases_tests::faults::Slow;
use leases_tests::wasm::Program;
use leases_tests::{Actor, Counted, world};

const SECOND: Duration = Duration::from_secs(1);

/// A host of plugins over memory, which counts what it asks of that.
struct Host {
    time: ManualClock,
    counted: Arc<Counted>,
    leases: Leases,
    program: Program,
}

impl Host {
    fn new() -> Self {
        let time = ManualClock::new();
        Host::over(Arc::new(world::memory(&time)), time)
    }

    /// Over a backend that answers later than it is asked, and is given back to in the background.
    fn slow() -> Self {
        let time = ManualClock::new();
        Host::over(Arc::new(Slow::new(Arc::new(world::memory(&time)), 3)), time)
    }

    fn over(backend: Arc<dyn Backend>, time: ManualClock) -> Self {
        let counted = Arc::new(Counted::new(backend));
        let leases = Leases::builder(Arc::clone(&counted) as Arc<dyn Backend>);
        let leases = leases.clock(time.clock()).build();
        Host { time, counted, leases, program: Program::load() }
    }

    fn scope(&self, plugin: &str, policy: PolicyBuilder) -> Scope {
        let policy = policy.build().expect("a policy");
        Scope::new(self.leases.clone(), PluginId::new(plugin).expect("an identity"), policy)
    }

    /// A new instance of a plugin.
    async fn guest(&self, scope: &Scope) -> Actor {
        Actor::Wasm(self.program.start(scope.clone()).await)
    }

    /// A scope and one instance in it.
    async fn plugin(&self, plugin: &str, policy: PolicyBuilder) -> (Scope, Actor) {
        let scope = self.scope(plugin, policy);
        let guest = self.guest(&scope).await;
        (scope, guest)
    }

    /// Returns when nothing of a plugin is left, and nothing is in flight.
    async fn until_gone(&self, scope: &Scope) {
        let gone = async {
            while scope.counts() != Counts::default() || self.counted.in_flight() > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(20 * SECOND, gone).await.expect("nothing of it is left");
        assert!(scope.view().holds.is_empty() && scope.view().waits.is_empty());
    }
}

/// A policy that grants these names.
fn granting(pattern: &str) -> PolicyBuilder {
    Policy::builder().grant(grant(pattern))
}

fn grant(pattern: &str) -> Grant {
    Grant::new(NamePattern::new(pattern).expect("a pattern"))
}
