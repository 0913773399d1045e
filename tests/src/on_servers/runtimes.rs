//! Runtimes that end while handles, holds and waiters live.

use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::runtime::Runtime;

use crate::live::{SECOND, lease_key, semaphore_key, until_free, until_seen};
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    a_handle_goes_on_in_a_second_runtime,
    a_waiter_outlives_the_runtime_that_listened,
    a1_runtimes_that_end_at_any_moment_leave_nothing_for_long,
];

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// In a thread without a runtime.
fn apart(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| scope.spawn(work).join()).expect("it does not panic");
}

/// A handle, and a hold of it that is kept alive, go on in a second runtime once the first has
/// ended: commands, wake-ups, what gives back.
async fn a_handle_goes_on_in_a_second_runtime(on: On) {
    apart(|| {
        let servers = runtime();
        let site = servers.block_on(on.start());
        let (leases, mut held) = {
            let first = runtime();
            first.block_on(async {
                let leases = site.connect().await;
                let request = leases.lease("a").unwrap().keep_alive();
                let held = request.acquire().await.unwrap();
                let waiter = leases.lease("a").unwrap();
                // It is dropped in line, with its runtime.
                tokio::spawn(async move { waiter.acquire().await.map(drop) });
                until_seen(&leases, &lease_key("a"), 1, 1).await;
                (leases, held)
            })
        };
        for _ in 0..2 {
            held = runtime().block_on(async {
                held.refresh().await.unwrap();
                let request = leases.lease("a").unwrap();
                let waiting = tokio::spawn(async move { request.acquire().await });
                // The dead one's ticket lapses, or is gone already.
                until_seen(&leases, &lease_key("a"), 1, 1).await;
                let began = Instant::now();
                assert!(held.release().await.unwrap());
                let next = waiting.await.unwrap().unwrap();
                assert!(began.elapsed() < 3 * SECOND / 2, "{:?}", began.elapsed());
                drop(leases.lease("b").unwrap().acquire().await.unwrap());
                until_free(&leases, &lease_key("b"), SECOND).await;
                next
            });
        }
    });
}

/// The runtime that listens for wake-ups ends while a waiter sleeps in another, whose keeper sends
/// signs of life at once, with other things: the waiter is told by its sign of life.
async fn a_waiter_outlives_the_runtime_that_listened(on: On) {
    apart(|| {
        let (servers, first, second) = (runtime(), runtime(), runtime());
        let site = servers.block_on(on.start());
        let leases = first.block_on(site.connect());
        second.block_on(async {
            let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
            let request = leases.lease("a").unwrap();
            let waiting = tokio::spawn(async move { request.acquire().await });
            until_seen(&leases, &lease_key("a"), 1, 1).await;
            first.shutdown_background();
            tokio::time::sleep(SECOND / 2).await; // Its tasks have ended.
            let mut kept = Vec::new();
            for number in 0..3 {
                let request = leases.lease(format!("kept{number}")).unwrap().ttl(SECOND * 3 / 10);
                kept.push(request.keep_alive().acquire().await.unwrap());
            }
            let began = Instant::now();
            assert!(held.release().await.unwrap());
            drop(waiting.await.unwrap().unwrap());
            assert!(began.elapsed() < 3 * SECOND / 2, "{:?}", began.elapsed());
        });
    });
}

/// Case A1: runtimes end at any moment, with asks on their way, in line or granted, and their
/// handles with them. Nobody is left to give anything back: after the ttl of 1 s, or the patience of
/// a ticket, 5 s, nothing stays, and the server goes on meanwhile.
async fn a1_runtimes_that_end_at_any_moment_leave_nothing_for_long(on: On) {
    apart(|| {
        let servers = runtime();
        let site = servers.block_on(on.start());
        let mut rng = SmallRng::seed_from_u64(7);
        for _ in 0..40 {
            let ending = runtime();
            let leases = ending.block_on(site.connect());
            for number in 0..6 {
                let leases = leases.clone();
                ending.spawn(async move {
                    let lease = leases.lease(format!("l{}", number % 2)).unwrap().ttl(SECOND);
                    let permit = leases.semaphore("s", 2).unwrap().ttl(SECOND);
                    loop {
                        let Ok(one) = lease.acquire().await else { continue };
                        let Ok(other) = permit.acquire().await else { continue };
                        drop((one, other));
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(rng.random_range(1..25)));
            ending.shutdown_background();
        }
        servers.block_on(async {
            let leases = site.connect().await;
            for key in [lease_key("l0"), lease_key("l1"), semaphore_key("s")] {
                until_free(&leases, &key, 7 * SECOND).await;
            }
            drop(leases.lease("l0").unwrap().try_acquire().await.unwrap().expect("it is free"));
        });
    });
}
