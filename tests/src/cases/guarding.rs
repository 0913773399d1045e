//! The guard that refuses stale writers.

use super::secs;
use crate::{Verdict, World, lease, listed, semaphore};

pub(super) const CASES: &[crate::Case<World>] = listed![
    a_stale_writer_is_refused,
    an_equal_fence_is_admitted_again,
    current_is_the_greatest_admitted,
    targets_are_guarded_each_on_its_own,
    permits_are_guarded_per_slot,
];

async fn a_stale_writer_is_refused(world: World) {
    let (ask, target) = (lease(world.name("a")).ttl(secs(1)), world.name("table"));
    let stalled = world.actor().await;
    let old = stalled.take(ask.clone()).await.fence().await;
    assert_eq!(stalled.admit(&target, None, old).await, Ok(Verdict::Admitted));
    world.pass(secs(1));
    let successor = world.actor().await;
    let new = successor.take(ask).await.fence().await;
    assert_eq!(successor.admit(&target, None, new).await, Ok(Verdict::Admitted));
    assert_eq!(stalled.admit(&target, None, old).await, Ok(Verdict::Stale(new)));
}

async fn an_equal_fence_is_admitted_again(world: World) {
    let target = world.name("table");
    let actor = world.actor().await;
    for _ in 0..3 {
        assert_eq!(actor.admit(&target, None, 7).await, Ok(Verdict::Admitted));
    }
    assert_eq!(actor.admit(&target, None, 6).await, Ok(Verdict::Stale(7)));
}

async fn current_is_the_greatest_admitted(world: World) {
    let target = world.name("table");
    let actor = world.actor().await;
    assert_eq!(actor.current(&target, None).await, Ok(None));
    for fence in [7, (1 << 53) - 1, 8] {
        let _ = actor.admit(&target, None, fence).await.unwrap();
    }
    assert_eq!(actor.current(&target, None).await, Ok(Some((1 << 53) - 1)));
}

async fn targets_are_guarded_each_on_its_own(world: World) {
    let actor = world.actor().await;
    assert_eq!(actor.admit(&world.name("table"), None, 9).await, Ok(Verdict::Admitted));
    assert_eq!(actor.admit(&world.name("table"), None, 8).await, Ok(Verdict::Admitted));
}

/// Several permits are valid at once: each may write, and its predecessor in the slot may not.
async fn permits_are_guarded_per_slot(world: World) {
    let (ask, target) = (semaphore(world.name("a"), 2).ttl(secs(60)), world.name("table"));
    let actor = world.actor().await;
    let zero = actor.take(ask.clone()).await;
    let one = actor.take(ask.clone()).await;
    let (old, other) = (zero.fence().await, one.fence().await);
    assert_eq!(actor.admit(&target, Some(1), other).await, Ok(Verdict::Admitted));
    assert_eq!(actor.admit(&target, Some(0), old).await, Ok(Verdict::Admitted));
    zero.release().await.unwrap();
    let new = actor.take(ask).await.fence().await;
    assert_eq!(actor.admit(&target, Some(0), new).await, Ok(Verdict::Admitted));
    assert_eq!(actor.admit(&target, Some(0), old).await, Ok(Verdict::Stale(new)));
    assert_eq!(actor.admit(&target, Some(1), other).await, Ok(Verdict::Admitted));
    assert_eq!(actor.current(&target, Some(1)).await, Ok(Some(other)));
    assert_eq!(actor.current(&target, None).await, Ok(None));
}
