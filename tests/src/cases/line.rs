//! First come, first served.

use super::{ms, secs};
use crate::world::acquiring;
use crate::{Failure, World, lease, listed};

pub(super) const CASES: &[crate::Case<World>] = listed![
    waiters_are_admitted_in_order,
    nobody_overtakes_the_line,
    a_wait_that_ends_leaves_nothing,
    a1_a_cancelled_head_is_gone_at_once,
    a1_a_cancelled_waiter_in_the_middle_is_gone_at_once,
    a4_a_waiter_removes_no_ticket_but_its_own,
    a6_a_wait_of_nothing_is_one_attempt,
    a7_one_wait_covers_everything,
    s4_an_end_by_itself_wakes_the_next,
    s4_a_hold_shorter_than_the_one_before_wakes_the_next,
    a_wait_can_end_in_the_very_moment_the_name_is_free,
];

async fn waiters_are_admitted_in_order(world: World) {
    let ask = lease(world.name("a"));
    let mut held = world.actor().await.take(ask.clone()).await;
    let mut waiters = Vec::new();
    for _ in 0..5 {
        waiters.push(world.in_line(&ask.clone().waiting()).await);
    }
    let mut waiters = waiters.into_iter();
    while let Some(next) = waiters.next() {
        let before = held.fence().await;
        held.release().await.unwrap();
        held = next.held().await;
        assert!(held.fence().await > before);
        world.settle().await;
        assert!(waiters.as_slice().iter().all(|waiter| !waiter.is_finished()));
    }
    held.release().await.unwrap();
    world.until_free(&ask).await;
}

async fn nobody_overtakes_the_line(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let _held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().waiting()).await;
    let second = world.in_line(&ask.clone().waiting()).await;
    assert_eq!(world.actor().await.refused(ask.clone()).await, Failure::NotAcquired);
    world.pass(secs(1));
    let first = first.held().await;
    assert_eq!(world.actor().await.refused(ask).await, Failure::NotAcquired);
    first.release().await.unwrap();
    second.held().await;
}

async fn a_wait_that_ends_leaves_nothing(world: World) {
    let ask = lease(world.name("a"));
    let held = world.actor().await.take(ask.clone()).await;
    let waiter = world.in_line(&ask.clone().wait(secs(2))).await;
    world.pass(ms(1999));
    world.settle().await;
    assert!(!waiter.is_finished());
    world.pass(ms(1));
    assert_eq!(waiter.end().await.err(), Some(Failure::NotAcquired));
    world.until("nobody waits", async || world.view(&ask).await.waiters.is_empty()).await;
    held.release().await.unwrap();
    world.until_free(&ask).await;
}

/// Case A1: the head of the line is cancelled; who is behind moves up at once.
async fn a1_a_cancelled_head_is_gone_at_once(world: World) {
    let ask = lease(world.name("a"));
    let held = world.actor().await.take(ask.clone()).await;
    let head = world.in_line(&ask.clone().waiting()).await;
    let next = world.in_line(&ask.clone().waiting()).await;
    head.cancel().await;
    world.until("the ticket is gone", async || world.view(&ask).await.waiters.len() == 1).await;
    held.release().await.unwrap();
    next.held().await;
}

/// Case A1, in the middle.
async fn a1_a_cancelled_waiter_in_the_middle_is_gone_at_once(world: World) {
    let ask = lease(world.name("a"));
    let held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().waiting()).await;
    let middle = world.in_line(&ask.clone().waiting()).await;
    let last = world.in_line(&ask.clone().waiting()).await;
    middle.cancel().await;
    world.until("the ticket is gone", async || world.view(&ask).await.waiters.len() == 2).await;
    held.release().await.unwrap();
    first.held().await.release().await.unwrap();
    last.held().await;
}

/// Case A4: who leaves removes its own ticket, and whoever is in front keeps its place.
async fn a4_a_waiter_removes_no_ticket_but_its_own(world: World) {
    let ask = lease(world.name("a"));
    let held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().note("first").waiting()).await;
    let second = world.in_line(&ask.clone().note("second").wait(secs(1))).await;
    world.pass(secs(1));
    assert_eq!(second.end().await.err(), Some(Failure::NotAcquired));
    world.until("one waits", async || world.view(&ask).await.waiters.len() == 1).await;
    let view = world.view(&ask).await;
    assert_eq!(view.waiters[0].note.as_ref().unwrap().as_str(), "first");
    held.release().await.unwrap();
    first.held().await;
}

/// Case A6: zero wait is one attempt, which answers at once and leaves no ticket.
async fn a6_a_wait_of_nothing_is_one_attempt(world: World) {
    let ask = lease(world.name("a"));
    let _held = world.actor().await.take(ask.clone()).await;
    let refused = acquiring(&world.actor().await, ask.clone().wait(ms(0))).end().await;
    assert_eq!(refused.err(), Some(Failure::NotAcquired));
    assert_eq!(world.view(&ask).await.waiters.len(), 0);
}

/// Case A7: one wait covers everything: not one second for each place in line.
async fn a7_one_wait_covers_everything(world: World) {
    let ask = lease(world.name("a"));
    let held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().waiting()).await;
    let second = world.in_line(&ask.clone().wait(secs(2))).await;
    world.pass(secs(1));
    held.release().await.unwrap();
    let first = first.held().await;
    world.settle().await;
    assert!(!second.is_finished());
    world.pass(secs(1));
    assert_eq!(second.end().await.err(), Some(Failure::NotAcquired));
    first.release().await.unwrap();
}

/// Case S4: an end that comes by itself, with nobody to release, wakes the next, and the next.
async fn s4_an_end_by_itself_wakes_the_next(world: World) {
    let ask = lease(world.name("a")).ttl(ms(700));
    let _held = world.actor().await.take(ask.clone()).await;
    let first = world.in_line(&ask.clone().waiting()).await;
    let second = world.in_line(&ask.clone().waiting()).await;
    world.pass(ms(700));
    let _first = first.held().await;
    world.settle().await;
    assert!(!second.is_finished());
    world.pass(ms(700));
    second.held().await;
}

/// Case S4, where the next was told to look again long after the new hold will have ended.
async fn s4_a_hold_shorter_than_the_one_before_wakes_the_next(world: World) {
    let ask = lease(world.name("a")).waiting();
    let held = world.actor().await.take(ask.clone().ttl(secs(60))).await;
    let first = world.in_line(&ask.clone().ttl(ms(50))).await;
    let second = world.in_line(&ask).await;
    held.release().await.unwrap();
    let _first = first.held().await;
    world.settle().await;
    world.pass(ms(50));
    second.held().await;
}

async fn a_wait_can_end_in_the_very_moment_the_name_is_free(world: World) {
    let ask = lease(world.name("a")).ttl(ms(700));
    let _held = world.actor().await.take(ask.clone()).await;
    let waiter = world.in_line(&ask.clone().wait(ms(700))).await;
    world.pass(ms(700));
    waiter.held().await;
}
