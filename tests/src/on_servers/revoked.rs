//! Holds that another process ends: their holders are told at once.

use leases::{Leases, Loss};

use crate::live::{SECOND, lease_key, semaphore_key, timed, until_seen};
use crate::servers::until;
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    who_holds_is_told_of_its_revocation_at_once,
    who_holds_beside_what_is_revoked_is_not_told,
    who_was_not_told_learns_it_by_its_refresh,
];

/// By a handle of its own, whether the hold is kept or not: long before a refresh or its end.
async fn who_holds_is_told_of_its_revocation_at_once(on: On) {
    let site = on.start().await;
    let (leases, operator) = (site.connect().await, site.connect().await);
    let lease = leases.lease("a").unwrap().ttl(3600 * SECOND);
    let kept = lease.keep_alive().acquire().await.unwrap();
    let places = leases.semaphore("a", 300).unwrap().ttl(3600 * SECOND);
    let mut permits = Vec::new();
    for _ in 0..300 {
        permits.push(places.acquire().await.unwrap());
    }
    let told = async {
        assert_eq!(operator.revoke(&lease_key("a"), None).await.unwrap(), 1);
        assert_eq!(kept.lost().await, Loss::Revoked);
        assert_eq!(operator.revoke(&semaphore_key("a"), None).await.unwrap(), 300);
        for permit in &permits {
            assert_eq!(permit.lost().await, Loss::Revoked);
        }
    };
    let ((), took) = timed(told).await;
    assert!(took < 2 * SECOND, "{took:?}");
    // There is nothing of theirs to give back, and no harm in it.
    drop((kept, permits));
    assert!(leases.lease("a").unwrap().try_acquire().await.unwrap().is_some());
}

async fn who_holds_beside_what_is_revoked_is_not_told(on: On) {
    let site = on.start().await;
    let (leases, operator) = (site.connect().await, site.connect().await);
    let places = leases.semaphore("a", 3).unwrap();
    let [first, mut second, mut third] =
        [places.acquire().await, places.acquire().await, places.acquire().await]
            .map(Result::unwrap);
    let mut lease = leases.lease("a").unwrap().acquire().await.unwrap();
    // Who waits is let in where somebody was revoked, and is not told that it was.
    let waits = places.clone().wait(20 * SECOND);
    let waiting = tokio::spawn(async move { waits.acquire().await });
    until_seen(&operator, &semaphore_key("a"), 3, 1).await;
    assert_eq!(operator.revoke(&semaphore_key("a"), Some(first.slot())).await.unwrap(), 1);
    assert_eq!(first.lost().await, Loss::Revoked);
    let mut let_in = waiting.await.unwrap().unwrap();
    assert_eq!(let_in.slot(), first.slot());
    for permit in [&mut second, &mut third, &mut let_in] {
        permit.refresh().await.unwrap();
        assert_eq!(permit.loss(), None);
    }
    lease.refresh().await.unwrap();
}

/// Where it does not listen just then, its refresh tells; and it listens again soon.
async fn who_was_not_told_learns_it_by_its_refresh(on: On) {
    let site = on.start().await;
    let (leases, operator) = (site.connect().await, site.connect().await);
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    site.kill_listeners().await;
    assert_eq!(operator.revoke(&lease_key("a"), None).await.unwrap(), 1);
    assert!(held.refresh().await.is_err());
    assert_eq!(held.loss(), Some(Loss::Revoked));
    until("it listens again", || hears_again(&leases, &operator)).await;
}

async fn hears_again(leases: &Leases, operator: &Leases) -> Option<()> {
    let held = leases.lease("b").unwrap().acquire().await.unwrap();
    assert_eq!(operator.revoke(&lease_key("b"), None).await.unwrap(), 1);
    tokio::time::timeout(SECOND / 4, held.lost()).await.ok().map(drop)
}
