//! A thousand instances of one plugin that wait for one name.

use std::time::{Duration, Instant};

use leases::{Counts, Grant, NamePattern, PluginId, Policy, Rate, Scope};
use leases_tests::wasm::Program;
use leases_tests::{Actor, Ask, Door, Failure, World, lease};
use tokio::task::JoinSet;

const INSTANCES: u32 = 1000;
const NAME: &str = "crowd:door";

/// The line of a thousand whose stores are dropped is to be empty within 100 ms, which
/// `cargo xtask bench waiting` measures. Here it has ten times as long, for a build that is not
/// optimised on a machine that has other work.
const EMPTY_WITHIN: Duration = Duration::from_secs(1);

/// What they may do together: no more than that all wait at once.
fn scope(world: &World) -> Scope {
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("crowd:*").unwrap()));
    let policy = policy.held(INSTANCES).acquires(Rate::UNLIMITED).build().unwrap();
    Scope::new(world.leases(), PluginId::new("crowd").unwrap(), policy)
}

/// Instances that take the name and give it back, by the fences of their grants.
type Crowd = JoinSet<Result<(u64, u32), Failure>>;

/// Puts all of them in line, one after the other.
async fn line_up(world: &World, program: &Program, scope: &Scope, ask: &Ask) -> Crowd {
    let mut crowd = JoinSet::new();
    for number in 0..INSTANCES {
        let instance = Actor::Wasm(program.start(scope.clone()).await);
        let asked = ask.clone();
        crowd.spawn(async move {
            let held = instance.acquire(asked).await?;
            let fence = held.fence().await;
            assert!(held.release().await?);
            Ok((fence, number))
        });
        let in_line = format!("{} wait", number + 1);
        world.until(&in_line, async || world.view(ask).await.waiters.len() > number as usize).await;
    }
    crowd
}

#[tokio::test]
async fn a_thousand_waiting_instances_are_admitted_in_order_and_dropped_at_once() {
    let program = Program::load();
    let world = World::memory(Door::Wasm(program.clone()));
    let (scope, ask) = (scope(&world), lease(NAME).waiting());
    let host = world.leases();
    let closed = host.lease(NAME).unwrap().ttl(Duration::from_secs(600));
    let (waiting, none) = (Counts { held: INSTANCES, waiting: INSTANCES }, Counts::default());

    let held = closed.acquire().await.unwrap();
    let mut crowd = line_up(&world, &program, &scope, &ask).await;
    assert_eq!(scope.counts(), waiting, "each ask as the hold that it may become");
    drop(held);
    let mut admitted = Vec::new();
    while let Some(ended) = crowd.join_next().await {
        admitted.push(ended.unwrap().unwrap());
    }
    admitted.sort_unstable();
    assert!(admitted.into_iter().map(|(_, number)| number).eq(0..INSTANCES), "not in order");
    world.until_free(&ask).await;
    assert_eq!(scope.counts(), none);

    let mut held = closed.acquire().await.unwrap();
    let mut crowd = line_up(&world, &program, &scope, &ask).await;
    assert_eq!(scope.counts(), waiting);
    let dropped = Instant::now();
    crowd.abort_all();
    while let Some(ended) = crowd.join_next().await {
        assert!(ended.is_err_and(|ended| ended.is_cancelled()), "none was admitted");
    }
    assert_eq!(world.view(&ask).await.waiters.len(), 0, "they leave before their drop returns");
    let took = dropped.elapsed();
    assert!(took < EMPTY_WITHIN, "{took:?} until the line was empty");
    assert_eq!(scope.counts(), none);
    assert!(held.release().await.unwrap(), "the holder was not touched");
    assert!(scope.lease(NAME).unwrap().try_acquire().await.unwrap().is_some());
}
