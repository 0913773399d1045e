//! Lines over wake-ups that are lost and servers that come back.

use std::time::Duration;

use leases::{Leases, Wait};
use tokio::task::JoinSet;

use crate::live::{MARGIN, lease_key, timed, until_seen};
use crate::servers::until;
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    a_waiter_is_admitted_though_its_listener_was_killed,
    a_hundred_waiters_survive_a_restart_in_order,
];

async fn waiters(leases: &Leases, count: usize) -> JoinSet<usize> {
    let mut waiting = JoinSet::new();
    for number in 0..count {
        let request = leases.lease("a").unwrap().wait(Wait::Forever);
        waiting.spawn(async move {
            let mut held = request.acquire().await.expect("it is admitted");
            assert!(held.release().await.expect("the server answers"));
            number
        });
        until_seen(leases, &lease_key("a"), 1, number + 1).await;
    }
    waiting
}

/// A waiter that is not told (what listened for it was killed a moment ago) asks by itself: within
/// its sign of life and a claim time, 1.75 s. The holder is another handle.
async fn a_waiter_is_admitted_though_its_listener_was_killed(on: On) {
    let site = on.start().await;
    let (leases, other) = (site.connect().await, site.connect().await);
    for _ in 0..3 {
        let mut held = other.lease("a").unwrap().acquire().await.unwrap();
        let mut waiting = waiters(&leases, 1).await;
        // Both listen again since the last time.
        let killed = || async { (site.kill_listeners().await == 2).then_some(()) };
        until("the listeners are killed", killed).await;
        assert!(held.release().await.unwrap());
        let (_, took) = timed(waiting.join_next()).await;
        assert!(took < Duration::from_millis(1750) + MARGIN, "{took:?}");
    }
}

/// A durable server that was killed comes back with the line: 100 waiters are admitted, in order.
async fn a_hundred_waiters_survive_a_restart_in_order(on: On) {
    let site = on.start_durable().await;
    let leases = site.connect().await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut waiting = waiters(&leases, 100).await;
    site.server().kill_9();
    site.server().restart().await;
    held.refresh().await.unwrap();
    until_seen(&leases, &lease_key("a"), 1, 100).await;
    assert!(held.release().await.unwrap());
    let mut order = Vec::new();
    while let Some(ended) = waiting.join_next().await {
        order.push(ended.unwrap());
    }
    // Two that follow one another may be seen here the other way round.
    let moved = order.iter().enumerate().filter(|(at, number)| at.abs_diff(**number) > 3);
    assert_eq!(moved.count(), 0, "{order:?}");
}
