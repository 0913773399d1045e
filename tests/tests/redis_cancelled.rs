//! Acquires that are cancelled, and clients that are killed, over a real server in real time.

use std::process::Command;
use std::time::Duration;

use leases::{Leases, NamePattern, PluginId, Scope};
use leases_tests::redis::{
    Program, connect, lease_key, semaphore_key, until_free, until_seen, view,
};
use leases_tests::servers::{Proxy, Redis};
use leases_tests::trouble::cancelled_after;
use leases_tests::{Actor, Ask, lease, native, semaphore, wasm};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

const SECOND: Duration = Duration::from_secs(1);

/// How often an acquire was cancelled, and how often it was granted before.
#[derive(Debug, Default)]
struct Seen {
    cancelled: u32,
    held: u32,
}

/// Cancels after 0, 1, 2, … polls and, every other time, after a random time within `span`. Each
/// time the name is free within a second, of a ttl of a minute.
async fn cancel(actor: &Actor, leases: &Leases, ask: &Ask, runs: u32, span: Duration) -> Seen {
    let (mut seen, mut polls) = (Seen::default(), 0);
    let mut rng = SmallRng::seed_from_u64(7);
    let key = leases_tests::world::key(ask);
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

fn native_actor(leases: &Leases) -> Actor {
    Actor::Native(native::Program::new(leases.clone()))
}

/// Cases A1 and A2: 1,000 times for each kind, straight to the server.
#[tokio::test]
async fn a1_a2_cancelled_anywhere_nothing_stays() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    for ask in [lease("a").waiting(), semaphore("a", 1).waiting()] {
        let span = Duration::from_millis(2);
        let seen = cancel(&native_actor(&leases), &leases, &ask, 1000, span).await;
        assert!(seen.cancelled > 300 && seen.held > 100, "{seen:?}");
    }
}

/// Cases A1 and A2 where the grant is on its way for 5 ms.
#[tokio::test]
async fn a2_cancelled_while_the_grant_is_on_its_way_nothing_stays() {
    let server = Redis::start().await;
    let proxy = Proxy::in_front_of(&server).await;
    let (leases, direct) = (connect(&proxy.url()).await, connect(&server.url()).await);
    proxy.delay(Duration::from_millis(5));
    for ask in [lease("a").waiting(), semaphore("a", 1).waiting()] {
        let span = Duration::from_millis(15);
        let seen = cancel(&native_actor(&leases), &direct, &ask, 500, span).await;
        assert!(seen.cancelled > 150 && seen.held > 50, "{seen:?}");
    }
}

/// Cases A1, A2 and P1 through a guest whose call is dropped and whose store is kept.
#[tokio::test]
async fn a1_a2_cancelled_calls_of_a_guest_leave_nothing() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let program = wasm::Program::load();
    let mut kept = Vec::new();
    for run in 0..100 {
        let plugin = PluginId::new("tester").unwrap();
        let scope = Scope::new(leases.clone(), plugin).allow(NamePattern::new("*").unwrap());
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
#[tokio::test]
async fn a1_a2_cancelled_in_line_nothing_stays() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut rng = SmallRng::seed_from_u64(7);
    let (mut cancelled, mut admitted) = (0, 0);
    for run in 0..150 {
        let is_lease = run % 2 == 0;
        let (key, ask) = match is_lease {
            true => (lease_key("a"), lease("a").waiting()),
            false => (semaphore_key("a"), semaphore("a", 1).waiting()),
        };
        let actor = native_actor(&leases);
        let holder = actor.take(ask.clone()).await;
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let (actor, ask) = (actor.clone(), ask.clone());
            let after = Duration::from_micros(rng.random_range(2000..9000));
            waiting.spawn(async move {
                match tokio::time::timeout(after, actor.acquire(ask)).await {
                    Ok(held) => held.expect("it comes free").release().await.is_ok(),
                    Err(_) => false,
                }
            });
        }
        tokio::time::sleep(Duration::from_micros(rng.random_range(2000..7000))).await;
        holder.release().await.unwrap();
        for was_admitted in waiting.join_all().await {
            *(if was_admitted { &mut admitted } else { &mut cancelled }) += 1;
        }
        until_free(&leases, &key, SECOND).await;
    }
    assert!(cancelled > 50 && admitted > 50, "{cancelled} cancelled, {admitted} admitted");
}

fn client(url: &str, what: &str, name: &str, limit: u32, ttl_ms: u32) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_client"));
    command.args([url, what, name, &limit.to_string(), &ttl_ms.to_string()]);
    Program::start(&mut command)
}

/// Case A4: a killed client's ticket lapses within its patience of 5 s, and the next is admitted;
/// a killed holder's hold ends within its ttl of 2 s.
#[tokio::test]
async fn a4_a_killed_clients_ticket_and_hold_lapse() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut dead = client(&server.url(), "hold", "a", 0, 2000);
    dead.says();
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    let mut next = client(&server.url(), "hold", "a", 0, 2000);
    next.says();
    until_seen(&leases, &lease_key("a"), 1, 2).await;
    dead.kill_9();
    assert!(until_seen(&leases, &lease_key("a"), 1, 1).await < 6 * SECOND);
    assert!(held.release().await.unwrap());
    let fence: u64 = next.says().parse().unwrap();
    assert!(fence > held.fence().as_u64());
    next.kill_9();
    until_free(&leases, &lease_key("a"), 3 * SECOND).await;
}

/// Case A4: a dead head of the line holds up nobody for longer than the claim time.
#[tokio::test]
async fn a4_a_dead_head_of_the_line_is_passed_over() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut dead = client(&server.url(), "hold", "a", 0, 2000);
    dead.says();
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    let request = leases.lease("a").unwrap();
    let next = tokio::spawn(async move { request.acquire().await });
    until_seen(&leases, &lease_key("a"), 1, 2).await;
    dead.kill_9();
    assert!(held.release().await.unwrap());
    let next = tokio::time::timeout(SECOND * 5 / 2, next).await;
    drop(next.expect("it is admitted").unwrap().unwrap());
}

/// Cases S3 and S5: clients that take and give back without end are killed at whatever they do.
/// Once their holds and tickets lapsed, exactly the limit can be held, in the slots below it.
#[tokio::test]
async fn s3_killed_clients_leave_no_count_behind() {
    const LIMIT: u32 = 3;
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut rng = SmallRng::seed_from_u64(7);
    let key = semaphore_key("s");
    for _ in 0..8 {
        let clients: Vec<_> =
            (0..5).map(|_| client(&server.url(), "churn", "s", LIMIT, 500)).collect();
        for mut client in clients {
            tokio::time::sleep(Duration::from_millis(rng.random_range(30..80))).await;
            client.kill_9();
            assert!(view(&leases, &key).await.holders.len() <= LIMIT as usize);
        }
    }
    until_free(&leases, &key, 7 * SECOND).await;
    let semaphore = leases.semaphore("s", LIMIT).unwrap();
    let mut held = Vec::new();
    for slot in 0..LIMIT {
        let permit = semaphore.try_acquire().await.unwrap().expect("a place");
        assert_eq!(permit.slot(), slot);
        held.push(permit);
    }
    assert!(semaphore.try_acquire().await.unwrap().is_none());
}

/// Case S1: a caller with a short ttl evicts nobody who has a long one, and the other way round.
#[tokio::test]
async fn s1_each_holder_has_its_own_end() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let long = leases.semaphore("s", 2).unwrap().ttl(54 * SECOND).acquire().await.unwrap();
    let semaphore = leases.semaphore("s", 2).unwrap().ttl(SECOND / 2);
    for _ in 0..3 {
        let short = semaphore.acquire().await.unwrap();
        assert!(semaphore.try_acquire().await.unwrap().is_none());
        std::mem::forget(short);
    }
    assert_eq!(long.loss(), None);
    until_seen(&leases, &semaphore_key("s"), 1, 0).await;
    let view = view(&leases, &semaphore_key("s")).await;
    assert_eq!(view.holders[0].fence, long.fence().fence);
}

/// Cases S2 and S4: an expired permit's release is false and frees no other's place; a waiter is
/// admitted at the end of what is ahead, with nobody releasing: 0.5 s, and a second of margin.
#[tokio::test]
async fn s2_s4_an_expired_permit_wakes_the_next_and_is_released_in_vain() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let semaphore = leases.semaphore("s", 1).unwrap();
    let mut short = semaphore.clone().ttl(SECOND / 2).acquire().await.unwrap();
    let began = std::time::Instant::now();
    let next = semaphore.acquire().await.unwrap();
    assert!(began.elapsed() < SECOND / 2 + SECOND, "{:?}", began.elapsed());
    assert!(next.fence().fence > short.fence().fence);
    assert!(!short.release().await.unwrap());
    drop(short);
    assert!(semaphore.try_acquire().await.unwrap().is_none());
    assert_eq!(view(&leases, &semaphore_key("s")).await.holders.len(), 1);
}
