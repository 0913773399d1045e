//! Ends that come by themselves.

use leases::Loss;

use super::{ms, secs};
use crate::{Failure, World, lease, listed};

pub(super) const CASES: &[crate::Case<World>] = listed![
    a_lease_ends_by_itself,
    the_local_deadline_comes_before_the_end,
    what_was_lost_stays_lost,
    max_hold_ends_a_hold_however_often_it_was_refreshed,
    a_max_hold_below_the_ttl_ends_it,
    fences_follow_the_clock,
];

async fn a_lease_ends_by_itself(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let mut first = world.actor().await.take(ask.clone()).await;
    world.pass(ms(999));
    assert_eq!(world.actor().await.refused(ask.clone()).await, Failure::NotAcquired);
    world.pass(ms(1));
    let second = world.actor().await.take(ask).await;
    assert!(second.fence().await > first.fence().await);
    assert_eq!(first.refresh().await, Err(Failure::Lost(Loss::Expired)));
    assert_eq!(first.look().await.lost, Some(Loss::Expired));
    assert_eq!(first.release().await, Ok(false), "it never touches the second's");
    assert_eq!(second.release().await, Ok(true));
}

/// A tenth of the ttl, at most a second, is left off.
async fn the_local_deadline_comes_before_the_end(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let held = world.actor().await.take(ask.clone()).await;
    assert_eq!(held.look().await.remaining, ms(900));
    world.pass(ms(899));
    assert_eq!(held.look().await.lost, None);
    world.pass(ms(1));
    let seen = held.look().await;
    assert_eq!((seen.remaining, seen.lost), (ms(0), Some(Loss::Expired)));
    assert_eq!(world.view(&ask).await.holders.len(), 1, "the backend still has it");
    assert_eq!(world.actor().await.refused(ask).await, Failure::NotAcquired);
}

async fn what_was_lost_stays_lost(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let mut held = world.actor().await.take(ask.clone()).await;
    world.pass(ms(900));
    assert_eq!(held.refresh().await, Err(Failure::Lost(Loss::Expired)), "nobody took it, and yet");
    assert_eq!(held.look().await.remaining, ms(0));
    world.pass(ms(100));
    world.actor().await.take(ask).await;
}

async fn max_hold_ends_a_hold_however_often_it_was_refreshed(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1)).max_hold(ms(2500));
    let mut held = world.actor().await.take(ask.clone()).await;
    for _ in 0..4 {
        world.pass(ms(500));
        held.refresh().await.unwrap();
    }
    assert_eq!(held.look().await.remaining, ms(450), "half a second less a tenth");
    world.pass(ms(450));
    assert_eq!(held.look().await.lost, Some(Loss::MaxHold));
    assert_eq!(held.refresh().await, Err(Failure::Lost(Loss::MaxHold)));
    world.pass(ms(50));
    world.actor().await.take(ask).await;
}

async fn a_max_hold_below_the_ttl_ends_it(world: World) {
    let ask = lease(world.name("a")).ttl(secs(60)).max_hold(secs(2));
    let held = world.actor().await.take(ask.clone()).await;
    world.pass(secs(2));
    assert_eq!(held.look().await.lost, Some(Loss::MaxHold));
    world.actor().await.take(ask).await;
}

async fn fences_follow_the_clock(world: World) {
    let ask = lease(world.name("a"));
    let actor = world.actor().await;
    let first = actor.take(ask.clone()).await;
    let before = first.fence().await;
    first.release().await.unwrap();
    world.pass(secs(3600));
    let after = actor.take(ask).await.fence().await;
    let moved_us = secs(3600).as_micros() as u64;
    assert!(after >= before + moved_us, "{after} is not an hour after {before}");
}
