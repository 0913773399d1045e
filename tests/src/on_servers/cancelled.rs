//! Acquires that are cancelled, wherever they are.

use std::time::Duration;

use leases::{Leases, PluginId, Policy, Scope};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::task::JoinSet;

use crate::live::{SECOND, lease_key, semaphore_key, until_free};
use crate::trouble::cancelled_after;
use crate::{Actor, Ask, Case, On, lease, listed, native, semaphore, wasm};

pub(super) const CASES: &[Case<On>] = listed![
    a1_a2_cancelled_anywhere_nothing_stays,
    a1_a2_cancelled_calls_of_a_guest_leave_nothing,
    a1_a2_cancelled_in_line_nothing_stays,
];

/// How often an acquire was cancelled, and how often it was granted before.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) cancelled: u32,
    pub(super) held: u32,
}

/// Cancels after 0, 1, 2, … polls and, every other time, after a random time within `span`. Each
/// time the name is free within a second, of a ttl of a minute.
pub(super) async fn cancel(
    actor: &Actor,
    leases: &Leases,
    ask: &Ask,
    runs: u32,
    span: Duration,
) -> Seen {
    let (mut seen, mut polls) = (Seen::default(), 0);
    let mut rng = SmallRng::seed_from_u64(7);
    let key = crate::world::key(ask);
    for run in 0..runs {
        let acquiring = actor.acquire(ask.clone());
        let ended = if run % 2 == 0 {
            let ended = cancelled_after(polls, acquiring).await;
            polls = if ended.is_some() { 0 } else { polls + 1 };
            ended
        } else {
            let after = span.mul_f64(rng.random_range(0.0..1.0));
            tokio::time::timeout(after, acquiring).await.ok()
        };
        match ended {
            None => seen.cancelled += 1,
            Some(ended) => {
                seen.held += 1;
                ended.expect("it is free").release().await.expect("the server answers");
            }
        }
        until_free(leases, &key, SECOND).await;
    }
    seen
}

pub(super) fn native_actor(leases: &Leases) -> Actor {
    Actor::Native(native::Program::new(leases.clone()))
}

/// Cases A1 and A2: up to 1,000 times for each kind, straight to the server.
async fn a1_a2_cancelled_anywhere_nothing_stays(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let runs = on.times(1000);
    for ask in [lease("a").waiting(), semaphore("a", 1).waiting()] {
        let span = Duration::from_millis(2);
        let seen = cancel(&native_actor(&leases), &leases, &ask, runs, span).await;
        assert!(seen.cancelled > runs * 3 / 10 && seen.held > runs / 10, "{seen:?}");
    }
}

/// Cases A1, A2 and P1 through a guest whose call is dropped and whose store is kept.
async fn a1_a2_cancelled_calls_of_a_guest_leave_nothing(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let program = wasm::Program::load();
    let mut kept = Vec::new();
    for run in 0..100 {
        let plugin = PluginId::new("tester").unwrap();
        let policy = Policy::allowing(["*"]).unwrap();
        let scope = Scope::new(leases.clone(), plugin, policy);
        let actor = Actor::Wasm(program.start(scope).await);
        let ask = lease("a").waiting();
        if let Some(held) = cancelled_after(run % 6, actor.acquire(ask)).await {
            held.expect("it is free").release().await.unwrap();
        }
        kept.push(actor);
        until_free(&leases, &lease_key("a"), SECOND).await;
    }
}

/// Case A1 in line: waiters are cancelled while the name is released and handed on.
async fn a1_a2_cancelled_in_line_nothing_stays(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let mut rng = SmallRng::seed_from_u64(7);
    let (mut cancelled, mut admitted) = (0, 0);
    let pace = on.pace();
    for run in 0..150 {
        let is_lease = run % 2 == 0;
        let (key, ask) = match is_lease {
            true => (lease_key("a"), lease("a").waiting()),
            false => (semaphore_key("a"), semaphore("a", 1).waiting()),
        };
        let actor = native_actor(&leases);
        let holder = actor.take(ask.clone()).await;
        let mut waiting = JoinSet::new();
        for _ in 0..3 {
            let (actor, ask) = (actor.clone(), ask.clone());
            let after = Duration::from_micros(rng.random_range(2000..9000)) * pace;
            waiting.spawn(async move {
                match tokio::time::timeout(after, actor.acquire(ask)).await {
                    Ok(held) => held.expect("it comes free").release().await.is_ok(),
                    Err(_) => false,
                }
            });
        }
        tokio::time::sleep(Duration::from_micros(rng.random_range(2000..7000)) * pace).await;
        holder.release().await.unwrap();
        for was_admitted in waiting.join_all().await {
            *(if was_admitted { &mut admitted } else { &mut cancelled }) += 1;
        }
        until_free(&leases, &key, SECOND).await;
    }
    assert!(cancelled > 50 && admitted > 50, "{cancelled} cancelled, {admitted} admitted");
}
