//! The same owner takes its own live hold again.

use leases::Loss;

use super::secs;
use crate::{Failure, World, lease, listed, semaphore};

pub(super) const CASES: &[crate::Case<World>] = listed![
    the_same_owner_takes_its_own_again,
    a_superseded_handle_can_neither_refresh_nor_release,
    another_owner_waits,
    an_owner_passes_the_line_for_its_own_hold_alone,
    in_a_semaphore_an_owner_keeps_its_slot,
    an_ended_hold_is_nobodys_own,
    a_waiter_whose_owner_comes_to_hold_takes_over_at_once,
];

async fn the_same_owner_takes_its_own_again(world: World) {
    let ask = lease(world.name("a")).owner("job");
    let actor = world.actor().await;
    let first = actor.take(ask.clone()).await;
    let second = actor.take(ask.clone().waiting()).await;
    assert!(second.fence().await > first.fence().await);
    assert_eq!(world.view(&ask).await.holders.len(), 1);
}

async fn a_superseded_handle_can_neither_refresh_nor_release(world: World) {
    let ask = lease(world.name("a")).owner("job");
    let mut first = world.actor().await.take(ask.clone()).await;
    let mut second = world.actor().await.take(ask.clone()).await;
    assert_eq!(first.refresh().await, Err(Failure::Lost(Loss::Superseded)));
    assert_eq!(first.look().await.lost, Some(Loss::Superseded));
    assert_eq!(first.release().await, Ok(false));
    second.refresh().await.unwrap();
    assert_eq!(second.release().await, Ok(true));
}

async fn another_owner_waits(world: World) {
    let name = world.name("a");
    let held = world.actor().await.take(lease(&*name).owner("job")).await;
    let other = world.actor().await;
    for ask in [lease(&*name).owner("Job"), lease(&*name)] {
        assert_eq!(other.refused(ask).await, Failure::NotAcquired);
    }
    assert_eq!(held.release().await, Ok(true));
}

async fn an_owner_passes_the_line_for_its_own_hold_alone(world: World) {
    let ask = lease(world.name("a"));
    let first = world.actor().await.take(ask.clone().owner("job")).await;
    let waiter = world.in_line(&ask.clone().waiting()).await;
    let second = world.actor().await.take(ask.clone().owner("job")).await;
    drop(first);
    world.settle().await;
    assert!(!waiter.is_finished());
    second.release().await.unwrap();
    let next = waiter.held().await;
    let late = world.actor().await.refused(ask.owner("job")).await;
    assert_eq!(late, Failure::NotAcquired, "it holds nothing any more");
    assert_eq!(next.release().await, Ok(true));
}

async fn in_a_semaphore_an_owner_keeps_its_slot(world: World) {
    let ask = semaphore(world.name("a"), 3);
    let actor = world.actor().await;
    let _zero = actor.take(ask.clone()).await;
    let mut first = actor.take(ask.clone().owner("job")).await;
    let _two = actor.take(ask.clone()).await;
    let second = actor.take(ask.clone().owner("job")).await;
    assert_eq!(first.slot().await, 1);
    assert_eq!(second.slot().await, 1);
    assert!(second.fence().await > first.fence().await);
    assert_eq!(first.refresh().await, Err(Failure::Lost(Loss::Superseded)));
    assert_eq!(world.view(&ask).await.holders.len(), 3);
}

async fn an_ended_hold_is_nobodys_own(world: World) {
    let ask = lease(world.name("a")).owner("job").ttl(secs(1));
    let _first = world.actor().await.take(ask.clone()).await;
    let waiter = world.in_line(&lease(&*ask.name).waiting()).await;
    world.pass(secs(1));
    let next = waiter.held().await;
    assert_eq!(world.actor().await.refused(ask).await, Failure::NotAcquired);
    assert_eq!(next.release().await, Ok(true));
}

/// Two retries of one task wait behind somebody else: when the first is admitted, the second could
/// take its hold over, and does not sleep past that moment.
async fn a_waiter_whose_owner_comes_to_hold_takes_over_at_once(world: World) {
    let ask = lease(world.name("a")).waiting();
    let held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().owner("job")).await;
    let between = world.in_line(&ask).await;
    let second = world.in_line(&ask.clone().owner("job")).await;
    held.release().await.unwrap();
    let mut first = first.held().await;
    let second = second.held().await;
    assert_eq!(first.refresh().await, Err(Failure::Lost(Loss::Superseded)));
    world.settle().await;
    assert!(!between.is_finished(), "it waits for the owner's hold");
    second.release().await.unwrap();
    between.held().await;
}
