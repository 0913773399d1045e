//! One holder at a time.

use super::secs;
use crate::{Failure, World, lease, listed, semaphore};

pub(super) const CASES: &[crate::Case<World>] = listed![
    one_holds_and_others_are_refused,
    release_says_whether_it_was_still_held,
    a_released_name_is_free_at_once,
    a_dropped_handle_gives_back,
    names_are_compared_byte_for_byte,
    a_lease_and_a_semaphore_of_one_name_never_meet,
    the_handle_tells_what_was_asked_for,
    fences_grow_with_every_grant,
];

async fn one_holds_and_others_are_refused(world: World) {
    let ask = lease(world.name("a"));
    let held = world.actor().await.take(ask.clone()).await;
    assert_eq!(world.actor().await.refused(ask.clone()).await, Failure::NotAcquired);
    assert_eq!(world.view(&ask).await.holders.len(), 1);
    assert_eq!(world.view(&ask).await.waiters.len(), 0, "a refusal leaves nothing");
    assert_eq!(held.release().await, Ok(true));
}

async fn release_says_whether_it_was_still_held(world: World) {
    let ask = lease(world.name("a")).ttl(secs(1));
    let actor = world.actor().await;
    let first = actor.take(ask.clone()).await;
    assert_eq!(first.release().await, Ok(true));
    let second = actor.take(ask.clone()).await;
    world.pass(secs(1));
    assert_eq!(second.release().await, Ok(false), "it had ended");
}

async fn a_released_name_is_free_at_once(world: World) {
    let ask = lease(world.name("a"));
    world.actor().await.take(ask.clone()).await.release().await.unwrap();
    world.actor().await.take(ask).await;
}

async fn a_dropped_handle_gives_back(world: World) {
    let ask = lease(world.name("a"));
    let actor = world.actor().await;
    actor.take(ask.clone()).await.forget().await;
    world.until_free(&ask).await;
}

/// Case-folding, padding, normalising and tag-reading backends would mix these up.
async fn names_are_compared_byte_for_byte(world: World) {
    let long = "é".repeat(256);
    let longer = format!("{}f", "é".repeat(255));
    let names = ["a", "A", "a ", " a", "{a}", "a{b}c", "}{", "é", "e\u{301}", &long, &longer];
    let actor = world.actor().await;
    let mut held = Vec::new();
    for name in names {
        held.push(actor.take(lease(name)).await);
    }
    for (name, held) in names.iter().zip(held) {
        assert_eq!(held.look().await.name, *name);
        assert_eq!(held.release().await, Ok(true), "{name:?}");
    }
}

async fn a_lease_and_a_semaphore_of_one_name_never_meet(world: World) {
    let name = world.name("a");
    let actor = world.actor().await;
    let lease = actor.take(lease(&*name)).await;
    let permit = actor.take(semaphore(&*name, 1)).await;
    assert_eq!(lease.release().await, Ok(true));
    assert_eq!(permit.release().await, Ok(true));
}

async fn the_handle_tells_what_was_asked_for(world: World) {
    let ask = lease(world.name("a")).owner("job 7").note("nightly").ttl(secs(100));
    let held = world.actor().await.take(ask.clone()).await;
    let seen = held.look().await;
    assert_eq!(seen.name, ask.name);
    assert_eq!(seen.owner.as_deref(), Some("job 7"));
    assert_eq!(seen.lost, None);
    assert_eq!(seen.remaining, secs(99), "the ttl less the margin, a second");
    let view = world.view(&ask).await;
    assert_eq!(view.holders[0].note.as_ref().unwrap().as_str(), "nightly");
    assert!(view.holders[0].owner.as_ref().unwrap().as_str().ends_with("job 7"));
    assert_eq!(view.holders[0].fence.as_u64(), seen.fence);
}

async fn fences_grow_with_every_grant(world: World) {
    let ask = lease(world.name("a"));
    let actor = world.actor().await;
    let mut last = 0;
    for round in 0..5 {
        let held = actor.take(ask.clone()).await;
        let fence = held.fence().await;
        assert!(fence > last, "round {round}: {fence} after {last}");
        assert!(fence < 1 << 53);
        last = fence;
        held.release().await.unwrap();
        if round == 2 {
            world.pass(secs(3600));
        }
    }
}
