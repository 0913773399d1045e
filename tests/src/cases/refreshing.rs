//! Extending a hold.

use leases::Loss;

use super::{ms, secs};
use crate::{Failure, World, lease, listed};

pub(super) const CASES: &[crate::Case<World>] = listed![
    h1_refresh_never_takes_again,
    h9_refresh_sets_the_end_from_now,
    a_refresh_can_shorten,
    a_shortened_hold_lets_the_waiter_in_at_its_new_end,
    a_revoked_holder_learns_it,
];

/// Case H1: A holds and expires, B acquires and releases; A's refresh is lost.
async fn h1_refresh_never_takes_again(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let mut a = world.actor().await.take(ask.clone()).await;
    world.pass(secs(1));
    let b = world.actor().await.take(ask.clone()).await;
    assert_eq!(b.release().await, Ok(true));
    assert_eq!(a.refresh().await, Err(Failure::Lost(Loss::Expired)));
    world.until_free(&ask).await;
}

/// Case H9: each extend sets the end from now and adds nothing.
async fn h9_refresh_sets_the_end_from_now(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let mut held = world.actor().await.take(ask.clone()).await;
    for _ in 0..10 {
        assert_eq!(held.refresh().await, Ok(ms(900)));
    }
    world.pass(ms(500));
    assert_eq!(held.refresh().await, Ok(ms(900)));
    assert_eq!(world.view(&ask).await.holders[0].ends_in, secs(1));
    assert_eq!(held.refresh_for(Some(secs(5))).await, Ok(ms(4500)));
    assert_eq!(held.refresh().await, Ok(ms(900)), "its own ttl is still what it was");
}

async fn a_refresh_can_shorten(world: World) {
    let ask = lease(world.name("a")).ttl(secs(60));
    let mut held = world.actor().await.take(ask.clone()).await;
    assert_eq!(held.refresh_for(Some(secs(1))).await, Ok(ms(900)));
    world.pass(secs(1));
    world.actor().await.take(ask).await;
}

async fn a_shortened_hold_lets_the_waiter_in_at_its_new_end(world: World) {
    let ask = lease(world.name("a")).ttl(secs(60));
    let mut held = world.actor().await.take(ask.clone()).await;
    let waiter = world.in_line(&ask.clone().waiting()).await;
    held.refresh_for(Some(ms(100))).await.unwrap();
    // The waiter learns of the new end before time gets there.
    world.settle().await;
    world.pass(ms(100));
    waiter.held().await;
}

async fn a_revoked_holder_learns_it(world: World) {
    let ask = lease(world.name("a"));
    let mut held = world.actor().await.take(ask.clone()).await;
    let waiter = world.in_line(&ask.clone().waiting()).await;
    let leases = world.leases();
    assert_eq!(leases.revoke(&crate::world::key(&ask), None).await.unwrap(), 1);
    let next = waiter.held().await;
    assert_eq!(held.refresh().await, Err(Failure::Lost(Loss::Revoked)));
    assert_eq!(held.look().await.lost, Some(Loss::Revoked));
    assert_eq!(held.release().await, Ok(false));
    assert_eq!(next.release().await, Ok(true));
    assert_eq!(leases.revoke(&crate::world::key(&ask), None).await.unwrap(), 0);
}
