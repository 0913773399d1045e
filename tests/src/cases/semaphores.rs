//! At most so many holders.

use leases::Loss;

use super::{ms, secs};
use crate::world::Acquiring;
use crate::{Failure, Held, World, listed, semaphore};

pub(super) const CASES: &[crate::Case<World>] = listed![
    at_most_limit_hold,
    slots_are_the_lowest_free,
    s1_each_holders_own_end,
    s2_an_expired_permit_is_not_released_and_not_counted,
    a_lowered_limit_evicts_nobody_and_admits_nobody,
    mixed_limits_on_one_key,
    ten_places_freed_together_are_filled_together,
    a_limit_of_a_thousand,
];

async fn hold(world: &World, ask: &crate::Ask, count: usize) -> Vec<Held> {
    let actor = world.actor().await;
    let mut held = Vec::new();
    for _ in 0..count {
        held.push(actor.take(ask.clone()).await);
    }
    held
}

async fn at_most_limit_hold(world: World) {
    let ask = semaphore(world.name("a"), 3);
    let mut held = hold(&world, &ask, 3).await;
    assert_eq!(world.actor().await.refused(ask.clone()).await, Failure::NotAcquired);
    assert_eq!(held.pop().unwrap().release().await, Ok(true));
    held.extend(hold(&world, &ask, 1).await);
    assert_eq!(world.actor().await.refused(ask).await, Failure::NotAcquired);
}

async fn slots_are_the_lowest_free(world: World) {
    let ask = semaphore(world.name("a"), 4);
    let mut held = hold(&world, &ask, 4).await;
    let mut fences = Vec::new();
    for (slot, held) in (0..).zip(&held) {
        assert_eq!(held.slot().await, slot);
        fences.push(held.fence().await);
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    held.remove(2).release().await.unwrap();
    held.remove(1).release().await.unwrap();
    let next = hold(&world, &ask, 1).await;
    assert_eq!(next[0].slot().await, 1);
}

/// Case S1: a caller with a short ttl evicts nobody; each holder has its own end.
async fn s1_each_holders_own_end(world: World) {
    let name = world.name("a");
    let mut long = world.actor().await.take(semaphore(&*name, 1).ttl(secs(60))).await;
    world.pass(secs(6));
    let short = semaphore(&*name, 1).ttl(secs(5));
    assert_eq!(world.actor().await.refused(short).await, Failure::NotAcquired);
    long.refresh().await.unwrap();
    assert_eq!(long.release().await, Ok(true));
}

/// Case S2: releasing an expired permit answers false, and the count is the number of live grants.
async fn s2_an_expired_permit_is_not_released_and_not_counted(world: World) {
    let ask = semaphore(world.name("a"), 2);
    let expired = world.actor().await.take(ask.clone().ttl(secs(1))).await;
    let _live = world.actor().await.take(ask.clone()).await;
    world.pass(secs(1));
    assert_eq!(world.view(&ask).await.holders.len(), 1);
    let _second = world.actor().await.take(ask.clone()).await;
    assert_eq!(expired.look().await.lost, Some(Loss::Expired));
    assert_eq!(expired.release().await, Ok(false));
    assert_eq!(world.view(&ask).await.holders.len(), 2);
    assert_eq!(world.actor().await.refused(ask).await, Failure::NotAcquired);
}

/// From 4 to 2 under 3 live holders: nobody is admitted before there are fewer than 2.
async fn a_lowered_limit_evicts_nobody_and_admits_nobody(world: World) {
    let name = world.name("a");
    let mut held = hold(&world, &semaphore(&*name, 4), 3).await;
    let lowered = semaphore(&*name, 2);
    let waiter = world.in_line(&lowered.clone().waiting()).await;
    for held in &mut held {
        held.refresh().await.unwrap();
    }
    held.pop().unwrap().release().await.unwrap();
    assert_eq!(world.actor().await.refused(lowered.clone()).await, Failure::NotAcquired);
    world.settle().await;
    assert!(!waiter.is_finished(), "two still hold");
    held.pop().unwrap().release().await.unwrap();
    let admitted = waiter.held().await;
    assert_eq!(admitted.slot().await, 1);
    assert_eq!(world.view(&lowered).await.holders.len(), 2);
}

/// Behind a waiter that can't be admitted under its own limit, one with a greater limit waits too.
async fn mixed_limits_on_one_key(world: World) {
    let name = world.name("a");
    let ask = |limit| semaphore(&*name, limit).waiting();
    let first = world.actor().await.take(ask(3)).await;
    let narrow = world.in_line(&ask(1)).await;
    let wide = world.in_line(&ask(3)).await;
    let refused = world.actor().await.refused(semaphore(&*name, 3)).await;
    assert_eq!(refused, Failure::NotAcquired, "nobody is overtaken");
    world.settle().await;
    assert!(!narrow.is_finished() && !wide.is_finished());
    first.release().await.unwrap();
    let narrow = narrow.held().await;
    let wide = wide.held().await;
    assert_eq!((narrow.slot().await, wide.slot().await), (0, 1));
    assert!(narrow.fence().await < wide.fence().await);
}

/// Released together or ended together: nobody sleeps past the moment.
async fn ten_places_freed_together_are_filled_together(world: World) {
    let ask = semaphore(world.name("a"), 10).ttl(secs(1));
    let held = hold(&world, &ask, 10).await;
    let waiters = line_up(&world, &ask.clone().waiting(), 10).await;
    for held in held {
        held.release().await.unwrap();
    }
    let held = all_held(waiters).await;
    let waiters = line_up(&world, &ask.clone().waiting(), 10).await;
    world.pass(secs(1));
    let second = all_held(waiters).await;
    assert_eq!(second.len(), 10);
    drop(held);
}

async fn line_up(world: &World, ask: &crate::Ask, count: usize) -> Vec<Acquiring> {
    let mut waiters = Vec::new();
    for _ in 0..count {
        waiters.push(world.in_line(ask).await);
    }
    waiters
}

async fn all_held(waiters: Vec<Acquiring>) -> Vec<Held> {
    let mut held = Vec::new();
    for waiter in waiters {
        held.push(waiter.held().await);
    }
    held
}

async fn a_limit_of_a_thousand(world: World) {
    let ask = semaphore(world.name("a"), 1000).ttl(secs(60));
    let mut held = hold(&world, &ask, 1000).await;
    assert_eq!(world.actor().await.refused(ask.clone()).await, Failure::NotAcquired);
    assert_eq!(held[999].slot().await, 999);
    held.remove(500).release().await.unwrap();
    held.remove(100).release().await.unwrap();
    let again = hold(&world, &ask.clone().ttl(ms(100)), 2).await;
    assert_eq!((again[0].slot().await, again[1].slot().await), (100, 500));
    world.pass(ms(100));
    assert_eq!(world.view(&ask).await.holders.len(), 998);
}
