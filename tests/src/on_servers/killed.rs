//! Clients that are killed, at whatever they do.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::live::{SECOND, lease_key, semaphore_key, until_free, until_seen, view};
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    a4_a_killed_clients_ticket_and_hold_lapse,
    a4_a_dead_head_of_the_line_is_passed_over,
    s3_s5_killed_clients_leave_no_count_behind,
    s5_a_client_killed_before_it_released_loses_its_place_to_its_ttl,
];

/// Case A4: a killed client's ticket lapses within its patience of 5 s, and the next is admitted;
/// a killed holder's hold ends within its ttl of 2 s.
async fn a4_a_killed_clients_ticket_and_hold_lapse(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut dead = on.client(&site.url(), "hold", "a", 0, 2000);
    dead.says();
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    let mut next = on.client(&site.url(), "hold", "a", 0, 2000);
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
async fn a4_a_dead_head_of_the_line_is_passed_over(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut dead = on.client(&site.url(), "hold", "a", 0, 2000);
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
async fn s3_s5_killed_clients_leave_no_count_behind(on: On) {
    const LIMIT: u32 = 3;
    let site = on.start().await;
    let leases = site.connect().await;
    let mut rng = SmallRng::seed_from_u64(7);
    let key = semaphore_key("s");
    for _ in 0..8 {
        let clients: Vec<_> =
            (0..5).map(|_| on.client(&site.url(), "churn", "s", LIMIT, 500)).collect();
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

/// Case S5: a place whose client is killed before it gave back comes free at the end of its ttl of
/// 1.5 s, not sooner and not much later, and the waiter gets it.
async fn s5_a_client_killed_before_it_released_loses_its_place_to_its_ttl(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let mut client = on.client(&site.url(), "hold", "s", 1, 1500);
    client.says();
    let fence: u64 = client.says().parse().unwrap();
    let semaphore = leases.semaphore("s", 1).unwrap();
    client.kill_9();
    let began = std::time::Instant::now();
    let left = view(&leases, &semaphore_key("s")).await.holders[0].ends_in;
    let next = semaphore.acquire().await.unwrap();
    let took = began.elapsed();
    assert!(next.fence().fence.as_u64() > fence);
    assert!((left..left + SECOND).contains(&took), "{took:?} of {left:?}");
}
