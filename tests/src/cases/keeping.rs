//! Holds that are kept alive.

use leases::Loss;

use super::{ms, secs};
use crate::world::key;
use crate::{Failure, World, lease, listed, semaphore};

pub(super) const CASES: &[crate::Case<World>] = listed![
    a_kept_hold_outlives_its_ttl,
    a_hold_that_is_not_kept_does_not,
    a_released_hold_is_kept_no_longer,
    a_dropped_hold_is_kept_no_longer,
    max_hold_ends_a_kept_hold,
    a_kept_hold_that_is_superseded_learns_it,
    a_kept_hold_that_is_revoked_learns_it,
    many_of_different_ttl_are_kept,
    a_kept_hold_can_be_refreshed_by_hand,
    a_waiter_behind_a_kept_hold_stays_in_line,
];

async fn a_kept_hold_outlives_its_ttl(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1)).kept();
    let held = world.actor().await.take(ask.clone()).await;
    for _ in 0..10 {
        world.pass_slowly(secs(1)).await;
        assert_eq!(held.look().await.lost, None);
        assert_eq!(world.actor().await.refused(ask.clone()).await, Failure::NotAcquired);
    }
    assert_eq!(held.release().await, Ok(true));
}

async fn a_hold_that_is_not_kept_does_not(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let held = world.actor().await.take(ask.clone()).await;
    world.pass_slowly(secs(1)).await;
    assert_eq!(held.look().await.lost, Some(Loss::Expired));
    world.until_free(&ask).await;
}

async fn a_released_hold_is_kept_no_longer(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1)).kept();
    let held = world.actor().await.take(ask.clone()).await;
    world.pass_slowly(secs(2)).await;
    assert_eq!(held.release().await, Ok(true));
    let next = world.actor().await.take(ask.ttl(secs(30))).await;
    world.pass_slowly(secs(2)).await;
    assert_eq!(next.release().await, Ok(true));
}

async fn a_dropped_hold_is_kept_no_longer(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1)).kept();
    let actor = world.actor().await;
    actor.take(ask.clone()).await.forget().await;
    world.until_free(&ask).await;
    world.pass_slowly(secs(2)).await;
    world.until_free(&ask).await;
}

async fn max_hold_ends_a_kept_hold(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1)).max_hold(secs(3)).kept();
    let held = world.actor().await.take(ask.clone()).await;
    world.pass_slowly(ms(2500)).await;
    assert_eq!(held.look().await.lost, None);
    world.pass_slowly(ms(500)).await;
    assert_eq!(held.look().await.lost, Some(Loss::MaxHold));
    world.actor().await.take(ask).await;
}

async fn a_kept_hold_that_is_superseded_learns_it(world: World) {
    let ask = lease(world.name("a")).owner("job").ttl(secs(3)).kept();
    let former = world.actor().await.take(ask.clone()).await;
    let current = world.actor().await.take(ask.clone()).await;
    world.pass_slowly(secs(1)).await;
    assert_eq!(former.look().await.lost, Some(Loss::Superseded));
    world.pass_slowly(secs(5)).await;
    assert_eq!(current.look().await.lost, None);
    assert_eq!(former.release().await, Ok(false));
    assert_eq!(current.release().await, Ok(true));
}

async fn a_kept_hold_that_is_revoked_learns_it(world: World) {
    let ask = semaphore(world.name("a"), 2).ttl(secs(3)).kept();
    let revoked = world.actor().await.take(ask.clone()).await;
    let other = world.actor().await.take(ask.clone()).await;
    assert_eq!(world.leases().revoke(&key(&ask), Some(0)).await.unwrap(), 1);
    // At once: no time passes.
    assert_eq!(revoked.look().await.lost, Some(Loss::Revoked));
    assert_eq!(other.look().await.lost, None);
}

async fn many_of_different_ttl_are_kept(world: World) {
    let actor = world.actor().await;
    let mut held = Vec::new();
    for number in 0..20 {
        let ask = lease(world.name("a")).ttl(ms(1000 + 137 * number)).kept();
        held.push(actor.take(ask).await);
        world.pass_slowly(ms(50)).await;
    }
    world.pass_slowly(secs(10)).await;
    for held in held {
        assert_eq!(held.look().await.lost, None);
        assert_eq!(held.release().await, Ok(true));
    }
}

async fn a_kept_hold_can_be_refreshed_by_hand(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1)).kept();
    let mut held = world.actor().await.take(ask).await;
    assert_eq!(held.refresh_for(Some(secs(30))).await, Ok(secs(29)));
    world.pass_slowly(secs(3)).await;
    held.refresh().await.unwrap();
    world.pass_slowly(secs(3)).await;
    assert_eq!(held.release().await, Ok(true));
}

async fn a_waiter_behind_a_kept_hold_stays_in_line(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1)).kept();
    let held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().note("first").waiting()).await;
    let second = world.in_line(&ask.clone().note("second").waiting()).await;
    world.pass_slowly(secs(8)).await;
    let view = world.view(&ask).await;
    let notes: Vec<_> = view.waiters.iter().map(|w| w.note.as_ref().unwrap().as_str()).collect();
    assert_eq!(notes, ["first", "second"]);
    held.release().await.unwrap();
    first.held().await.release().await.unwrap();
    second.held().await.release().await.unwrap();
}
