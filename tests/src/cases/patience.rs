//! Waiters that nobody polls any more.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use super::{ms, secs};
use crate::{Actor, Failure, Held, World, lease, listed};

pub(super) const CASES: &[crate::Case<World>] = listed![
    an_unpolled_head_holds_up_nobody_beyond_the_claim_time,
    two_unpolled_waiters_hold_up_a_claim_time_each,
    an_unpolled_head_does_not_hold_up_single_attempts,
    an_unpolled_head_behind_a_shortened_hold_holds_up_nobody_longer,
    a4_a_dead_head_lapses,
    a_waiter_that_is_polled_keeps_its_place,
    a_grant_that_nobody_picks_up_is_given_back,
];

type Unpolled<'a> = std::pin::Pin<&'a mut (dyn Future<Output = Result<Held, Failure>> + Send)>;

/// Polls until the ticket is in line and its waiter, which has all of its answers, sleeps; and then
/// not again.
async fn poll_into_line(world: &World, ask: &crate::Ask, mut waiter: Unpolled<'_>) {
    world.settle().await;
    let before = world.view(ask).await.waiters.len();
    let mut context = Context::from_waker(Waker::noop());
    let asleep = async || {
        let polled = waiter.as_mut().poll(&mut context);
        assert!(polled.is_pending(), "somebody else holds it");
        world.in_flight() == 0 && world.view(ask).await.waiters.len() > before
    };
    world.until("it sleeps in line", asleep).await;
}

async fn actors(world: &World, count: usize) -> Vec<Actor> {
    let mut actors = Vec::new();
    for _ in 0..count {
        actors.push(world.actor().await);
    }
    actors
}

/// Its future is kept and never awaited: when its turn comes it is called, and passed over a second
/// later.
async fn an_unpolled_head_holds_up_nobody_beyond_the_claim_time(world: World) {
    let ask = lease(world.name("a")).waiting();
    let actors = actors(&world, 1).await;
    let held = world.actor().await.take(ask.clone()).await;
    let mut head = pin!(actors[0].acquire(ask.clone()));
    poll_into_line(&world, &ask, head.as_mut()).await;
    let next = world.in_line(&ask).await;
    held.release().await.unwrap();
    // Time goes on in steps, as it does; a waiter looks before a claim time has gone by.
    for _ in 0..9 {
        world.pass(ms(100));
        world.settle().await;
        assert!(!next.is_finished(), "the head still has its claim time");
    }
    world.pass(ms(100));
    next.held().await;
}

async fn two_unpolled_waiters_hold_up_a_claim_time_each(world: World) {
    let ask = lease(world.name("a")).waiting();
    let actors = actors(&world, 2).await;
    let held = world.actor().await.take(ask.clone()).await;
    let mut first = pin!(actors[0].acquire(ask.clone()));
    poll_into_line(&world, &ask, first.as_mut()).await;
    let mut second = pin!(actors[1].acquire(ask.clone()));
    poll_into_line(&world, &ask, second.as_mut()).await;
    let third = world.in_line(&ask).await;
    held.release().await.unwrap();
    for _ in 0..20 {
        world.pass(ms(100));
        world.settle().await;
    }
    let third = third.held().await;
    third.release().await.unwrap();
}

/// No waiter is there to call the head: a single attempt does it.
async fn an_unpolled_head_does_not_hold_up_single_attempts(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let actors = actors(&world, 1).await;
    let _held = world.actor().await.take(ask.clone()).await;
    let mut head = pin!(actors[0].acquire(ask.clone().waiting()));
    poll_into_line(&world, &ask, head.as_mut()).await;
    world.pass(secs(1));
    let actor = world.actor().await;
    assert_eq!(actor.refused(ask.clone()).await, Failure::NotAcquired, "the head is called");
    world.pass(secs(1));
    actor.take(ask).await;
}

/// Nobody but the head was told of the new end. Those behind find it at their next sign of life, and
/// the head's claim began at that end.
async fn an_unpolled_head_behind_a_shortened_hold_holds_up_nobody_longer(world: World) {
    let ask = lease(world.name("a")).ttl(secs(60));
    let actors = actors(&world, 1).await;
    let mut held = world.actor().await.take(ask.clone()).await;
    let mut head = pin!(actors[0].acquire(ask.clone().waiting()));
    poll_into_line(&world, &ask, head.as_mut()).await;
    let next = world.in_line(&ask.waiting()).await;
    world.pass_slowly(ms(1500)).await;
    held.refresh_for(Some(ms(50))).await.unwrap();
    world.pass_slowly(ms(50 + 1000)).await;
    next.held().await;
}

/// Case A4: a head that died without leaving lapses, and the next is woken.
async fn a4_a_dead_head_lapses(world: World) {
    let ask = lease(world.name("a")).ttl(secs(30));
    let actors = actors(&world, 1).await;
    let _held = world.actor().await.take(ask.clone()).await;
    let mut head = pin!(actors[0].acquire(ask.clone().waiting()));
    poll_into_line(&world, &ask, head.as_mut()).await;
    let next = world.in_line(&ask.clone().waiting()).await;
    let patience = world.backend().properties().patience;
    let steps = patience.as_millis().div_ceil(100) + 1;
    for _ in 0..steps {
        world.pass(ms(100));
        world.settle().await;
    }
    assert_eq!(world.view(&ask).await.waiters.len(), 1, "the live one, by its signs of life");
    world.pass(secs(30));
    next.held().await;
}

async fn a_waiter_that_is_polled_keeps_its_place(world: World) {
    let ask = lease(world.name("a")).ttl(secs(30));
    let _held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().note("first").waiting()).await;
    let second = world.in_line(&ask.clone().note("second").waiting()).await;
    for _ in 0..290 {
        world.pass(ms(100));
        world.settle().await;
    }
    let view = world.view(&ask).await;
    let notes: Vec<_> = view.waiters.iter().map(|w| w.note.as_ref().unwrap().as_str()).collect();
    assert_eq!(notes, ["first", "second"]);
    world.pass(secs(1));
    first.held().await.release().await.unwrap();
    second.held().await;
}

/// Its ask was sent, and it is not polled when the reply comes. Once it is polled again it goes on
/// as if nothing had been.
async fn a_grant_that_nobody_picks_up_is_given_back(world: World) {
    let ask = lease(world.name("a"));
    let actors = actors(&world, 1).await;
    let mut unpolled = pin!(actors[0].acquire(ask.clone()));
    let mut context = Context::from_waker(Waker::noop());
    while world.view(&ask).await.holders.is_empty() {
        if unpolled.as_mut().poll(&mut context).is_ready() {
            return; // At once, or as it was polled: there was no reply to pick up.
        }
        world.go_on().await;
    }
    let given = world.view(&ask).await.holders[0].fence.as_u64();
    pass_with_a_reply_on_its_way(&world, ms(900)).await;
    assert_eq!(world.view(&ask).await.holders.len(), 1, "it still has its claim time");
    pass_with_a_reply_on_its_way(&world, ms(400)).await;
    world.until_free(&ask).await;
    let held = unpolled.await.expect("it asks again");
    assert!(held.fence().await > given);
}

/// Nobody sleeps while a reply is on its way, and this one nobody takes.
async fn pass_with_a_reply_on_its_way(world: &World, time: Duration) {
    let step = ms(50);
    for _ in 0..time.as_millis() / step.as_millis() {
        world.pass(step);
        for _ in 0..20 {
            world.go_on().await;
        }
    }
}
