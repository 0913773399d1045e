//! What is stored in Redis: scripts and data that are gone, idle keys, numbers, names.

use std::collections::HashSet;
use std::time::Duration;

use leases::spec::Mode;
use leases::{Backend as _, FENCE_MAX, Fence, Loss, ManualClock, Verdict};
use leases_tests::live::{SECOND, ask, connect, lease_key, semaphore_key, view};
use leases_tests::on_servers::names::are_separate;
use leases_tests::redis::{backend, told};
use leases_tests::servers::{Cluster, Redis, until};

async fn delete(server: &Redis, key: &str) {
    let deleted: u64 = server.ask(redis::cmd("DEL").arg(key)).await;
    assert_eq!(deleted, 1, "{key} was there");
}

/// Case R1: SCRIPT FLUSH between any two commands, and among many, is unseen.
#[tokio::test]
async fn r1_flushed_scripts_are_loaded_again_unseen() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    for _ in 0..3 {
        server.flush_scripts().await;
        let mut lease = leases.lease("a").unwrap().acquire().await.unwrap();
        server.flush_scripts().await;
        let mut permit = leases.semaphore("a", 1).unwrap().acquire().await.unwrap();
        server.flush_scripts().await;
        lease.refresh().await.unwrap();
        server.flush_scripts().await;
        assert_eq!(view(&leases, &lease_key("a")).await.holders.len(), 1);
        server.flush_scripts().await;
        let admitted = leases.guard("a").unwrap().admit(lease.fence()).await.unwrap();
        assert_eq!(admitted, Verdict::Admitted);
        server.flush_scripts().await;
        assert!(lease.release().await.unwrap());
        server.flush_scripts().await;
        assert_eq!(leases.revoke(&semaphore_key("a"), None).await.unwrap(), 1);
        server.flush_scripts().await;
        assert!(!permit.release().await.unwrap());
    }
    let mut working = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let request = leases.lease("b").unwrap();
        working.spawn(async move {
            for _ in 0..40 {
                assert!(request.acquire().await.unwrap().release().await.unwrap());
            }
        });
    }
    while !working.is_empty() {
        server.flush_scripts().await;
        while let Some(ended) = working.try_join_next() {
            ended.unwrap();
        }
    }
}

/// Case R1: a durable server that restarts between any two calls is unseen, also by a release.
#[tokio::test]
async fn r1_a_restart_between_calls_is_unseen() {
    let server = Redis::start_durable().await;
    let leases = connect(&server.url()).await;
    let request = leases.lease("a").unwrap().keep_alive();
    let mut held = request.acquire().await.unwrap();
    server.restart().await;
    held.refresh().await.unwrap();
    server.restart().await;
    assert!(request.try_acquire().await.unwrap().is_none());
    server.restart().await;
    assert!(held.release().await.unwrap());
    server.restart().await;
    let mut again = request.acquire().await.unwrap();
    assert!(again.fence() > held.fence());
    server.restart().await;
    assert_eq!(leases.revoke(&lease_key("a"), None).await.unwrap(), 1);
    assert!(!again.release().await.unwrap());
}

/// Case R4: nothing is left of idle names, and fences rise all the same. All of it is used until
/// the dead waiters' tickets lapse, 5 s after they asked; then it is kept for 0.5 s and an eighth.
#[tokio::test]
async fn r4_idle_keys_expire_by_themselves() {
    let server = Redis::start().await;
    let url = format!("{}?retention=500ms", server.url());
    let (leases, bare) = (connect(&url).await, backend(&url).await);
    let patience = bare.properties().patience;
    let lease = leases.lease("a").unwrap().ttl(SECOND);
    let semaphore = leases.semaphore("a", 2).unwrap().ttl(SECOND).owner("somebody");
    let (one, mut other) = (lease.acquire().await.unwrap(), semaphore.acquire().await.unwrap());
    let superseding = semaphore.acquire().await.unwrap();
    assert!(!other.release().await.unwrap());
    for fence in [one.fence().into(), leases::FenceToken::from(superseding.fence())] {
        let admitted = leases.guard("a").unwrap().admit(fence).await.unwrap();
        assert_eq!(admitted, Verdict::Admitted);
    }
    for (key, limit) in [(lease_key("a"), 1), (semaphore_key("a"), 1), (lease_key("b"), 1)] {
        for _ in 0..3 {
            bare.ask(&ask(&key, limit, Mode::Wait { patience })).await.unwrap();
        }
    }
    leases.revoke(&lease_key("b"), None).await.unwrap();
    let (fence, slot_fence) = (one.fence(), superseding.fence().fence);
    std::mem::forget((one, superseding));
    assert!(server.keys().await.len() > 10);
    // lease_key("b") is held by nobody who lives, for a minute: its keys stay for that long.
    let left = async || {
        let keys = server.keys().await;
        keys.into_iter().filter(|key| !key.starts_with(b"leases:lease:{b}")).count()
    };
    let began = std::time::Instant::now();
    until("idle keys are gone", || async { (left().await == 0).then_some(()) }).await;
    let took = began.elapsed();
    assert!(took < patience + 2 * SECOND, "{took:?}");
    assert!(lease.acquire().await.unwrap().fence() > fence);
    assert!(semaphore.acquire().await.unwrap().fence().fence > slot_fence);
}

/// Case R4: whatever is left in the server has an end.
async fn every_key_expires(server: &Redis) {
    for key in server.keys().await {
        let ttl: i64 = server.ask(redis::cmd("PTTL").arg(&key)).await;
        assert!(ttl != -1, "{} never expires", String::from_utf8_lossy(&key));
    }
}

/// Case R5: a guard keeps every digit up to the greatest fence, 2^53 - 1.
#[tokio::test]
async fn r5_a_guard_keeps_every_digit() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let guard = leases.guard("a").unwrap();
    for number in [FENCE_MAX - 2, FENCE_MAX - 1, FENCE_MAX] {
        let fence = Fence::new(number).unwrap();
        assert_eq!(guard.admit(fence).await.unwrap(), Verdict::Admitted);
        assert_eq!(guard.current().await.unwrap(), Some(fence));
        let older = Fence::new(number - 1).unwrap();
        assert_eq!(guard.admit(older).await.unwrap(), Verdict::Stale(fence));
    }
}

/// Case R5: where the clock stands still, far ahead, each fence is greater by exactly one; and by a
/// server's own clock, behind them, they go on so.
#[tokio::test]
async fn r5_fences_ahead_of_the_clock_rise_by_one() {
    let (server, time) = (Redis::start().await, ManualClock::new());
    time.advance(Duration::from_secs(200 * 365 * 24 * 60 * 60));
    let (ahead, leases) = (told(&server.url(), &time).await, connect(&server.url()).await);
    let mut last = None;
    for round in 0..20 {
        let of = if round < 10 { &ahead } else { &leases };
        let mut lease = of.lease("a").unwrap().acquire().await.unwrap();
        let mut permit = of.semaphore("a", 3).unwrap().acquire().await.unwrap();
        let fences = (lease.fence().as_u64(), permit.fence().fence.as_u64());
        if let Some((of_lease, of_permit)) = last {
            assert_eq!(fences, (of_lease + 1, of_permit + 1));
        }
        assert!(fences.0 > FENCE_MAX / 2, "{fences:?}");
        last = Some(fences);
        assert!(lease.release().await.unwrap() && permit.release().await.unwrap());
    }
}

/// Case H2: what a waiter writes anew after it was deleted by hand has an end.
#[tokio::test]
async fn h2_details_that_are_written_anew_expire() {
    let server = Redis::start().await;
    let bare = backend(&server.url()).await;
    let patience = bare.properties().patience;
    let key = lease_key("a");
    bare.ask(&ask(&key, 1, Mode::Once)).await.unwrap();
    let waiter = ask(&key, 1, Mode::Wait { patience });
    bare.ask(&waiter).await.unwrap();
    delete(&server, "leases:lease:{a}:details").await;
    bare.ask(&waiter).await.unwrap();
    assert_eq!(server.keys().await.len(), 4);
    every_key_expires(&server).await;
}

/// A key that can't be read, as another version's or somebody else's may be, costs no hold that is
/// refreshed with it.
#[tokio::test]
async fn a_key_that_cannot_be_read_loses_no_other_hold() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut held = Vec::new();
    for name in ["a", "b", "c"] {
        let request = leases.lease(name).unwrap().ttl(2 * SECOND).keep_alive();
        held.push(request.acquire().await.unwrap());
    }
    let of_another_layout = [32_u8; 64].as_slice();
    let mut set = redis::cmd("SET");
    server.ask::<()>(set.arg("leases:lease:{b}").arg(of_another_layout).arg("KEEPTTL")).await;
    assert!(held[1].refresh().await.is_err());
    tokio::time::sleep(3 * SECOND).await;
    let losses: Vec<_> = held.iter().map(|lease| lease.loss()).collect();
    assert_eq!(losses, [None, Some(Loss::Unconfirmed), None]);
}

/// Of each name a lease's record, a guard, and of a semaphore record, holds and details.
const KEYS_OF_A_NAME: usize = 5;

#[tokio::test]
async fn names_that_look_alike_are_separate_keys() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    are_separate(&leases, async |names| {
        assert_eq!(server.keys().await.len(), names * KEYS_OF_A_NAME);
    })
    .await;
    let keys: HashSet<_> = server.keys().await.into_iter().collect();
    assert!(keys.contains("leases:lease:{a}".as_bytes()));
}

/// Case R2: on a cluster all that is stored of one name is in one slot, whatever braces it has.
#[tokio::test]
async fn r2_names_that_look_alike_are_separate_keys_of_a_cluster() {
    let cluster = Cluster::start().await;
    let leases = connect(&cluster.url()).await;
    are_separate(&leases, async |names| {
        let mut keys = 0;
        for node in cluster.nodes() {
            keys += node.keys().await.len();
        }
        assert_eq!(keys, names * KEYS_OF_A_NAME);
    })
    .await;
}
