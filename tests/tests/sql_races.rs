//! Races over SQL databases with a server: between what is given up and what follows, between holders,
//! and with connections that are lost. Most once left a hold behind, gave a name twice or cost more
//! than one operation.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use leases::{ErrorKind, Leases};
use leases_tests::live::{SECOND, connect, lease_key, stays_free, until_free};
use leases_tests::servers::{MariaDb, Postgres, Proxy};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

const MS: Duration = Duration::from_millis(1);

/// A server with tables, and a proxy in front of it.
struct Behind {
    proxy: Proxy,
    through: String,
    direct: String,
    /// In how many requests a lease is taken.
    requests: u32,
    _server: Box<dyn Any + Send + Sync>,
}

impl Behind {
    async fn postgres() -> Self {
        let server = Postgres::start().await;
        let (proxy, direct) = (Proxy::in_front_of(&server).await, server.url());
        let through = direct.replace(&server.address(), &proxy.address());
        Behind { proxy, through, direct, requests: 1, _server: Box::new(server) }.migrated().await
    }

    async fn mariadb() -> Self {
        let server = MariaDb::start().await;
        let (proxy, direct) = (Proxy::in_front_of(&server).await, server.url());
        let through = direct.replace(&server.address(), &proxy.address());
        Behind { proxy, through, direct, requests: 2, _server: Box::new(server) }.migrated().await
    }

    async fn migrated(self) -> Self {
        connect(&self.direct).await.migrate().await.expect("the server answers");
        self
    }

    /// A handle through the proxy, with connections that were used just now.
    async fn leases(&self, parameters: &str) -> Leases {
        let leases = connect(&format!("{}?{parameters}", self.through)).await;
        leases.lease("warm").unwrap().acquire().await.unwrap().release().await.unwrap();
        leases
    }
}

/// Each case on each of them.
macro_rules! on_each {
    ($($case:ident),+ $(,)?) => {
        mod postgres {
            $(#[test] fn $case() { super::$case(|| Box::pin(super::Behind::postgres())) })+
        }
        mod mariadb {
            $(#[test] fn $case() { super::$case(|| Box::pin(super::Behind::mariadb())) })+
        }
    };
}

type Starts = fn() -> Pin<Box<dyn Future<Output = Behind> + Send>>;

on_each!(
    a_leave_that_comes_late_ends_no_later_hold,
    an_ask_whose_runtime_ended_and_that_comes_late_leaves_nothing,
    pooled_connections_that_went_silent_cost_one_operation_at_most,
    a_connection_that_went_silent_on_its_way_back_is_replaced,
    no_update_under_a_lease_is_lost_while_connections_are_cut,
);

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A grant whose reply came after its end is left again, and the name asked for once more. That
/// leave was given up and is carried out after the next grant: it concerns the first one alone.
///
/// On a machine that is slow just then the first answer may come later than the request timeout. Such a
/// round shows nothing: another name is tried.
fn a_leave_that_comes_late_ends_no_later_hold(starts: Starts) {
    runtime().block_on(async {
        let on = starts().await;
        let direct = connect(&on.direct).await;
        let leases = on.leases("timeout=1s&connections=2").await;
        for round in 0..10 {
            if a_leave_comes_late(&on, &direct, &leases, &format!("a{round}")).await {
                return;
            }
        }
        panic!("no answer within the request timeout, ten times");
    });
}

/// Whether the name was granted anew while the leave of its first grant was held back.
async fn a_leave_comes_late(on: &Behind, direct: &Leases, leases: &Leases, name: &str) -> bool {
    // Two connections know the statements that follow: they are one request each.
    for _ in 0..8 {
        let (one, two) = (leases.lease("one").unwrap(), leases.lease("two").unwrap());
        drop(tokio::join!(one.acquire(), two.acquire()));
        until_free(direct, &lease_key("one"), SECOND).await;
        until_free(direct, &lease_key("two"), SECOND).await;
    }
    let request = leases.lease(name).unwrap().ttl(300 * MS).wait(20 * SECOND);
    on.proxy.delay(300 * MS / on.requests);
    let acquiring = tokio::spawn(async move { request.acquire().await });
    tokio::time::sleep(200 * MS).await;
    on.proxy.hold(); // The grant is on its way back, and the leave will be held.
    on.proxy.until_held().await;
    tokio::time::sleep(500 * MS).await;
    on.proxy.pass();
    let acquired = acquiring.await.unwrap();
    on.proxy.let_go().await;
    let held = match acquired {
        Ok(held) => held,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Unavailable(_)), "{error:?}");
            on.proxy.delay(Duration::ZERO);
            return false;
        }
    };
    let other = direct.lease(name).unwrap().wait(150 * MS).acquire().await;
    assert!(other.is_err() || held.loss().is_some(), "two hold: {held:?} and {other:?}");
    true
}

/// A handle is used in two runtimes. One ends with an ask on its way; what gives back, in the other,
/// is faster than that ask.
fn an_ask_whose_runtime_ended_and_that_comes_late_leaves_nothing(starts: Starts) {
    let (stays, ends) = (runtime(), runtime());
    let (on, leases, direct) = stays.block_on(async {
        let on = starts().await;
        let leases = on.leases("").await;
        let direct = connect(&on.direct).await;
        (on, leases, direct)
    });
    on.proxy.hold();
    let request = leases.lease("a").unwrap().ttl(60 * SECOND);
    ends.spawn(async move { request.acquire().await.map(drop) });
    stays.block_on(on.proxy.until_held());
    on.proxy.pass();
    ends.shutdown_background();
    stays.block_on(async {
        tokio::time::sleep(SECOND).await;
        on.proxy.let_go().await;
        stays_free(&direct, &lease_key("a")).await;
    });
}

/// The way forgot all connections that were open, and new ones pass: one operation may fail of it,
/// and what is kept is kept.
fn pooled_connections_that_went_silent_cost_one_operation_at_most(starts: Starts) {
    runtime().block_on(async {
        let on = starts().await;
        let leases = on.leases("timeout=2s").await;
        let kept = leases.lease("kept").unwrap().ttl(8 * SECOND).keep_alive();
        let kept = kept.acquire().await.unwrap();
        let mut tasks = JoinSet::new();
        for number in 0..40 {
            let request = leases.lease(format!("many:{number}")).unwrap();
            tasks.spawn(async move { request.acquire().await.unwrap().release().await.unwrap() });
        }
        tasks.join_all().await;
        assert!(on.proxy.accepted() >= 10, "{}", on.proxy.accepted());
        tokio::time::sleep(600 * MS).await;
        on.proxy.hold_open_ones();
        let mut failed = Vec::new();
        for _ in 0..3 {
            failed.extend(leases.lease("a").unwrap().try_acquire().await.err());
        }
        assert!(failed.len() <= 1, "{failed:?}");
        tokio::time::sleep(4 * SECOND).await;
        assert_eq!(kept.loss(), None);
    });
}

/// The driver asks a connection that comes back to its pool whether it still is one. Where no answer
/// comes, its place is free all the same.
fn a_connection_that_went_silent_on_its_way_back_is_replaced(starts: Starts) {
    runtime().block_on(async {
        let on = starts().await;
        let leases = on.leases("connections=1").await;
        tokio::time::sleep(100 * MS).await;
        on.proxy.delay(300 * MS / on.requests);
        let request = leases.lease("a").unwrap();
        let acquiring = tokio::spawn(async move { request.acquire().await });
        tokio::time::sleep(200 * MS).await;
        on.proxy.pass();
        on.proxy.hold_open_ones(); // The grant is on its way.
        let mut held = acquiring.await.unwrap().unwrap();
        assert!(held.release().await.unwrap());
    });
}

/// What is counted under a lease.
#[derive(Debug, Default)]
struct Counted {
    value: AtomicU64,
    updates: AtomicU64,
    fence: AtomicU64,
}

/// Takes a name, counts under it, and gives it back or leaves that to others, until it is over.
async fn count_on(leases: Leases, counted: Arc<Counted>, seed: u64, until: Instant) {
    let mut rng = SmallRng::seed_from_u64(seed);
    while Instant::now() < until {
        let ttl = MS * rng.random_range(1000..2000);
        let request = leases.lease("a").unwrap().ttl(ttl).wait(3 * SECOND);
        let patience = MS * rng.random_range(10..600);
        // Who is cancelled, cut or too late tries again.
        let acquired = tokio::time::timeout(patience, request.acquire()).await;
        let Ok(Ok(mut held)) = acquired else { continue };
        let before = counted.fence.fetch_max(held.fence().as_u64(), Ordering::SeqCst);
        let value = counted.value.load(Ordering::SeqCst);
        tokio::time::sleep(MS * rng.random_range(0..15)).await;
        if held.loss().is_none() {
            assert!(before < held.fence().as_u64(), "{before} {held:?}");
            counted.value.store(value + 1, Ordering::SeqCst);
            counted.updates.fetch_add(1, Ordering::SeqCst);
        }
        match rng.random_range(0..4) {
            0 => drop(held),
            1 => drop(held.refresh().await),
            _ => drop(held.release().await),
        }
    }
}

/// Twelve that count under one lease, over three handles, while their connections are cut and they
/// are cancelled: whoever believes to hold it holds it alone, and when they end it is free.
fn no_update_under_a_lease_is_lost_while_connections_are_cut(starts: Starts) {
    runtime().block_on(async {
        let on = starts().await;
        let (counted, until) = (Arc::new(Counted::default()), Instant::now() + 5 * SECOND);
        let mut tasks = JoinSet::new();
        for parameters in ["timeout=2s", "timeout=2s&connections=1", "timeout=2s&retention=1ms"] {
            let leases = on.leases(parameters).await;
            for _ in 0..4 {
                let counted = Arc::clone(&counted);
                tasks.spawn(count_on(leases.clone(), counted, rand::random(), until));
            }
        }
        while Instant::now() < until {
            tokio::time::sleep(MS * rand::random_range(50..500)).await;
            match rand::random_range(0..3) {
                0 => on.proxy.cut_now(),
                1 => on.proxy.cut_after_next_request(),
                _ => on.proxy.cut_before_next_request(),
            }
        }
        tasks.join_all().await;
        until_free(&connect(&on.direct).await, &lease_key("a"), 7 * SECOND).await;
        let updates = counted.updates.load(Ordering::SeqCst);
        assert_eq!(counted.value.load(Ordering::SeqCst), updates);
        assert!(updates > 20, "{updates}");
    });
}

/// Somebody locked a name's row and does not go on. Asks for it are given up, and the server sees
/// that in time: it does not go on waiting for one connection more with each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asks_that_wait_for_a_lock_do_not_pile_up_in_a_postgres() {
    let server = Postgres::start().await;
    let leases = connect(&format!("{}?timeout=600ms", server.url())).await;
    leases.migrate().await.unwrap();
    drop(leases.lease("a").unwrap().acquire().await.unwrap());
    until_free(&leases, &lease_key("a"), SECOND).await;
    let mut other = server.connection().await;
    let lock = sqlx::raw_sql("BEGIN; SELECT FROM leases_grants WHERE name = 'a' FOR UPDATE");
    lock.execute(&mut other).await.unwrap();
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let request = leases.lease("a").unwrap();
        tasks.spawn(async move {
            for _ in 0..6 {
                request.try_acquire().await.unwrap_err();
            }
        });
    }
    tasks.join_all().await;
    let count = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
    let count: i64 = sqlx::query_scalar(count).fetch_one(&mut other).await.unwrap();
    assert!(count <= 24, "{count} connections");
}
