//! What holds for plugins alone: the scope, traps, timed-out calls, handles.

use std::time::Duration;

use leases::{Grant, Leases, Loss, NamePattern, PluginId, Policy, Scope};
use leases_tests::wasm::{Guest, Program};
use leases_tests::world::acquiring;
use leases_tests::{Actor, Door, Failure, Verdict, World, lease, semaphore};

fn world() -> (World, Program) {
    let program = Program::load();
    (World::memory(Door::Wasm(program.clone())), program)
}

fn scope(world: &World, patterns: &[&str]) -> Scope {
    let policy = Policy::allowing(patterns).unwrap();
    Scope::new(world.leases(), PluginId::new("importer").unwrap(), policy)
}

async fn guest(world: &World) -> Guest {
    match world.actor().await {
        Actor::Wasm(guest) => guest,
        Actor::Native(_) => unreachable!("this world's door is the guest's"),
    }
}

/// Case P9: default deny, for every operation, as a value.
#[tokio::test]
async fn p9_without_a_pattern_every_operation_is_denied() {
    let (world, program) = world();
    let actor = Actor::Wasm(program.start(scope(&world, &[])).await);
    for ask in [lease("import:a"), semaphore("import:a", 3)] {
        assert_eq!(actor.refused(ask.clone()).await, Failure::Denied);
        assert_eq!(actor.refused(ask.clone().waiting()).await, Failure::Denied);
        assert_eq!(actor.refused(ask.ttl(Duration::ZERO)).await, Failure::Denied);
    }
    for slot in [None, Some(0)] {
        assert_eq!(actor.admit("import:a", slot, 1).await, Err(Failure::Denied));
        assert_eq!(actor.admit("import:a", slot, 0).await, Err(Failure::Denied));
        assert_eq!(actor.current("import:a", slot).await, Err(Failure::Denied));
    }
}

#[tokio::test]
async fn a_pattern_allows_exactly_its_names() {
    let (world, program) = world();
    let actor = Actor::Wasm(program.start(scope(&world, &["import:*", "one"])).await);
    for name in ["import:a", "import:", "import:a/../b", "one"] {
        actor.take(lease(name)).await;
        actor.take(semaphore(name, 1)).await;
        assert_eq!(actor.admit(name, None, 1).await, Ok(Verdict::Admitted));
        assert_eq!(actor.current(name, None).await, Ok(Some(1)));
    }
    for name in ["import", "imports:a", "Import:a", " import:a", "one ", "on", "ones", "*"] {
        assert_eq!(actor.refused(lease(name)).await, Failure::Denied, "{name}");
        assert_eq!(actor.refused(semaphore(name, 1)).await, Failure::Denied, "{name}");
        assert_eq!(actor.admit(name, None, 1).await, Err(Failure::Denied), "{name}");
        assert_eq!(actor.current(name, None).await, Err(Failure::Denied), "{name}");
    }
}

/// Case P3: what a trapped guest held and waited for is gone with its store, not after the ttl.
#[tokio::test]
async fn p3_a_trapped_guests_holds_are_gone_with_its_store() {
    let (world, _) = world();
    let (a, b) = (lease("a"), semaphore("b", 1));
    let guest = guest(&world).await;
    for ask in [&a, &b] {
        drop(Actor::Wasm(guest.clone()).take(ask.clone()).await);
    }
    let next = world.in_line(&a.clone().waiting()).await;
    let trapped = guest.trap().await;
    assert!(trapped.downcast_ref::<wasmtime::Trap>().is_some(), "{trapped:?}");
    assert!(!next.is_finished(), "its store, and so its handles, are still there");
    guest.kill();
    next.held().await.release().await.unwrap();
    world.until_free(&a).await;
    world.until_free(&b).await;
}

/// Case P3, of one that waits: its call is dropped, then its store.
#[tokio::test]
async fn p3_a_killed_waiter_leaves_the_line() {
    let (world, _) = world();
    let ask = lease("a");
    let held = world.actor().await.take(ask.clone()).await;
    let dying = world.in_line(&ask.clone().waiting()).await;
    let next = world.in_line(&ask.clone().waiting()).await;
    dying.cancel().await;
    assert_eq!(world.view(&ask).await.waiters.len(), 1);
    held.release().await.unwrap();
    next.held().await;
}

/// A call that its host timed out, with the store kept, holds up nobody: its ticket is gone with
/// the call.
#[tokio::test]
async fn a_timed_out_call_whose_store_is_kept_holds_up_nobody() {
    let (world, _) = world();
    let ask = lease("a").waiting();
    let held = world.actor().await.take(ask.clone()).await;
    let kept = world.actor().await;
    let timed_out = tokio::time::timeout(Duration::from_millis(20), kept.acquire(ask.clone()));
    assert!(timed_out.await.is_err());
    assert_eq!(world.view(&ask).await.waiters.len(), 0);
    held.release().await.unwrap();
    world.actor().await.take(ask).await;
    drop(kept);
}

/// Case P6: handles have no parents: any order of dropping will do.
#[tokio::test]
async fn p6_handles_are_dropped_in_any_order() {
    let (world, _) = world();
    let asks = [lease("a"), semaphore("b", 2), lease("c"), semaphore("b", 2)];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
        let actor = world.actor().await;
        let mut held = Vec::new();
        for ask in &asks {
            held.push(Some(actor.take(ask.clone()).await));
        }
        for at in order {
            held[at].take().unwrap().forget().await;
        }
        for ask in &asks {
            world.until_free(ask).await;
        }
    }
}

/// Case P8: a guest that waits for what only it could free is told at once.
#[tokio::test]
async fn p8_waiting_for_oneself_would_deadlock() {
    let (world, _) = world();
    let ask = lease("a").ttl(Duration::from_secs(60));
    let actor = world.actor().await;
    let held = actor.take(ask.clone()).await;
    assert_eq!(actor.refused(ask.clone().waiting()).await, Failure::WouldDeadlock);
    assert_eq!(actor.refused(ask.clone()).await, Failure::NotAcquired, "one attempt is no wait");
    assert_eq!(world.view(&ask).await.waiters.len(), 0);
    assert!(held.release().await.unwrap());
    actor.take(ask).await;
}

/// Case P8, all places of a semaphore.
#[tokio::test]
async fn p8_waiting_for_places_that_are_all_ones_own_would_deadlock() {
    let (world, _) = world();
    let ask = semaphore("a", 2);
    let actor = world.actor().await;
    let _first = actor.take(ask.clone()).await;
    let second = actor.take(ask.clone().waiting()).await;
    assert_eq!(actor.refused(ask.clone().waiting()).await, Failure::WouldDeadlock);
    second.forget().await;
    actor.take(ask.waiting()).await;
}

/// Case P8's limits: the same owner takes its own again, and a hold that has ended is none.
#[tokio::test]
async fn p8_the_same_owner_and_an_ended_hold_do_not_deadlock() {
    let (world, _) = world();
    let ask = lease("a").ttl(Duration::from_secs(1));
    let actor = world.actor().await;
    let owned = ask.clone().owner("job");
    let first = actor.take(owned.clone()).await;
    let second = actor.take(owned.clone().waiting()).await;
    assert!(second.fence().await > first.fence().await);
    assert_eq!(actor.refused(ask.clone().owner("other").waiting()).await, Failure::WouldDeadlock);
    // Within the margin the guest counts it as lost, and the backend has it still: it waits.
    world.pass(Duration::from_millis(950));
    assert_eq!(second.look().await.lost, Some(Loss::Expired));
    let waiting = acquiring(&actor, ask.waiting());
    world.settle().await;
    assert!(!waiting.is_finished());
    world.pass(Duration::from_millis(50));
    waiting.held().await;
}

/// Case P8's limits: an operator ended the hold, which its guest does not know yet. It waits for
/// nobody, or for somebody else.
#[tokio::test]
async fn p8_a_hold_that_others_ended_does_not_deadlock() {
    let (world, _) = world();
    let ask = lease("a").waiting();
    let key = leases_tests::world::key(&ask);
    let actor = world.actor().await;
    let _revoked = actor.take(ask.clone()).await;
    assert_eq!(world.leases().revoke(&key, None).await.unwrap(), 1);
    let _revoked_too = actor.take(ask.clone()).await;
    assert_eq!(world.leases().revoke(&key, None).await.unwrap(), 1);
    let other = world.actor().await.take(ask.clone()).await;
    let waiting = acquiring(&actor, ask);
    world.settle().await;
    assert!(!waiting.is_finished(), "another instance holds it");
    other.release().await.unwrap();
    waiting.held().await;
}

#[tokio::test]
async fn owners_of_two_plugins_never_meet() {
    let (world, _) = world();
    let ask = lease("a").owner("job");
    let mut held = world.actor_of("one").await.take(ask.clone()).await;
    assert_eq!(world.actor_of("two").await.refused(ask.clone()).await, Failure::NotAcquired);
    held.refresh().await.unwrap();
    assert_eq!(held.look().await.owner.as_deref(), Some("job"), "as it was given");
    world.actor_of("one").await.take(ask).await;
}

#[tokio::test]
async fn a_host_and_its_plugin_exclude_each_other() {
    let (world, _) = world();
    let leases: Leases = world.leases();
    let mut native = leases.lease("a").unwrap().try_acquire().await.unwrap().expect("free");
    let actor = world.actor().await;
    assert_eq!(actor.refused(lease("a")).await, Failure::NotAcquired);
    let guest = acquiring(&actor, lease("a").waiting());
    world.settle().await;
    assert!(native.release().await.unwrap());
    let guest = guest.held().await;
    assert!(leases.lease("a").unwrap().try_acquire().await.unwrap().is_none());
    assert!(guest.release().await.unwrap());
}

/// Case P2: whatever a guest asks for, its wait has the host's bound.
#[tokio::test]
async fn p2_a_guests_wait_has_the_hosts_bound() {
    let (world, program) = world();
    let ask = lease("a").ttl(Duration::from_secs(3600));
    let _held = world.actor().await.take(ask.clone()).await;
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("*").unwrap()));
    let policy = policy.wait_max(Duration::from_secs(5)).build().unwrap();
    let bounded = Scope::new(world.leases(), PluginId::new("importer").unwrap(), policy);
    let actor = Actor::Wasm(program.start(bounded).await);
    let waiter = acquiring(&actor, ask.clone().wait(Duration::from_secs(3600)));
    world.settle().await;
    world.pass(Duration::from_secs(5));
    assert_eq!(waiter.end().await.err(), Some(Failure::NotAcquired));
    assert_eq!(world.view(&ask).await.waiters.len(), 0);
}

/// Case P7: what a guest never gives back, in a store that is kept for ever, its ttl ends.
#[tokio::test]
async fn p7_the_ttl_ends_what_a_guest_never_drops() {
    let (world, _) = world();
    let asks = [lease("a"), semaphore("b", 1)].map(|ask| ask.ttl(Duration::from_secs(1)));
    let guest = guest(&world).await;
    for ask in &asks {
        drop(Actor::Wasm(guest.clone()).take(ask.clone()).await);
    }
    let next = world.in_line(&asks[0].clone().waiting()).await;
    world.pass(Duration::from_secs(1));
    next.held().await.release().await.unwrap();
    for ask in &asks {
        world.until_free(ask).await;
    }
    drop(guest);
}

/// Case P7: nor does a guest that has its host keep a hold alive have it for longer than its policy
/// says, whatever it asks for, and however often it refreshes.
#[tokio::test]
async fn p7_the_policy_ends_what_a_guest_has_kept_alive_and_never_drops() {
    let (world, program) = world();
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("*").unwrap()));
    let policy = policy.hold_max(Duration::from_secs(5)).build().unwrap();
    let bounded = Scope::new(world.leases(), PluginId::new("importer").unwrap(), policy);
    let guest = program.start(bounded.clone()).await;
    let ask = lease("a").ttl(Duration::from_secs(1)).kept();
    let mut held = Actor::Wasm(guest.clone()).take(ask.clone()).await;
    for second in 0..4 {
        world.pass_slowly(Duration::from_secs(1)).await;
        held.refresh().await.unwrap_or_else(|failure| panic!("after {second} s: {failure:?}"));
    }
    assert_eq!(world.view(&ask).await.holders.len(), 1, "kept");
    world.pass_slowly(Duration::from_secs(1)).await;
    assert_eq!(held.look().await.lost, Some(Loss::MaxHold));
    assert_eq!(held.refresh().await, Err(Failure::Lost(Loss::MaxHold)));
    world.until_free(&ask).await;
    world.actor().await.take(ask).await;
    assert_eq!(bounded.counts().held, 1, "its handle lives, and counts");
    drop(held);
    guest.kill();
    assert_eq!(bounded.counts().held, 0);
}

/// The host refreshes for as long as the guest's handle lives: it ends with the store of a guest
/// that trapped, and with that of one whose call was dropped.
#[tokio::test]
async fn keeping_ends_with_the_store() {
    let (world, _) = world();
    let ask = lease("a").ttl(Duration::from_secs(1)).kept();
    for traps in [true, false] {
        let guest = guest(&world).await;
        drop(Actor::Wasm(guest.clone()).take(ask.clone()).await);
        world.pass_slowly(Duration::from_secs(3)).await;
        assert_eq!(world.view(&ask).await.holders.len(), 1, "kept");
        if traps {
            guest.trap().await;
        }
        guest.kill();
        world.until_free(&ask).await;
        world.pass_slowly(Duration::from_secs(3)).await;
        world.until_free(&ask).await;
    }
}

/// A hold that the host keeps for a guest is lost to the guest when its host's backend says so.
#[tokio::test]
async fn a_guest_sees_its_kept_hold_revoked() {
    let (world, _) = world();
    let ask = lease("a").ttl(Duration::from_secs(3)).kept();
    let mut held = world.actor().await.take(ask.clone()).await;
    world.leases().revoke(&leases_tests::world::key(&ask), None).await.unwrap();
    world.pass_slowly(Duration::from_secs(1)).await;
    assert_eq!(held.look().await.lost, Some(Loss::Revoked));
    assert_eq!(held.look().await.remaining, Duration::ZERO);
    assert_eq!(held.refresh().await, Err(Failure::Lost(Loss::Revoked)));
}
