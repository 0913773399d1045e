//! Connections that are cut, and a server that is stopped.

use std::time::{Duration, Instant};

use leases::Leases;
use tokio::task::JoinSet;

use super::cancelled::native_actor;
use crate::live::{
    MARGIN, SECOND, is_unavailable, lease_key, semaphore_key, timed, until_free, until_seen, view,
};
use crate::{Case, On, lease, listed, semaphore};

pub(super) const CASES: &[Case<On>] = listed![
    q5_killed_connections_are_opened_again,
    q5_a_release_that_failed_by_a_cut_is_done_the_next_time,
    q5_a_waiters_killed_connections_cost_it_nothing,
    q5_a_stopped_server_is_unavailable_in_time_and_leaves_nothing,
    one_that_began_to_connect_holds_up_nobody,
];

/// Case Q5: connections are killed again and again, whatever they are used for. Each call succeeds
/// or is unavailable within the request timeout, the next works, and nothing stays.
async fn q5_killed_connections_are_opened_again(on: On) {
    let site = on.start().await;
    let leases = site.connect_with("timeout=1s").await;
    let mut working = JoinSet::new();
    for number in 0..8 {
        working.spawn(work(leases.clone(), format!("l{}", number % 4)));
    }
    let mut ended = Vec::new();
    while !working.is_empty() {
        site.kill_clients().await;
        tokio::time::sleep(Duration::from_millis(15)).await;
        while let Some(one) = working.try_join_next() {
            ended.push(one.unwrap());
        }
    }
    let confirmed: u32 = ended.iter().map(|seen| seen.confirmed).sum();
    // Work goes on; how much of it is the machine's.
    assert!(confirmed > 40, "{ended:?}");
    for number in 0..4 {
        until_free(&leases, &lease_key(&format!("l{number}")), 10 * SECOND).await;
    }
    assert!(leases.lease("l0").unwrap().acquire().await.unwrap().release().await.unwrap());
}

/// How often calls were confirmed, and how often not.
#[derive(Debug, Default)]
struct Seen {
    confirmed: u32,
    not: u32,
}

impl Seen {
    fn count(&mut self, was_confirmed: bool, took: Duration) {
        assert!(took < SECOND + MARGIN, "{took:?}");
        *(if was_confirmed { &mut self.confirmed } else { &mut self.not }) += 1;
    }
}

/// Takes, refreshes and gives back for three seconds.
async fn work(leases: Leases, name: String) -> Seen {
    let mut seen = Seen::default();
    let began = Instant::now();
    while began.elapsed() < 3 * SECOND {
        let request = leases.lease(&name).unwrap().wait(5 * SECOND);
        let (held, took) = timed(request.acquire()).await;
        let mut held = match held {
            Ok(held) => held,
            Err(error) => {
                assert!(is_unavailable(&error), "{error:?}");
                seen.count(false, Duration::ZERO); // Waiting in line may take long.
                continue;
            }
        };
        assert!(took < 6 * SECOND);
        let (refreshed, took) = timed(held.refresh()).await;
        assert!(refreshed.as_ref().err().is_none_or(is_unavailable), "{refreshed:?}");
        seen.count(refreshed.is_ok(), took);
        let (released, took) = timed(held.release()).await;
        assert!(released.as_ref().err().is_none_or(is_unavailable), "{released:?}");
        seen.count(released.is_ok(), took);
    }
    seen
}

/// Case Q5: however many connections were cut at once, a call finds out at most once.
async fn q5_a_release_that_failed_by_a_cut_is_done_the_next_time(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    for _ in 0..3 {
        let mut many = JoinSet::new();
        for number in 0..8 {
            let request = leases.lease(format!("l{number}")).unwrap();
            many.spawn(async move { request.acquire().await.unwrap() });
        }
        let mut held = many.join_all().await;
        site.kill_clients().await;
        let mut failed = 0;
        for held in &mut held[..4] {
            if let Err(error) = held.release().await {
                assert!(is_unavailable(&error), "{error:?}");
                failed += 1;
                held.release().await.expect("the next call works");
            }
        }
        assert!(failed <= 1, "{failed} found out");
        drop(held);
        for number in 0..8 {
            until_free(&leases, &lease_key(&format!("l{number}")), SECOND).await;
        }
    }
}

/// Case Q5: who waits does not notice that connections are killed again and again, is let in once
/// the holder, another handle, has given back, and nothing of it stays.
async fn q5_a_waiters_killed_connections_cost_it_nothing(on: On) {
    let site = on.start().await;
    let (holding, waiting) = (site.connect().await, site.connect().await);
    let (holding, waiting) = (native_actor(&holding), native_actor(&waiting));
    let looking = site.connect().await;
    for ask in [lease("a").waiting(), semaphore("a", 1).waiting()] {
        let key = crate::world::key(&ask);
        let held = holding.take(ask.clone()).await;
        let waiter = crate::world::acquiring(&waiting, ask);
        until_seen(&looking, &key, 1, 1).await;
        for _ in 0..20 {
            site.kill_clients().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(held);
        let (admitted, took) = timed(waiter.held()).await;
        // Its wake-up may be lost with a connection: it asks within its sign of life, 1.75 s.
        assert!(took < 2 * SECOND + MARGIN, "{took:?}");
        drop(admitted);
        until_free(&looking, &key, 2 * SECOND).await;
    }
}

/// Case Q5: a server that is stopped answers nothing: each call is unavailable within the request
/// timeout. When it goes on, all works, and no hold stays that nobody owns.
async fn q5_a_stopped_server_is_unavailable_in_time_and_leaves_nothing(on: On) {
    let site = on.start().await;
    let timeout = Duration::from_millis(500);
    let leases = site.connect_with("timeout=500ms").await;
    let mut held = leases.lease("held").unwrap().acquire().await.unwrap();
    let mut other = leases.semaphore("held", 2).unwrap().acquire().await.unwrap();
    site.server().pause();
    for round in 0..2 {
        let lease = leases.lease(format!("l{round}")).unwrap();
        let semaphore = leases.semaphore(format!("s{round}"), 2).unwrap();
        let guard = leases.guard("a").unwrap();
        let key = lease_key("held");
        let (answers, took) = timed(async {
            tokio::join!(
                async { lease.acquire().await.map(drop) },
                async { lease.try_acquire().await.map(drop) },
                async { semaphore.acquire().await.map(drop) },
                async { held.refresh().await.map(drop) },
                async { other.release().await.map(drop) },
                async { leases.inspect(&key).await.map(drop) },
                async { leases.revoke(&lease_key("c"), None).await.map(drop) },
                async { guard.current().await.map(drop) },
            )
        })
        .await;
        let (a, b, c, d, e, f, g, h) = answers;
        for (number, answer) in [a, b, c, d, e, f, g, h].into_iter().enumerate() {
            let error = answer.expect_err("nobody answers");
            assert!(is_unavailable(&error), "{number}: {error:?}");
        }
        assert!(took < timeout + MARGIN, "{took:?}");
    }
    site.server().resume();
    held.refresh().await.unwrap();
    // Given back from a queue, which tries again after up to 1.6 s.
    for round in 0..2 {
        until_free(&leases, &lease_key(&format!("l{round}")), 5 * SECOND).await;
        until_free(&leases, &semaphore_key(&format!("s{round}")), 5 * SECOND).await;
    }
    assert_eq!(view(&leases, &lease_key("held")).await.holders.len(), 1);
    assert!(held.release().await.unwrap());
}

/// An ask that is polled once, kept and never polled again: the one that finds the connection closed
/// begins to open the next. Others do not depend on it, and holds are kept.
async fn one_that_began_to_connect_holds_up_nobody(on: On) {
    let site = on.start().await;
    let leases = site.connect_with("timeout=1s").await;
    let request = leases.lease("kept").unwrap().ttl(3 * SECOND).keep_alive();
    let kept = request.acquire().await.unwrap();
    site.kill_clients().await;
    tokio::time::sleep(SECOND / 10).await; // It is seen that the connection has ended.
    let forgotten = leases.lease("forgotten").unwrap();
    let mut forgotten = std::pin::pin!(forgotten.acquire());
    assert!(crate::trouble::cancelled_after(1, forgotten.as_mut()).await.is_none());
    drop(leases.lease("other").unwrap().acquire().await.unwrap());
    tokio::time::sleep(3 * SECOND).await;
    assert_eq!(kept.loss(), None);
}
