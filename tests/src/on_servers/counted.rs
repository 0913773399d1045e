//! What is asked of a server, counted there.

use leases::Wait;
use leases::spec::{Answer, Mode};
use tokio::task::JoinSet;

use crate::live::{SECOND, ask, lease_key, semaphore_key, until_seen};
use crate::{Case, Database, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    a_lease_is_one_command_each_time,
    s6_a_permit_is_one_command_each_time_whatever_the_limit,
    a_refusal_is_one_command_and_changes_nothing_also_where_somebody_waits,
    a_thousand_kept_holds_cost_two_commands_a_period,
    a6_a_hundred_sleeping_waiters_cost_five_commands_a_second,
    nobody_is_told_but_who_waits,
];

/// Acquire, refresh and release of a lease, and a refused try.
async fn a_lease_is_one_command_each_time(on: On) {
    let site = on.start_counting().await;
    let leases = site.connect().await;
    let request = leases.lease("a").unwrap();
    let mut warm = request.acquire().await.unwrap();
    warm.refresh().await.unwrap();
    warm.release().await.unwrap();
    let (held, acquired) = site.asked(request.acquire()).await;
    let mut held = held.unwrap();
    let (refused, by_refusal) = site.asked(request.try_acquire()).await;
    assert!(refused.unwrap().is_none());
    let (refreshed, by_refresh) = site.asked(held.refresh()).await;
    refreshed.unwrap();
    let (released, by_release) = site.asked(held.release()).await;
    assert!(released.unwrap());
    let each = [acquired, by_refusal, by_refresh, by_release];
    assert_eq!(each.map(|asked| asked.commands), [1; 4]);
    assert_eq!(each.map(|asked| asked.wakes), [0; 4]);
    // With all that a command of ours does: in Redis TIME, GET and SET; in PostgreSQL nothing.
    let all = match on.database {
        Database::Redis => 4,
        _ => 1,
    };
    assert_eq!((acquired.all, by_release.all), (all, all));
    // A try of a name that nobody holds, also of one that nobody knows.
    for name in ["a", "new"] {
        let (tried, by_try) = site.asked(leases.lease(name).unwrap().try_acquire()).await;
        assert_eq!(by_try.commands, 1, "{name}");
        assert!(tried.unwrap().expect("it is free").release().await.unwrap());
    }
}

/// Case S6: what a place costs, and what its refusal does, is the same for 2, for 50 and for 1,000;
/// a refusal is one read.
async fn s6_a_permit_is_one_command_each_time_whatever_the_limit(on: On) {
    let site = on.start_counting().await;
    let leases = site.connect().await;
    let mut seen = Vec::new();
    for limit in [2, 50, 200, 1000] {
        let request = leases.semaphore(format!("s{limit}"), limit).unwrap();
        let mut warm = request.acquire().await.unwrap();
        warm.refresh().await.unwrap();
        warm.release().await.unwrap();
        let mut others = Vec::new();
        for _ in 1..limit {
            others.push(request.acquire().await.unwrap());
        }
        let (held, acquired) = site.asked(request.acquire()).await;
        let mut held = held.unwrap();
        // Who first reads what was changed may tidy up behind it, in PostgreSQL.
        assert!(request.try_acquire().await.unwrap().is_none());
        let (refused, by_refusal) = site.asked(request.try_acquire()).await;
        assert!(refused.unwrap().is_none());
        assert_eq!((by_refusal.commands, by_refusal.changes), (1, 0));
        let (refreshed, by_refresh) = site.asked(held.refresh()).await;
        refreshed.unwrap();
        let (released, by_release) = site.asked(held.release()).await;
        assert!(released.unwrap());
        let each = [acquired, by_refusal, by_refresh, by_release];
        assert_eq!(each.map(|asked| asked.commands), [1; 4]);
        seen.push(each.map(|asked| asked.all));
        // Given back one by one by drop, they would be counted into the next.
        for mut other in others {
            other.release().await.unwrap();
        }
    }
    assert!(seen.iter().all(|of| *of == seen[0]), "{seen:?}");
}

/// A refused try, of a lease and a semaphore, without and with a line.
async fn a_refusal_is_one_command_and_changes_nothing_also_where_somebody_waits(on: On) {
    let site = on.start_counting().await;
    let leases = site.connect().await;
    // Tickets of nobody: no sign of life comes between.
    let bare = site.backend("").await;
    let patience = bare.properties().patience;
    for (key, limit) in [(lease_key("a"), 1), (semaphore_key("a"), 2)] {
        for _ in 0..limit {
            let held = bare.ask(&ask(&key, limit, Mode::Once)).await.unwrap();
            assert!(matches!(held, Answer::Granted(_)));
        }
        for waiters in 0..2 {
            let once = ask(&key, limit, Mode::Once);
            assert!(matches!(bare.ask(&once).await.unwrap(), Answer::Busy { .. }));
            let (refused, asked) = site.asked(bare.ask(&once)).await;
            assert!(matches!(refused.unwrap(), Answer::Busy { .. }));
            assert_eq!((asked.commands, asked.changes), (1, 0), "{key}, {waiters} wait");
            bare.ask(&ask(&key, limit, Mode::Wait { patience })).await.unwrap();
        }
        until_seen(&leases, &key, limit as usize, 2).await;
    }
}

/// 1,000 holds are refreshed by at most two commands a period: what was taken within a twelfth of
/// the ttl stays together. A period is at least 0.9 of a third of the ttl, so 8 s have four.
async fn a_thousand_kept_holds_cost_two_commands_a_period(on: On) {
    let site = on.start_counting().await;
    let leases = site.connect().await;
    let mut taking = JoinSet::new();
    for number in 0..1000 {
        let request = leases.lease(format!("l{number}")).unwrap().ttl(9 * SECOND).keep_alive();
        taking.spawn(async move { request.acquire().await.unwrap() });
    }
    let held = taking.join_all().await;
    let ((), asked) = site.asked(tokio::time::sleep(8 * SECOND)).await;
    assert!((2..=8).contains(&asked.commands), "{asked:?}");
    // Beyond the ttl of the first grants: they were all refreshed.
    tokio::time::sleep(2 * SECOND).await;
    assert!(held.iter().all(|lease| !lease.is_lost()));
}

/// Case A6: the signs of life of 100 waiters go out together, gathered over a fifth of the claim
/// time (1 s): at most five commands a second. Each waiter gives one within three quarters of it.
async fn a6_a_hundred_sleeping_waiters_cost_five_commands_a_second(on: On) {
    let site = on.start_counting().await;
    let leases = site.connect().await;
    let _held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut waiting = JoinSet::new();
    for _ in 0..100 {
        let request = leases.lease("a").unwrap().wait(Wait::Forever);
        waiting.spawn(async move { request.acquire().await.map(drop) });
    }
    until_seen(&leases, &lease_key("a"), 1, 100).await;
    // The second ask of each, made once it listens.
    tokio::time::sleep(SECOND).await;
    let ((), asked) = site.asked(tokio::time::sleep(4 * SECOND)).await;
    assert!((4..=21).contains(&asked.commands), "{asked:?}");
    assert_eq!(asked.wakes, 0);
    assert_eq!(waiting.len(), 100);
    assert!(waiting.try_join_next().is_none(), "nobody was admitted");
}

/// A release sends a wake-up to who waits elsewhere, and none where nobody waits.
async fn nobody_is_told_but_who_waits(on: On) {
    let site = on.start_counting().await;
    let (leases, other) = (site.connect().await, site.connect().await);
    let request = leases.lease("a").unwrap();
    let mut held = request.acquire().await.unwrap();
    let (released, by_release) = site.asked(held.release()).await;
    assert!(released.unwrap());
    assert_eq!(by_release.wakes, 0);
    let mut held = request.acquire().await.unwrap();
    let waits = other.lease("a").unwrap();
    let waiting = tokio::spawn(async move { waits.acquire().await });
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    let (admitted, by_all) = site
        .asked(async {
            assert!(held.release().await.unwrap());
            waiting.await.unwrap()
        })
        .await;
    assert_eq!(by_all.wakes, 1);
    drop(admitted.unwrap());
}
