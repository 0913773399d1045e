//! The way to Redis is cut, silent, slow, or ends at a server that is stopped or killed.

use std::time::{Duration, Instant};

use leases::{Leases, Loss, Wait};
use leases_tests::redis::{
    connect, is_unavailable, lease_key, semaphore_key, timed, until_free, until_seen, view,
};
use leases_tests::servers::{Proxy, Redis, until};

const SECOND: Duration = Duration::from_secs(1);
/// What a machine that is busy with other tests may add to any time.
const MARGIN: Duration = Duration::from_millis(700);

async fn behind_a_proxy(parameters: &str) -> (Redis, Proxy, Leases) {
    let server = Redis::start().await;
    let proxy = Proxy::in_front_of(&server).await;
    let leases = connect(&format!("{}{parameters}", proxy.url())).await;
    (server, proxy, leases)
}

/// Case Q5: connections are killed again and again, whatever they are used for. Each call succeeds
/// or is unavailable within the request timeout, the next works, and nothing stays.
#[tokio::test]
async fn q5_killed_connections_are_opened_again() {
    let server = Redis::start().await;
    let timeout = SECOND;
    let leases = connect(&format!("{}?timeout=1s", server.url())).await;
    let mut working = tokio::task::JoinSet::new();
    for number in 0..8 {
        let leases = leases.clone();
        working.spawn(async move {
            let (mut confirmed, mut not) = (0, 0);
            let mut count = |ok: bool, took: Duration| {
                assert!(took < timeout + MARGIN, "{took:?}");
                if ok {
                    confirmed += 1
                } else {
                    not += 1
                };
            };
            let began = Instant::now();
            while began.elapsed() < 3 * SECOND {
                let request = leases.lease(format!("l{}", number % 4)).unwrap().wait(5 * SECOND);
                let began = Instant::now();
                let mut held = match request.acquire().await {
                    Ok(held) => held,
                    Err(error) => {
                        assert!(is_unavailable(&error), "{error:?}");
                        count(false, Duration::ZERO); // Waiting in line may take long.
                        continue;
                    }
                };
                assert!(began.elapsed() < 6 * SECOND);
                let (refreshed, took) = timed(held.refresh()).await;
                assert!(refreshed.as_ref().err().is_none_or(is_unavailable), "{refreshed:?}");
                count(refreshed.is_ok(), took);
                let (released, took) = timed(held.release()).await;
                assert!(released.as_ref().err().is_none_or(is_unavailable), "{released:?}");
                count(released.is_ok(), took);
            }
            (confirmed, not)
        });
    }
    let mut ended = Vec::new();
    while !working.is_empty() {
        server.kill_clients().await;
        tokio::time::sleep(Duration::from_millis(15)).await;
        while let Some(one) = working.try_join_next() {
            ended.push(one.unwrap());
        }
    }
    let confirmed: u32 = ended.iter().map(|(confirmed, _)| confirmed).sum();
    assert!(confirmed > 100, "{ended:?}");
    for number in 0..4 {
        until_free(&leases, &lease_key(&format!("l{number}")), 10 * SECOND).await;
    }
    assert!(leases.lease("l0").unwrap().acquire().await.unwrap().release().await.unwrap());
}

/// Case Q5: a server that is stopped answers nothing: each call is unavailable within the request
/// timeout. When it goes on, all works, and no hold stays that nobody owns.
#[tokio::test]
async fn q5_a_stopped_server_is_unavailable_in_time_and_leaves_nothing() {
    let server = Redis::start().await;
    let timeout = Duration::from_millis(500);
    let leases = connect(&format!("{}?timeout=500ms", server.url())).await;
    let mut held = leases.lease("held").unwrap().acquire().await.unwrap();
    let mut other = leases.semaphore("held", 2).unwrap().acquire().await.unwrap();
    server.pause();
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
    server.resume();
    held.refresh().await.unwrap();
    // Given back from a queue, which tries again after up to 1.6 s.
    for round in 0..2 {
        until_free(&leases, &lease_key(&format!("l{round}")), 5 * SECOND).await;
        until_free(&leases, &semaphore_key(&format!("s{round}")), 5 * SECOND).await;
    }
    assert_eq!(view(&leases, &lease_key("held")).await.holders.len(), 1);
    assert!(held.release().await.unwrap());
}

/// Cases A2 and Q5: an ask that was given up comes to the server after the leave that followed it
/// on another connection. The server has ended the first connection before.
#[tokio::test]
async fn q5_an_ask_that_was_given_up_and_comes_late_leaves_nothing() {
    let (server, proxy, leases) = behind_a_proxy("?timeout=500ms").await;
    let direct = connect(&server.url()).await;
    for _ in 0..3 {
        proxy.hold();
        let given_up = leases.lease("a").unwrap().acquire().await;
        assert!(is_unavailable(&given_up.unwrap_err()));
        proxy.pass();
        // What follows is in order: the leave went before it.
        leases.lease("b").unwrap().acquire().await.unwrap().release().await.unwrap();
        tokio::time::sleep(SECOND).await;
        proxy.let_go().await;
        until_free(&direct, &lease_key("a"), 5 * SECOND).await;
        stays_free(&direct).await;
    }
}

/// Case Q5: the same where the connection was cut on the way, with the ask held back there.
#[tokio::test]
async fn q5_an_ask_on_a_connection_that_was_cut_and_comes_late_leaves_nothing() {
    let (server, proxy, leases) = behind_a_proxy("").await;
    let direct = connect(&server.url()).await;
    for _ in 0..3 {
        proxy.hold();
        let request = leases.lease("a").unwrap();
        let acquiring = tokio::spawn(async move { request.acquire().await });
        proxy.until_held().await;
        proxy.pass();
        proxy.cut_now();
        let mut held = acquiring.await.unwrap().expect("it is asked again");
        assert!(held.release().await.unwrap());
        proxy.let_go().await;
        stays_free(&direct).await;
    }
}

/// A real wait of half a second: what was on its way takes a hundredth of it.
async fn stays_free(leases: &Leases) {
    let began = Instant::now();
    while began.elapsed() < SECOND / 2 {
        let view = view(leases, &lease_key("a")).await;
        assert!(view.holders.is_empty() && view.waiters.is_empty(), "{view:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Case H3: after a refresh that failed and a loss, the next hold of the name is kept.
#[tokio::test]
async fn h3_the_next_hold_after_a_loss_is_kept() {
    let (server, proxy, leases) = behind_a_proxy("?timeout=500ms").await;
    let request = leases.lease("a").unwrap().ttl(SECOND).keep_alive();
    let lost = request.acquire().await.unwrap();
    proxy.cut_now();
    proxy.refuse();
    tokio::time::timeout(2 * SECOND, lost.lost()).await.expect("it is told");
    proxy.pass();
    let held = request.acquire().await.unwrap();
    tokio::time::sleep(2 * SECOND + SECOND / 5).await;
    assert_eq!(held.loss(), None);
    let direct = connect(&server.url()).await;
    assert!(view(&direct, &lease_key("a")).await.holders[0].held_for > 2 * SECOND);
}

/// Case H5: one refresh that is cut, before the server has it or after, loses nothing.
#[tokio::test]
async fn h5_a_cut_refresh_is_repeated() {
    let (_server, proxy, leases) = behind_a_proxy("").await;
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
#[tokio::test]
async fn h5_a_silent_connection_is_replaced_in_time() {
    for ttl in [3 * SECOND, 6 * SECOND] {
        let (_server, proxy, leases) = behind_a_proxy("").await;
        let request = leases.lease("a").unwrap().ttl(ttl).keep_alive();
        let held = request.acquire().await.unwrap();
        proxy.hold();
        proxy.until_held().await;
        proxy.pass();
        tokio::time::sleep(ttl * 4 / 3).await;
        assert_eq!(held.loss(), None, "{ttl:?}");
    }
}

/// Case H6: in a black hole the local deadline tells the loss before the server ends the hold.
#[tokio::test]
async fn h6_a_black_hole_is_told_before_the_servers_end() {
    let (server, proxy, leases) = behind_a_proxy("").await;
    let direct = connect(&server.url()).await;
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

async fn waiters(leases: &Leases, count: usize) -> tokio::task::JoinSet<usize> {
    let mut waiting = tokio::task::JoinSet::new();
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

/// A waiter that is not told (its subscription was killed a moment ago) asks by itself: within its
/// sign of life and a claim time, 1.75 s.
#[tokio::test]
async fn a_waiter_is_admitted_though_its_subscription_was_killed() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    for _ in 0..3 {
        let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
        let mut waiting = waiters(&leases, 1).await;
        let mut kill = redis::cmd("CLIENT");
        let killed: u64 = server.ask(kill.arg("KILL").arg("TYPE").arg("pubsub")).await;
        assert_eq!(killed, 1);
        assert!(held.release().await.unwrap());
        let (_, took) = timed(waiting.join_next()).await;
        assert!(took < Duration::from_millis(1750) + MARGIN, "{took:?}");
    }
}

/// A durable server that was killed comes back with the line: 100 waiters are admitted, in order.
#[tokio::test]
async fn a_hundred_waiters_survive_a_restart_in_order() {
    let server = Redis::start_durable().await;
    let leases = connect(&server.url()).await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut waiting = waiters(&leases, 100).await;
    server.kill_9();
    server.restart().await;
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

/// One that is not durable has forgotten the line: all come back by themselves, and are admitted.
#[tokio::test]
async fn a_hundred_waiters_come_back_to_a_server_that_forgot_them() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let waiting = waiters(&leases, 100).await;
    server.kill_9();
    server.restart().await;
    assert!(held.refresh().await.is_err() && held.loss() == Some(Loss::Expired));
    let ended = tokio::time::timeout(20 * SECOND, waiting.join_all()).await;
    assert_eq!(ended.expect("all are admitted").len(), 100);
    until_free(&leases, &lease_key("a"), SECOND).await;
}

/// Case R3: FLUSHALL under load: for each name the fences rise, and everybody goes on.
#[tokio::test]
async fn r3_fences_rise_over_a_flush_under_load() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let began = Instant::now();
    let mut working = tokio::task::JoinSet::new();
    let fences: std::sync::Arc<std::sync::Mutex<[Vec<u64>; 3]>> = std::sync::Arc::default();
    for number in 0..9 {
        let (leases, fences) = (leases.clone(), std::sync::Arc::clone(&fences));
        working.spawn(async move {
            while began.elapsed() < 2 * SECOND {
                let request = leases.lease(format!("l{}", number % 3)).unwrap();
                let mut held = request.acquire().await.unwrap();
                fences.lock().unwrap()[number % 3].push(held.fence().as_u64());
                held.release().await.unwrap();
            }
        });
    }
    while began.elapsed() < 2 * SECOND {
        server.flush_all().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    working.join_all().await;
    for of_one in fences.lock().unwrap().iter_mut() {
        let grants = of_one.len();
        assert!(grants > 50, "{grants}");
        of_one.sort_unstable();
        of_one.dedup();
        assert_eq!(of_one.len(), grants, "no number was given twice");
    }
    until("nothing stays", || async {
        let free = leases.lease("l0").unwrap().try_acquire().await.unwrap();
        free.is_some().then_some(())
    })
    .await;
}
