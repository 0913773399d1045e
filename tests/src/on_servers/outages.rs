//! A way to the server that is broken for a while, and servers that end and come back: what is kept
//! meanwhile, and when a loss is told.

use std::time::{Duration, Instant};

use leases::{Loss, Verdict};

use crate::live::{
    MARGIN, SECOND, is_unavailable, lease_key, semaphore_key, timed, until_free, view,
};
use crate::{Case, On, Site, listed};

pub(super) const CASES: &[Case<On>] = listed![
    h3_the_next_hold_after_a_loss_is_kept,
    h5_a_cut_refresh_is_repeated,
    h5_a_silent_connection_is_replaced_in_time,
    h5_a_kept_hold_survives_an_outage_shorter_than_its_ttl,
    h6_a_black_hole_is_told_before_the_servers_end,
    q5_a_server_that_comes_back_has_what_was_held_and_handles_go_on,
];

/// Case H3: after a refresh that failed and a loss, the next hold of the name is kept.
async fn h3_the_next_hold_after_a_loss_is_kept(on: On) {
    let site = on.start().await;
    let (proxy, leases) = site.behind_a_proxy("timeout=500ms").await;
    let request = leases.lease("a").unwrap().ttl(SECOND).keep_alive();
    let lost = request.acquire().await.unwrap();
    proxy.cut_now();
    proxy.refuse();
    tokio::time::timeout(2 * SECOND, lost.lost()).await.expect("it is told");
    proxy.pass();
    let held = request.acquire().await.unwrap();
    tokio::time::sleep(2 * SECOND + SECOND / 5).await;
    assert_eq!(held.loss(), None);
    let direct = site.connect().await;
    assert!(view(&direct, &lease_key("a")).await.holders[0].held_for > 2 * SECOND);
}

/// Case H5: one refresh that is cut, before the server has it or after, loses nothing.
async fn h5_a_cut_refresh_is_repeated(on: On) {
    let site = on.start().await;
    let (proxy, leases) = site.behind_a_proxy("").await;
    let request = leases.lease("a").unwrap().ttl(SECOND).keep_alive();
    let held = request.acquire().await.unwrap();
    for _ in 0..2 {
        proxy.cut_before_next_request();
        tokio::time::sleep(SECOND).await;
        proxy.cut_after_next_request();
        tokio::time::sleep(SECOND).await;
        proxy.cut_now();
        assert_eq!(held.loss(), None);
    }
    assert!(proxy.accepted() >= 5, "{}", proxy.accepted());
}

/// Case H5: a connection that went silent, while new ones work, loses nothing either. Nobody says
/// that it is gone.
async fn h5_a_silent_connection_is_replaced_in_time(on: On) {
    let site = on.start().await;
    tokio::join!(silent(&site, 3 * SECOND), silent(&site, 6 * SECOND));
}

async fn silent(site: &Site, ttl: Duration) {
    let (proxy, leases) = site.behind_a_proxy("").await;
    let request = leases.lease(format!("{ttl:?}")).unwrap().ttl(ttl).keep_alive();
    let held = request.acquire().await.unwrap();
    proxy.hold();
    proxy.until_held().await;
    proxy.pass();
    tokio::time::sleep(ttl * 4 / 3).await;
    assert_eq!(held.loss(), None, "{ttl:?}");
}

/// Case H5: a server that is killed and comes back within the ttl costs no kept hold, lease or
/// permit.
async fn h5_a_kept_hold_survives_an_outage_shorter_than_its_ttl(on: On) {
    let site = on.start_durable().await;
    let leases = site.connect_with("timeout=1s").await;
    let ttl = 6 * SECOND;
    let lease = leases.lease("a").unwrap().ttl(ttl).keep_alive().acquire().await.unwrap();
    let permit = leases.semaphore("a", 2).unwrap().ttl(ttl).keep_alive().acquire().await.unwrap();
    let began = Instant::now();
    site.server().kill_9();
    // A refresh comes due in between: a third of the ttl.
    tokio::time::sleep(5 * SECOND / 2).await;
    site.server().restart().await;
    assert!(began.elapsed() < ttl * 9 / 10, "it was down for {:?}", began.elapsed());
    tokio::time::sleep(ttl.saturating_sub(began.elapsed()) + SECOND).await;
    assert_eq!((lease.loss(), permit.loss()), (None, None));
    for key in [lease_key("a"), semaphore_key("a")] {
        let seen = view(&leases, &key).await;
        assert!(seen.holders[0].held_for > ttl, "{seen:?}");
    }
}

/// Case H6: in a black hole the local deadline tells the loss before the server ends the hold.
async fn h6_a_black_hole_is_told_before_the_servers_end(on: On) {
    let site = on.start().await;
    let (proxy, leases) = site.behind_a_proxy("").await;
    let direct = site.connect().await;
    let request = leases.lease("a").unwrap().ttl(3 * SECOND).keep_alive();
    let held = request.acquire().await.unwrap();
    let began = Instant::now();
    proxy.black_hole();
    assert_eq!(held.lost().await, Loss::Unconfirmed);
    let seen = view(&direct, &lease_key("a")).await;
    assert_eq!(seen.holders.len(), 1, "told after {:?}", began.elapsed());
    assert!(seen.holders[0].ends_in > Duration::from_millis(50), "{seen:?}");
    // The margin is a tenth of the ttl.
    until_free(&direct, &lease_key("a"), Duration::from_millis(300) + MARGIN).await;
}

/// Case Q5: a server that is restarted, or killed and started again, has all that was held, and
/// handles go on: a call succeeds, or is unavailable in time and the next works.
async fn q5_a_server_that_comes_back_has_what_was_held_and_handles_go_on(on: On) {
    let site = on.start_durable().await;
    let leases = site.connect_with("timeout=2s").await;
    for is_killed in [false, true] {
        let request = leases.lease("a").unwrap();
        let mut lease = request.acquire().await.unwrap();
        let mut permit = leases.semaphore("a", 2).unwrap().acquire().await.unwrap();
        let guard = leases.guard("a").unwrap();
        assert_eq!(guard.admit(lease.fence()).await.unwrap(), Verdict::Admitted);
        if is_killed {
            site.server().kill_9();
        }
        site.server().restart().await;
        // What answers the same twice is repeated, unseen.
        lease.refresh().await.unwrap();
        assert!(request.try_acquire().await.unwrap().is_none());
        assert_eq!(guard.current().await.unwrap(), Some(lease.fence()));
        if is_killed {
            site.server().kill_9();
        }
        site.server().restart().await;
        let (released, took) = timed(permit.release()).await;
        assert!(took < 2 * SECOND + MARGIN, "{took:?}");
        match released {
            Ok(was_held) => assert!(was_held),
            Err(error) => {
                assert!(is_unavailable(&error), "{error:?}");
                permit.release().await.unwrap();
            }
        }
        until_free(&leases, &semaphore_key("a"), SECOND).await;
        assert!(lease.release().await.unwrap());
        let next = request.try_acquire().await.unwrap().expect("it is free");
        assert!(next.fence() > lease.fence());
        drop(next);
        until_free(&leases, &lease_key("a"), SECOND).await;
    }
}
