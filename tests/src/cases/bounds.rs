//! Arguments out of bounds: refused with the bound, and nothing is asked or held.

use std::time::Duration;

use super::{ms, secs};
use crate::{Actor, Ask, Failure, World, lease, listed, semaphore};

pub(super) const CASES: &[crate::Case<World>] = listed![
    names_have_1_to_512_bytes_and_no_control_characters,
    h12_a_ttl_of_nothing_is_refused,
    p5_the_greatest_numbers_are_values_not_panics,
    limits_are_1_to_1000,
    owners_and_notes_are_bounded,
    fences_and_slots_are_bounded,
    a_refresh_is_bounded_too,
];

async fn invalid(actor: &Actor, ask: Ask, why: &str) {
    match actor.acquire(ask.clone()).await {
        Err(Failure::Invalid(text)) if text == why => {}
        Err(other) => panic!("{ask:?}: {other:?}, not {why}"),
        Ok(_) => panic!("{ask:?} must be refused"),
    }
}

async fn names_have_1_to_512_bytes_and_no_control_characters(world: World) {
    let actor = world.actor().await;
    invalid(&actor, lease(""), "name: 1 to 512 bytes, not 0").await;
    invalid(&actor, lease("x".repeat(513)), "name: 1 to 512 bytes, not 513").await;
    invalid(&actor, semaphore("a\n", 1), r"name: no control characters, but '\n' at byte 1").await;
    let nul = r"name: no control characters, but '\0' at byte 0";
    invalid(&actor, lease("\0"), nul).await;
    assert_eq!(
        actor.admit("", None, 1).await,
        Err(Failure::Invalid("name: 1 to 512 bytes, not 0".to_owned())),
    );
    actor.take(lease("x".repeat(512))).await;
}

/// Case H12: ttl 0 is refused, and so is all that is out of bounds.
async fn h12_a_ttl_of_nothing_is_refused(world: World) {
    let actor = world.actor().await;
    let ask = lease(world.name("a"));
    for (ttl, text) in [
        (Duration::ZERO, "0ns"),
        (Duration::from_nanos(9_999_999), "9.999999ms"),
        (secs(86_401), "86401s"),
    ] {
        let why = format!("ttl: 10ms to 86400s, not {text}");
        invalid(&actor, ask.clone().ttl(ttl), &why).await;
    }
    invalid(&actor, ask.clone().max_hold(ms(9)), "max-hold: 10ms to 2592000s, not 9ms").await;
    world.until_free(&ask).await;
    actor.take(ask.clone().ttl(ms(10))).await.release().await.unwrap();
    actor.take(ask.ttl(secs(86_400))).await;
}

/// Case P5: every number at its type's greatest is an error value, not a panic of the host.
async fn p5_the_greatest_numbers_are_values_not_panics(world: World) {
    let actor = world.actor().await;
    let greatest = Duration::from_nanos(u64::MAX);
    let ask = lease(world.name("a"));
    let text = format!("{greatest:?}");
    let ttl = format!("ttl: 10ms to 86400s, not {text}");
    invalid(&actor, ask.clone().ttl(greatest), &ttl).await;
    let max_hold = format!("max-hold: 10ms to 2592000s, not {text}");
    invalid(&actor, ask.clone().max_hold(greatest), &max_hold).await;
    let limit = format!("limit: 1 to 1000, not {}", u32::MAX);
    invalid(&actor, semaphore(&*ask.name, u32::MAX), &limit).await;
    actor.take(ask.wait(greatest)).await;
    let fence = format!("fence: 1 to 9007199254740991, not {}", u64::MAX);
    assert_eq!(actor.admit("table", None, u64::MAX).await, Err(Failure::Invalid(fence)));
    let slot = format!("slot: 0 to 999, not {}", u32::MAX);
    assert_eq!(actor.current("table", Some(u32::MAX)).await, Err(Failure::Invalid(slot)));
}

async fn limits_are_1_to_1000(world: World) {
    let actor = world.actor().await;
    let name = world.name("a");
    invalid(&actor, semaphore(&*name, 0), "limit: 1 to 1000, not 0").await;
    invalid(&actor, semaphore(&*name, 1001), "limit: 1 to 1000, not 1001").await;
    actor.take(semaphore(&*name, 1000)).await;
}

async fn owners_and_notes_are_bounded(world: World) {
    let actor = world.actor().await;
    let ask = lease(world.name("a"));
    invalid(&actor, ask.clone().owner(""), "owner: 1 to 128 bytes, not 0").await;
    invalid(&actor, ask.clone().owner("x".repeat(129)), "owner: 1 to 128 bytes, not 129").await;
    invalid(&actor, ask.clone().note("x".repeat(257)), "note: 0 to 256 bytes, not 257").await;
    let bell = r"note: no control characters, but '\u{7}' at byte 0";
    invalid(&actor, ask.clone().note("\u{7}"), bell).await;
    world.until_free(&ask).await;
    actor.take(ask.owner("x".repeat(128)).note("x".repeat(256))).await;
}

async fn fences_and_slots_are_bounded(world: World) {
    let actor = world.actor().await;
    let table = world.name("table");
    let zero = "fence: 1 to 9007199254740991, not 0".to_owned();
    assert_eq!(actor.admit(&table, None, 0).await, Err(Failure::Invalid(zero)));
    let slot = "slot: 0 to 999, not 1000".to_owned();
    assert_eq!(actor.admit(&table, Some(1000), 1).await, Err(Failure::Invalid(slot)));
    assert_eq!(actor.current(&table, None).await, Ok(None));
}

async fn a_refresh_is_bounded_too(world: World) {
    let mut held = world.actor().await.take(lease(world.name("a")).ttl(secs(1))).await;
    let why = Failure::Invalid("ttl: 10ms to 86400s, not 0ns".to_owned());
    assert_eq!(held.refresh_for(Some(Duration::ZERO)).await, Err(why));
    assert_eq!(held.look().await.remaining, ms(900), "it is held as before");
}
