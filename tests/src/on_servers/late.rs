//! Asks that come to a server late, after they were given up, and grants that come late.

use std::time::Duration;

use leases::Leases;

use super::cancelled::{cancel, native_actor};
use crate::live::{
    SECOND, is_unavailable, lease_key, semaphore_key, stays_free, until_free, until_seen,
};
use crate::servers::until;
use crate::{Case, On, lease, listed, semaphore};

pub(super) const CASES: &[Case<On>] = listed![
    q5_an_ask_that_was_given_up_and_comes_late_leaves_nothing,
    q5_an_ask_on_a_connection_that_was_cut_and_comes_late_leaves_nothing,
    q5_an_ask_that_waits_in_a_stopped_server_leaves_nothing,
    a2_cancelled_while_the_grant_is_on_its_way_nothing_stays,
];

/// Connections that were used just now: the next request on one of them is what is asked for.
async fn warm(leases: &Leases) {
    leases.lease("warm").unwrap().acquire().await.unwrap().release().await.unwrap();
}

/// Cases A2 and Q5: an ask that was given up comes to the server after the leave that followed it
/// on another connection. The server has ended the first connection before.
async fn q5_an_ask_that_was_given_up_and_comes_late_leaves_nothing(on: On) {
    let site = on.start().await;
    let (proxy, leases) = site.behind_a_proxy("timeout=500ms").await;
    let direct = site.connect().await;
    for round in 0..4 {
        warm(&leases).await;
        proxy.hold();
        // Asks that wait in line are others than those that try.
        let given_up = match round % 2 {
            0 => leases.lease("a").unwrap().acquire().await.map(drop),
            _ => leases.lease("a").unwrap().try_acquire().await.map(drop),
        };
        assert!(is_unavailable(&given_up.unwrap_err()));
        assert!(proxy.held() > 0);
        proxy.pass();
        // What follows is in order: the leave went before it.
        leases.lease("b").unwrap().acquire().await.unwrap().release().await.unwrap();
        tokio::time::sleep(SECOND).await;
        proxy.let_go().await;
        until_free(&direct, &lease_key("a"), 5 * SECOND).await;
        stays_free(&direct, &lease_key("a")).await;
    }
}

/// Case Q5: the same where the connection was cut on the way, with the ask held back there.
async fn q5_an_ask_on_a_connection_that_was_cut_and_comes_late_leaves_nothing(on: On) {
    let site = on.start().await;
    let (proxy, leases) = site.behind_a_proxy("").await;
    let direct = site.connect().await;
    for _ in 0..3 {
        warm(&leases).await;
        proxy.hold();
        let request = leases.lease("a").unwrap();
        let acquiring = tokio::spawn(async move { request.acquire().await });
        proxy.until_held().await;
        proxy.pass();
        proxy.cut_now();
        let mut held = acquiring.await.unwrap().expect("it is asked again");
        assert!(held.release().await.unwrap());
        proxy.let_go().await;
        stays_free(&direct, &lease_key("a")).await;
    }
}

/// Case Q5: asks that were given up while the server was stopped are read by it when it goes on. They
/// leave neither a hold nor a place in a line.
async fn q5_an_ask_that_waits_in_a_stopped_server_leaves_nothing(on: On) {
    let site = on.start().await;
    let (leases, direct) = (site.connect_with("timeout=300ms").await, site.connect().await);
    let mut held = direct.semaphore("line", 1).unwrap().acquire().await.unwrap();
    for _ in 0..2 {
        warm(&leases).await;
        let (free, line) = (leases.lease("a").unwrap(), leases.semaphore("line", 1).unwrap());
        site.server().pause();
        let (one, other) = tokio::join!(free.acquire(), line.acquire());
        let errors = (one.map(drop).unwrap_err(), other.map(drop).unwrap_err());
        assert!(is_unavailable(&errors.0) && is_unavailable(&errors.1), "{errors:?}");
        site.server().resume();
        until("it goes on", || async { direct.inspect(&lease_key("a")).await.ok() }).await;
        // Given back from a queue, which tries again after up to 1.6 s: until then an ask may have
        // come and be there, as it may after it was seen that nobody is.
        tokio::time::sleep(2 * SECOND).await;
        until_free(&direct, &lease_key("a"), 5 * SECOND).await;
        let took = until_seen(&direct, &semaphore_key("line"), 1, 0).await;
        assert!(took < Duration::from_secs(5), "{took:?}");
        stays_free(&direct, &lease_key("a")).await;
    }
    assert!(held.release().await.unwrap());
}

/// Cases A1 and A2 where the grant is on its way for 5 ms.
async fn a2_cancelled_while_the_grant_is_on_its_way_nothing_stays(on: On) {
    let site = on.start().await;
    let (proxy, leases) = site.behind_a_proxy("").await;
    let direct = site.connect().await;
    proxy.delay(Duration::from_millis(5));
    let runs = on.times(500);
    for ask in [lease("a").waiting(), semaphore("a", 1).waiting()] {
        let span = Duration::from_millis(15);
        let seen = cancel(&native_actor(&leases), &direct, &ask, runs, span).await;
        assert!(seen.cancelled > runs * 3 / 10 && seen.held > runs / 10, "{seen:?}");
    }
}
