//! A pool that the program has, which it uses for other things too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use leases::{Applied, Error, ErrorKind, Leases, SqlBackend, SqlConfig};
use rand::RngExt as _;
use sqlx::mysql::MySqlPoolOptions;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{Executor, Pool};
use tokio::task::JoinSet;

use crate::live::{
    MARGIN, SECOND, lease_key, semaphore_key, stays_free, timed, until_free, until_seen, view,
};
use crate::{Case, Database, On, Site, listed};

pub(super) const CASES: &[Case<On>] = listed![
    a5_a_pool_of_one_serves_fifty_in_order,
    a5_an_exhausted_pool_is_unavailable_and_the_hold_stays_known,
    q2_a_long_transaction_of_the_programs_moves_no_end,
];

/// Runs this with a pool of so many connections, and with how settings are made of it.
macro_rules! over_a_pool {
    ($on:expr, $connections:expr, $run:ident) => {{
        let site = $on.start().await;
        let url = site.url();
        match &site {
            Site::Postgres(_) => {
                let options = PgPoolOptions::new().max_connections($connections);
                $run(options.connect(&url).await.unwrap(), SqlConfig::postgres).await;
            }
            Site::MariaDb(_) => {
                let options = MySqlPoolOptions::new().max_connections($connections);
                $run(options.connect(&url).await.unwrap(), SqlConfig::mysql).await;
            }
            Site::Sqlite(_) => {
                let options = SqlitePoolOptions::new().max_connections($connections);
                $run(options.connect(&url).await.unwrap(), SqlConfig::sqlite).await;
            }
            Site::Redis(_) => panic!("it has none: see Need::Pools"),
        }
    }};
}

async fn over(config: SqlConfig) -> Leases {
    Leases::builder(Arc::new(SqlBackend::connect(config).await.unwrap())).build()
}

/// Case A5: with one connection for all that they do, 50 tasks are let in in the order of the line.
async fn a5_a_pool_of_one_serves_fifty_in_order(on: On) {
    over_a_pool!(on, 1, fifty_in_order);
}

async fn fifty_in_order<DB: sqlx::Database>(pool: Pool<DB>, config: fn(Pool<DB>) -> SqlConfig) {
    let leases = over(config(pool)).await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut waiting = JoinSet::new();
    let admitted = Arc::new(AtomicU32::new(0));
    for number in 0..50 {
        let (request, admitted) = (leases.lease("a").unwrap(), Arc::clone(&admitted));
        waiting.spawn(async move {
            let mut held = request.acquire().await.unwrap();
            let place = admitted.fetch_add(1, Ordering::SeqCst);
            assert!(held.release().await.unwrap());
            (number, place)
        });
        until_seen(&leases, &lease_key("a"), 1, number as usize + 1).await;
    }
    assert!(held.release().await.unwrap());
    let in_time = tokio::time::timeout(20 * SECOND, waiting.join_all()).await;
    for (number, place) in in_time.expect("all are admitted") {
        assert_eq!(number, place);
    }
}

/// Case A5: while the program has the only connection, each call is unavailable within the request
/// timeout, and not applied. A hold stays known: it can be given back later, and what was dropped is.
async fn a5_an_exhausted_pool_is_unavailable_and_the_hold_stays_known(on: On) {
    over_a_pool!(on, 1, exhausted);
}

async fn exhausted<DB: sqlx::Database>(pool: Pool<DB>, config: fn(Pool<DB>) -> SqlConfig) {
    let timeout = Duration::from_millis(400);
    let leases = over(config(pool.clone()).request_timeout(timeout)).await;
    let mut held = leases.lease("held").unwrap().acquire().await.unwrap();
    let dropped = leases.lease("dropped").unwrap().acquire().await.unwrap();
    let request = leases.semaphore("kept", 2).unwrap().ttl(6 * SECOND).keep_alive();
    let kept = request.acquire().await.unwrap();
    let only = pool.acquire().await.unwrap();
    drop(dropped);
    let began = Instant::now();
    for _ in 0..2 {
        let (acquire, semaphore) = (leases.lease("a").unwrap(), leases.semaphore("a", 2).unwrap());
        let (answers, took) = timed(async {
            [
                acquire.acquire().await.map(drop),
                semaphore.try_acquire().await.map(drop),
                held.refresh().await.map(drop),
                held.release().await.map(drop),
                leases.inspect(&lease_key("a")).await.map(drop),
            ]
        })
        .await;
        for answer in answers {
            is_not_applied(&answer.unwrap_err());
        }
        assert!(took < 5 * timeout + MARGIN, "{took:?}");
    }
    assert!(began.elapsed() < 5 * SECOND, "the kept hold is kept for 6");
    drop(only);
    assert!(held.release().await.unwrap());
    for key in [lease_key("a"), semaphore_key("a"), lease_key("dropped")] {
        until_free(&leases, &key, 5 * SECOND).await;
    }
    stays_free(&leases, &lease_key("a")).await;
    until_seen(&leases, &semaphore_key("kept"), 1, 0).await;
    assert_eq!(kept.loss(), None);
}

fn is_not_applied(error: &Error) {
    assert_eq!(*error.kind(), ErrorKind::Unavailable(Applied::No), "{error:?}");
}

/// Case Q2: the program has a transaction open for seconds, on a connection of the pool. Two
/// handles over it contend meanwhile: never do two hold, and ends are counted from each statement.
async fn q2_a_long_transaction_of_the_programs_moves_no_end(on: On) {
    over_a_pool!(on, 3, beside_a_long_transaction);
}

async fn beside_a_long_transaction<DB>(pool: Pool<DB>, config: fn(Pool<DB>) -> SqlConfig)
where
    DB: sqlx::Database,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let mut transaction = pool.begin().await.unwrap();
    let read = || sqlx::raw_sql("SELECT count(*) FROM leases_grants");
    read().execute(&mut *transaction).await.unwrap();
    let ttl = Duration::from_millis(300);
    let is_held = Arc::new(AtomicBool::new(false));
    let mut working = JoinSet::new();
    for _ in 0..2 {
        let (leases, is_held) = (over(config(pool.clone())).await, Arc::clone(&is_held));
        working.spawn(async move {
            let mut seen = [0_u32; 2];
            let began = Instant::now();
            while began.elapsed() < 3 * SECOND {
                let mut held = leases.lease("a").unwrap().ttl(ttl).acquire().await.unwrap();
                assert!(!is_held.swap(true, Ordering::SeqCst), "two hold");
                let expires = rand::rng().random_bool(0.05);
                if expires {
                    held.lost().await;
                } else {
                    tokio::time::sleep(Duration::from_millis(3)).await;
                }
                is_held.store(false, Ordering::SeqCst);
                seen[usize::from(expires)] += 1;
                if !expires {
                    held.release().await.unwrap();
                }
            }
            seen
        });
    }
    let seen = working.join_all().await;
    assert!(seen.iter().all(|[released, _]| *released > 20), "{seen:?}");
    assert!(seen.iter().any(|[_, expired]| *expired > 0), "{seen:?}");
    let leases = over(config(pool.clone())).await;
    let began = Instant::now();
    let held = leases.lease("b").unwrap().ttl(10 * SECOND).acquire().await.unwrap();
    let ends_in = view(&leases, &lease_key("b")).await.holders[0].ends_in;
    let least = 10 * SECOND - Database::Sqlite.resolution(); // No clock is coarser.
    assert!(ends_in <= 10 * SECOND && ends_in + began.elapsed() >= least, "{ends_in:?}");
    read().execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    drop(held);
    until_free(&leases, &lease_key("b"), SECOND).await;
}
