//! Rows of keys and guards that nobody uses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leases::spec::Mode;
use leases::{FenceToken, Leases, Verdict, Wait};
use tokio::task::JoinSet;

use crate::live::{SECOND, ask, lease_key, semaphore_key, until_seen};
use crate::servers::until;
use crate::{Case, On, Site, listed};

pub(super) const CASES: &[Case<On>] =
    listed![r4_idle_rows_are_forgotten_and_fences_rise, r4_ten_handles_forget_at_once];

/// Case R4: nothing is left of idle names, once the retention time of 0.5 s is over after the last
/// end, and two rounds, of a quarter of a second each. What is held, waited for or admitted stays.
async fn r4_idle_rows_are_forgotten_and_fences_rise(on: On) {
    let site = on.start().await;
    let leases = site.connect_with("retention=500ms").await;
    let bare = site.backend("retention=500ms").await;
    let in_use = leases.lease("used").unwrap().ttl(SECOND).keep_alive().acquire().await.unwrap();
    let waits = leases.lease("used").unwrap().wait(Wait::Forever);
    let waiting = tokio::spawn(async move { waits.acquire().await });
    let used = leases.guard("used").unwrap();
    let lease = leases.lease("a").unwrap().ttl(SECOND);
    let semaphore = leases.semaphore("a", 2).unwrap().ttl(SECOND).owner("somebody");
    let (one, mut other) = (lease.acquire().await.unwrap(), semaphore.acquire().await.unwrap());
    let superseding = semaphore.acquire().await.unwrap();
    assert!(!other.release().await.unwrap());
    for fence in [one.fence().into(), FenceToken::from(superseding.fence())] {
        assert_eq!(leases.guard("a").unwrap().admit(fence).await.unwrap(), Verdict::Admitted);
    }
    for (key, limit) in [(lease_key("a"), 1), (semaphore_key("a"), 1)] {
        for _ in 0..3 {
            bare.ask(&ask(&key, limit, Mode::Wait { patience: SECOND })).await.unwrap();
        }
    }
    let (fence, slot_fence) = (one.fence(), superseding.fence().fence);
    std::mem::forget((one, superseding));
    assert!(site.rows_but("used").await > 10);
    let began = Instant::now();
    until("idle rows are gone", || async {
        assert_eq!(used.admit(in_use.fence()).await.unwrap(), Verdict::Admitted);
        (site.rows_but("used").await == 0).then_some(())
    })
    .await;
    let took = began.elapsed();
    assert!((SECOND..5 * SECOND).contains(&took), "{took:?}");
    assert_eq!(used.current().await.unwrap(), Some(in_use.fence()));
    until_seen(&leases, &lease_key("used"), 1, 1).await;
    assert_eq!(in_use.loss(), None);
    drop(in_use);
    drop(waiting.await.unwrap().unwrap());
    assert!(lease.acquire().await.unwrap().fence() > fence);
    assert!(semaphore.acquire().await.unwrap().fence().fence > slot_fence);
}

/// Case R4: ten handles forget at the same time, among others that take and give back the same
/// names: nobody sees an error, and each name's fences rise, whether it was forgotten or not.
async fn r4_ten_handles_forget_at_once(on: On) {
    let site = Arc::new(on.start().await);
    let mut handles = Vec::new();
    for _ in 0..10 {
        handles.push(site.connect_with("retention=1ms&connections=2").await);
    }
    let mut working = JoinSet::new();
    for (number, leases) in handles.iter().enumerate() {
        working.spawn(rises(leases.clone(), format!("busy{number}")));
        working.spawn(many(leases.clone(), number));
    }
    let mut forgotten = 0;
    while !working.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        forgotten += u32::from(site.records().await < 200);
        while let Some(ended) = working.try_join_next() {
            ended.unwrap();
        }
    }
    assert!(forgotten > 0, "nothing was forgotten meanwhile");
    until("all is forgotten", || async { (site.records().await == 0).then_some(()) }).await;
    if let Site::Postgres(_) = &*site {
        let deadlocks = "SELECT sum(deadlocks)::bigint FROM pg_stat_database";
        assert_eq!(site.number(deadlocks).await, 0);
    }
}

/// Takes and gives back one name, with pauses in which it may be forgotten.
async fn rises(leases: Leases, name: String) {
    let began = Instant::now();
    let (mut last, mut of_permit) = (None, None);
    while began.elapsed() < 3 * SECOND {
        let mut held = leases.lease(&name).unwrap().acquire().await.unwrap();
        let mut permit = leases.semaphore(&name, 3).unwrap().acquire().await.unwrap();
        assert!(Some(held.fence()) > last, "{name}");
        assert!(Some(permit.fence().fence) > of_permit, "{name}");
        (last, of_permit) = (Some(held.fence()), Some(permit.fence().fence));
        assert!(held.release().await.unwrap() && permit.release().await.unwrap());
        tokio::time::sleep(Duration::from_millis(rand::random_range(0..150))).await;
    }
}

/// Leaves many names behind, most of them those of others too.
async fn many(leases: Leases, number: usize) {
    for round in 0..60 {
        let name = format!("idle{}", (round * 7 + number) % 80);
        let mut held = leases.lease(&name).unwrap().acquire().await.unwrap();
        let mut permit = leases.semaphore(&name, 4).unwrap().acquire().await.unwrap();
        let guard = leases.guard(format!("{name} of {number}")).unwrap();
        assert_eq!(guard.admit(permit.fence()).await.unwrap(), Verdict::Admitted);
        assert!(held.release().await.unwrap() && permit.release().await.unwrap());
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}
