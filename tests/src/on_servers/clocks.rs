//! Ends, by the backend's clock alone.

use std::time::{Duration, Instant, SystemTime};

use leases::{Loss, Wait};

use crate::live::{MARGIN, SECOND, lease_key, semaphore_key, until_seen, view};
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    h1_a_late_refresh_never_takes_again_what_others_had_since,
    q4_ends_are_exact_in_an_odd_time_zone,
    s1_each_holder_has_its_own_end,
    s2_s4_an_expired_permit_wakes_the_next_and_is_released_in_vain,
];

/// Case H1: A holds and expires, B takes and gives back; A's refresh is lost, and nobody holds.
async fn h1_a_late_refresh_never_takes_again_what_others_had_since(on: On) {
    let site = on.start().await;
    let (one, other) = (site.connect().await, site.connect().await);
    let mut late = one.lease("a").unwrap().ttl(SECOND / 5).acquire().await.unwrap();
    let mut permit = one.semaphore("a", 1).unwrap().ttl(SECOND / 5).acquire().await.unwrap();
    let mut between = other.lease("a").unwrap().acquire().await.unwrap();
    let mut place = other.semaphore("a", 1).unwrap().acquire().await.unwrap();
    assert!(between.release().await.unwrap() && place.release().await.unwrap());
    assert!(late.refresh().await.is_err() && permit.refresh().await.is_err());
    assert_eq!((late.loss(), permit.loss()), (Some(Loss::Expired), Some(Loss::Expired)));
    for key in [lease_key("a"), semaphore_key("a")] {
        assert!(view(&other, &key).await.holders.is_empty(), "{key}");
    }
}

/// Case Q4: where the database's clock shows a time 5 h 45 min from UTC, ends are exact: never a
/// moment early but what the clock does not count, late by no more than it takes to tell, and fences
/// are near the real time.
async fn q4_ends_are_exact_in_an_odd_time_zone(on: On) {
    let site = on.start_in_kathmandu().await;
    let (one, other) = (site.connect().await, site.connect().await);
    for millis in [137, 250, 999, 1001] {
        let ttl = Duration::from_millis(millis);
        let began = Instant::now();
        let held = one.lease("a").unwrap().ttl(ttl).acquire().await.unwrap();
        let seen = view(&other, &lease_key("a")).await.holders[0].ends_in;
        let not_counted = on.database.resolution();
        let last = seen + began.elapsed() + not_counted;
        assert!(seen <= ttl && last >= ttl, "{seen:?} of {ttl:?}");
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let by_fence = Duration::from_micros(held.fence().as_u64());
        assert!(by_fence.abs_diff(now) < 2 * SECOND, "{by_fence:?} at {now:?}");
        let waiting = other.lease("a").unwrap().wait(Wait::Forever);
        let mut next = waiting.acquire().await.unwrap();
        let took = began.elapsed();
        assert!((ttl - not_counted..ttl + MARGIN).contains(&took), "{took:?} of {ttl:?}");
        assert!(next.release().await.unwrap());
        std::mem::forget(held);
    }
}

/// Case S1: a caller with a short ttl evicts nobody who has a long one, and the other way round.
async fn s1_each_holder_has_its_own_end(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
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
async fn s2_s4_an_expired_permit_wakes_the_next_and_is_released_in_vain(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let semaphore = leases.semaphore("s", 1).unwrap();
    let mut short = semaphore.clone().ttl(SECOND / 2).acquire().await.unwrap();
    let began = Instant::now();
    let next = semaphore.acquire().await.unwrap();
    assert!(began.elapsed() < SECOND / 2 + SECOND, "{:?}", began.elapsed());
    assert!(next.fence().fence > short.fence().fence);
    assert!(!short.release().await.unwrap());
    drop(short);
    assert!(semaphore.try_acquire().await.unwrap().is_none());
    assert_eq!(view(&leases, &semaphore_key("s")).await.holders.len(), 1);
}
