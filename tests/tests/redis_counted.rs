//! What the backend asks of a Redis server, counted there.

use std::time::Duration;

use leases::spec::{Answer, Mode};
use leases::{Applied, Backend as _, ErrorKind, Leases, Wait};
use leases_tests::redis::{ask, backend, connect, lease_key, semaphore_key, until_seen};
use leases_tests::servers::Redis;

const SECOND: Duration = Duration::from_secs(1);

/// What was asked meanwhile.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    /// Commands of ours.
    commands: u64,
    /// All commands, with those of our scripts.
    all: u64,
    changes: u64,
}

/// Counts what is asked of a server that knows every script already.
async fn asked<T>(server: &Redis, work: impl Future<Output = T>) -> (T, Asked) {
    server.reset_stats().await;
    let changes = server.changes_since_save().await;
    let answer = work.await;
    let commands = server.command_calls("evalsha").await + server.command_calls("eval").await;
    let all = server.total_commands().await;
    let changes = server.changes_since_save().await - changes;
    (answer, Asked { commands, all, changes })
}

#[tokio::test]
async fn a_lease_is_one_command_each_time() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let request = leases.lease("a").unwrap();
    let mut warm = request.acquire().await.unwrap();
    warm.refresh().await.unwrap();
    warm.release().await.unwrap();
    let (held, acquired) = asked(&server, request.acquire()).await;
    let mut held = held.unwrap();
    // The command, and within it TIME, GET and SET.
    assert_eq!((acquired.commands, acquired.all), (1, 4));
    let (refreshed, by_refresh) = asked(&server, held.refresh()).await;
    refreshed.unwrap();
    assert_eq!(by_refresh.commands, 1);
    let (released, by_release) = asked(&server, held.release()).await;
    assert!(released.unwrap());
    assert_eq!((by_release.commands, by_release.all), (1, 4));
}

/// Case S6 too: what a place costs, and what its refusal does, is the same for 2 and for 200.
#[tokio::test]
async fn s6_a_permit_is_one_command_each_time_whatever_the_limit() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut seen = Vec::new();
    for limit in [2, 200] {
        let request = leases.semaphore(format!("s{limit}"), limit).unwrap();
        let mut warm = request.acquire().await.unwrap();
        warm.refresh().await.unwrap();
        warm.release().await.unwrap();
        let mut others = Vec::new();
        for _ in 1..limit {
            others.push(request.acquire().await.unwrap());
        }
        let (held, acquired) = asked(&server, request.acquire()).await;
        let mut held = held.unwrap();
        let (refused, by_refusal) = asked(&server, request.try_acquire()).await;
        assert!(refused.unwrap().is_none());
        assert_eq!((by_refusal.commands, by_refusal.changes), (1, 0));
        let (refreshed, by_refresh) = asked(&server, held.refresh()).await;
        refreshed.unwrap();
        let (released, by_release) = asked(&server, held.release()).await;
        assert!(released.unwrap());
        let each = [&acquired, &by_refusal, &by_refresh, &by_release];
        assert_eq!(each.map(|asked| asked.commands), [1; 4]);
        seen.push(each.map(|asked| asked.all));
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn a_refusal_is_one_command_and_changes_nothing_also_where_somebody_waits() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    // Tickets of nobody: no sign of life comes between.
    let bare = backend(&server.url()).await;
    let patience = bare.properties().patience;
    for (key, limit) in [(lease_key("a"), 1), (semaphore_key("a"), 2)] {
        for _ in 0..limit {
            let held = bare.ask(&ask(&key, limit, Mode::Once)).await.unwrap();
            assert!(matches!(held, Answer::Granted(_)));
        }
        for waiters in 0..2 {
            let once = ask(&key, limit, Mode::Once);
            assert!(matches!(bare.ask(&once).await.unwrap(), Answer::Busy { .. }));
            let (refused, asked) = asked(&server, bare.ask(&once)).await;
            assert!(matches!(refused.unwrap(), Answer::Busy { .. }));
            assert_eq!((asked.commands, asked.changes), (1, 0), "{key}, {waiters} wait");
            bare.ask(&ask(&key, limit, Mode::Wait { patience })).await.unwrap();
        }
        until_seen(&leases, &key, limit as usize, 2).await;
    }
}

/// 1,000 holds are refreshed by at most two commands a period: what was taken within a twelfth of
/// the ttl stays together. A period is at least 0.9 of a third of the ttl, so 8 s have four.
#[tokio::test]
async fn a_thousand_kept_holds_cost_two_commands_a_period() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut taking = tokio::task::JoinSet::new();
    for number in 0..1000 {
        let request = leases.lease(format!("l{number}")).unwrap().ttl(9 * SECOND).keep_alive();
        taking.spawn(async move { request.acquire().await.unwrap() });
    }
    let held = taking.join_all().await;
    let ((), asked) = asked(&server, tokio::time::sleep(8 * SECOND)).await;
    assert!((2..=8).contains(&asked.commands), "{asked:?}");
    // Beyond the ttl of the first grants: they were all refreshed.
    tokio::time::sleep(2 * SECOND).await;
    assert!(held.iter().all(|lease| !lease.is_lost()));
}

/// Case A6: the signs of life of 100 waiters go out together, gathered over a fifth of the claim
/// time (1 s): at most five commands a second. Each waiter gives one within three quarters of it.
#[tokio::test]
async fn a6_a_hundred_sleeping_waiters_cost_five_commands_a_second() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let _held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let request = leases.lease("a").unwrap().wait(Wait::Forever);
        waiting.spawn(async move { request.acquire().await.map(drop) });
    }
    until_seen(&leases, &lease_key("a"), 1, 100).await;
    // The second ask of each, made once it listens.
    tokio::time::sleep(SECOND).await;
    let ((), asked) = asked(&server, tokio::time::sleep(4 * SECOND)).await;
    assert!((4..=21).contains(&asked.commands), "{asked:?}");
    assert_eq!(server.command_calls("publish").await, 0);
    assert_eq!(waiting.len(), 100);
    assert!(waiting.try_join_next().is_none(), "nobody was admitted");
}

/// A server that has no room for another hold keeps and ends those that it has.
#[tokio::test]
async fn a_full_server_refreshes_and_releases() {
    let server = Redis::start().await;
    let leases = Leases::connect(server.url()).await.unwrap();
    let place = leases.semaphore("place", 2).unwrap();
    let mut held = [leases.lease("held").unwrap().acquire().await.unwrap()];
    let mut places = [place.acquire().await.unwrap(), place.acquire().await.unwrap()];
    let _: () = server.ask(redis::cmd("CONFIG").arg(&["SET", "maxmemory", "1"])).await;
    let refused = leases.lease("other").unwrap().try_acquire().await.unwrap_err();
    assert_eq!(*refused.kind(), ErrorKind::Unavailable(Applied::No), "{refused:?}");
    for held in &mut held {
        held.refresh().await.unwrap();
        assert!(held.release().await.unwrap());
    }
    for place in &mut places {
        place.refresh().await.unwrap();
        assert!(place.release().await.unwrap());
    }
}
