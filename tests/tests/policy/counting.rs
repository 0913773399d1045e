//! Counts: taken when an ask starts, given back when its hold or wait is gone, on every path.

use std::sync::Arc;
use std::time::Duration;

use leases::{Counts, Loss, PolicyBuilder, Quota, Rate};
use leases_tests::world::{Acquiring, acquiring};
use leases_tests::{Actor, Failure, lease, semaphore};
use tokio::task::JoinSet;

use super::{Host, SECOND, granting};

/// Both kinds of backend: one that does everything at once, and one that is given back to later.
fn hosts() -> [Host; 2] {
    [Host::new(), Host::slow()]
}

fn few() -> PolicyBuilder {
    granting("*").held(3).waiting(1)
}

/// Returns when so much is counted.
async fn until(host: &Host, scope: &leases::Scope, held: u32, waiting: u32) {
    let counted = async {
        while scope.counts() != (Counts { held, waiting }) {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(20 * SECOND, counted).await;
    in_time.unwrap_or_else(|_| panic!("{:?} in {:?}", scope.counts(), host.counted));
}

/// An ask of a new instance that waits in line.
async fn waiter(host: &Host, scope: &leases::Scope, name: &str) -> (Actor, Acquiring) {
    let guest = host.guest(scope).await;
    let waiting = acquiring(&guest, lease(name).waiting());
    let key = leases_tests::world::key(&lease(name));
    while host.leases.inspect(&key).await.unwrap().waiters.is_empty() {
        tokio::task::yield_now().await;
    }
    (guest, waiting)
}

#[tokio::test]
async fn an_ask_that_waits_counts_as_held_and_as_waiting_until_it_is_granted() {
    for host in hosts() {
        let mut other = host.leases.lease("a").unwrap().acquire().await.unwrap();
        let (scope, guest) = host.plugin("importer", few()).await;
        let (_, first) = waiter(&host, &scope, "a").await;
        until(&host, &scope, 1, 1).await;
        let before = host.counted.began();
        let second = guest.refused(lease("b").waiting()).await;
        assert_eq!(second, Failure::OverQuota(Quota::Waiting));
        assert_eq!(scope.counts(), Counts { held: 1, waiting: 1 });
        assert_eq!(host.counted.began(), before);
        guest.take(lease("b")).await;
        other.release().await.unwrap();
        let first = first.held().await;
        until(&host, &scope, 2, 0).await;
        first.release().await.unwrap();
        until(&host, &scope, 1, 0).await;
        drop(guest);
        host.until_gone(&scope).await;
    }
}

#[tokio::test]
async fn counts_come_back_however_an_ask_ends() {
    for host in hosts() {
        let other = host.leases.lease("a").unwrap().ttl(60 * SECOND).acquire().await.unwrap();
        let (scope, guest) = host.plugin("importer", few()).await;
        // A refusal, an error, a wait that ends, a deadlock.
        assert_eq!(guest.refused(lease("a")).await, Failure::NotAcquired);
        host.until_gone(&scope).await;
        assert!(matches!(guest.refused(lease("b").ttl(Duration::ZERO)).await, Failure::Invalid(_)));
        host.until_gone(&scope).await;
        let (_, timed_out) = waiter(&host, &scope, "a").await;
        host.time.advance(50 * SECOND);
        assert_eq!(timed_out.end().await.err(), Some(Failure::NotAcquired));
        host.until_gone(&scope).await;
        let held = guest.take(lease("b")).await;
        assert_eq!(guest.refused(lease("b").waiting()).await, Failure::WouldDeadlock);
        until(&host, &scope, 1, 0).await;
        // A release, a drop.
        assert!(held.release().await.unwrap());
        host.until_gone(&scope).await;
        guest.take(lease("b")).await.forget().await;
        host.until_gone(&scope).await;
        drop(other);
        // A cancelled call, a trap while it holds, with its store.
        let other = host.leases.lease("c").unwrap().acquire().await.unwrap();
        let (_, cancelled) = waiter(&host, &scope, "c").await;
        cancelled.cancel().await;
        host.until_gone(&scope).await;
        drop(guest.take(semaphore("d", 2)).await);
        let Actor::Wasm(guest) = guest else { unreachable!("a guest") };
        guest.trap().await;
        until(&host, &scope, 1, 0).await;
        guest.kill();
        host.until_gone(&scope).await;
        drop(other);
        // The end of the host's own handle.
        let guest = host.guest(&scope).await;
        guest.take(lease("e")).await;
        host.leases.close(SECOND).await.unwrap();
        drop(guest);
        host.until_gone(&scope).await;
    }
}

/// A hold that was lost still has its handle: a guest that lets all of its holds end does not get
/// more handles for that.
#[tokio::test]
async fn a_lost_hold_counts_until_its_handle_is_gone() {
    for host in hosts() {
        let (scope, guest) = host.plugin("importer", few()).await;
        let mut held = Vec::new();
        for name in ["a", "b", "c"] {
            held.push(guest.take(lease(name).ttl(SECOND)).await);
        }
        host.time.advance(2 * SECOND);
        for held in &held {
            assert_eq!(held.look().await.lost, Some(Loss::Expired));
        }
        assert_eq!(guest.refused(lease("d")).await, Failure::OverQuota(Quota::Held));
        held.pop().unwrap().forget().await;
        until(&host, &scope, 2, 0).await;
        guest.take(lease("d")).await;
        drop((guest, held));
        host.until_gone(&scope).await;
    }
}

/// Case P10: of many asks that start together no more get through than may hold, though none of
/// them is granted yet.
#[tokio::test]
async fn p10_asks_count_from_their_start() {
    for host in hosts() {
        let scope = host.scope("importer", granting("*").held(3));
        let scope = Arc::new(scope);
        let mut asks = JoinSet::new();
        for number in 0..20 {
            let guest = host.guest(&scope).await;
            asks.spawn(async move { (guest.acquire(lease(format!("{number}"))).await, guest) });
        }
        let (mut held, mut refused) = (Vec::new(), 0);
        while let Some(ended) = asks.join_next().await {
            match ended.unwrap() {
                (Ok(hold), guest) => held.push((hold, guest)),
                (Err(failure), _) => {
                    assert_eq!(failure, Failure::OverQuota(Quota::Held));
                    refused += 1;
                }
            }
        }
        assert_eq!((held.len(), refused), (3, 17));
        drop(held);
        host.until_gone(&scope).await;
    }
}

/// All scopes of one plugin are one plugin, however they were made; another one is another.
#[tokio::test]
async fn the_scopes_of_a_plugin_share_its_counts_and_rates() {
    let host = Host::new();
    let policy = || granting("*").held(1).acquires(Rate::per_second(2));
    let (first, a) = host.plugin("importer", policy()).await;
    let (second, b) = host.plugin("importer", policy()).await;
    let (_, other) = host.plugin("exporter", policy()).await;
    let held = a.take(lease("a")).await;
    assert_eq!((first.counts().held, second.counts().held), (1, 1));
    assert_eq!(b.refused(lease("b")).await, Failure::OverQuota(Quota::Held));
    other.take(lease("b")).await;
    held.release().await.unwrap();
    b.take(lease("c")).await.release().await.unwrap();
    assert_eq!(a.refused(lease("c")).await, Failure::OverQuota(Quota::Rate));
    assert_eq!(first.counts(), Counts::default(), "what is refused counts for nothing");
    host.time.advance(SECOND / 2);
    a.take(lease("c")).await;
}

/// A name that was used today may be used again, a name of a grant of its own always.
#[tokio::test]
async fn names_are_counted_by_the_day_where_a_grant_has_many() {
    let host = Host::new();
    let policy = granting("job:*").grant(super::grant("one")).names_per_day(2);
    let (_, guest) = host.plugin("importer", policy).await;
    for name in ["job:1", "job:2", "job:1", "one", "one"] {
        assert!(guest.take(lease(name)).await.release().await.unwrap());
    }
    for _ in 0..3 {
        assert_eq!(guest.refused(lease("job:3")).await, Failure::OverQuota(Quota::Rate));
        assert_eq!(guest.current("job:3", None).await, Ok(None), "it leaves nothing");
    }
    host.time.advance(24 * 3600 * SECOND);
    guest.take(lease("job:3")).await;
}

/// What the host refreshes for a guest, and what a guest gives back, is no call of its own.
#[tokio::test]
async fn keeping_and_releasing_take_no_tokens() {
    let host = Host::new();
    let (scope, guest) = host.plugin("importer", granting("*").calls(Rate::per_second(1))).await;
    let mut held = guest.take(lease("a").ttl(3 * SECOND).kept()).await;
    held.refresh().await.unwrap();
    assert_eq!(held.refresh().await, Err(Failure::OverQuota(Quota::Rate)));
    assert_eq!(held.look().await.lost, None, "a refresh that is refused is no loss");
    let before = host.counted.began();
    for _ in 0..40 {
        host.time.advance(SECOND / 4);
        leases_tests::world::take_turns().await;
    }
    assert_eq!(held.look().await.lost, None);
    assert!(host.counted.began() >= before + 9, "it was kept for ten seconds");
    assert!(held.release().await.unwrap());
    drop(guest);
    host.until_gone(&scope).await;
}

/// A hold without a max-hold of its own has the policy's, kept or refreshed by hand.
#[tokio::test]
async fn no_hold_lasts_longer_than_the_policy_allows() {
    let host = Host::new();
    let (_, guest) = host.plugin("importer", granting("*").hold_max(10 * SECOND)).await;
    let kept = guest.take(lease("a").ttl(3 * SECOND).kept()).await;
    let mut refreshed = guest.take(lease("b").ttl(8 * SECOND)).await;
    for _ in 0..44 {
        host.time.advance(SECOND / 4);
        leases_tests::world::take_turns().await;
        refreshed.refresh().await.ok();
    }
    for (held, name) in [(kept, "a"), (refreshed, "b")] {
        assert_eq!(held.look().await.lost, Some(Loss::MaxHold), "{name}");
        assert!(host.leases.lease(name).unwrap().try_acquire().await.unwrap().is_some());
    }
}

/// Case P2: a wait is as long as the guest wants, and no longer than the host allows.
#[tokio::test]
async fn p2_a_wait_has_the_bound_of_its_grant() {
    let host = Host::new();
    let _other = host.leases.lease("a").unwrap().ttl(3600 * SECOND).acquire().await.unwrap();
    let policy = leases::Policy::builder().grant(super::grant("*").wait_max(5 * SECOND));
    let scope = host.scope("importer", policy.wait_max(SECOND));
    for (wait, ends_after) in
        [(4 * SECOND, 4), (5 * SECOND, 5), (6 * SECOND, 5), (Duration::MAX, 5)]
    {
        let guest = host.guest(&scope).await;
        let waiting = acquiring(&guest, lease("a").wait(wait));
        leases_tests::world::take_turns().await;
        host.time.advance(ends_after * SECOND - Duration::from_millis(1));
        leases_tests::world::take_turns().await;
        assert!(!waiting.is_finished(), "{wait:?}");
        host.time.advance(Duration::from_millis(1));
        assert_eq!(waiting.end().await.err(), Some(Failure::NotAcquired), "{wait:?}");
    }
    host.until_gone(&scope).await;
}
