//! Races over SQL databases with a server, each of which once left a hold behind, gave a name twice
//! or cost a hold: between what is given up and what follows, and between holders.

use std::any::Any;
use std::pin::Pin;
use std::time::Duration;

use leases::Leases;
use leases_tests::live::{SECOND, connect, lease_key, stays_free, until_free};
use leases_tests::servers::{MariaDb, Postgres, Proxy};
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
);

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A grant whose reply came after its end is left again, and the name asked for once more. That
/// leave was given up and is carried out after the next grant: it concerns the first one alone.
fn a_leave_that_comes_late_ends_no_later_hold(starts: Starts) {
    runtime().block_on(async {
        let on = starts().await;
        let direct = connect(&on.direct).await;
        let leases = on.leases("timeout=1s&connections=2").await;
        // Two connections know the statements that follow: they are one request each.
        for _ in 0..8 {
            let (one, two) = (leases.lease("one").unwrap(), leases.lease("two").unwrap());
            drop(tokio::join!(one.acquire(), two.acquire()));
            until_free(&direct, &lease_key("one"), SECOND).await;
            until_free(&direct, &lease_key("two"), SECOND).await;
        }
        let request = leases.lease("a").unwrap().ttl(300 * MS).wait(20 * SECOND);
        on.proxy.delay(300 * MS / on.requests);
        let acquiring = tokio::spawn(async move { request.acquire().await });
        tokio::time::sleep(200 * MS).await;
        on.proxy.hold(); // The grant is on its way back, and the leave will be held.
        on.proxy.until_held().await;
        tokio::time::sleep(500 * MS).await;
        on.proxy.pass();
        let held = acquiring.await.unwrap().unwrap();
        on.proxy.let_go().await;
        let other = direct.lease("a").unwrap().wait(150 * MS).acquire().await;
        assert!(other.is_err() || held.loss().is_some(), "two hold: {held:?} and {other:?}");
    });
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
