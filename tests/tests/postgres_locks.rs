//! What takes no lock in PostgreSQL answers while somebody else holds them all.

use leases::spec::{Answer, Mode};
use leases::{Backend as _, Kind, SqlBackend, SqlConfig, Verdict};
use leases_tests::live::{MARGIN, ask, connect, lease_key, semaphore_key, timed, view};
use leases_tests::servers::Postgres;
use sqlx::Connection as _;

/// Locks every row there is, until the transaction ends.
const LOCK_ALL: &str = "SELECT FROM leases_grants FOR UPDATE; SELECT FROM leases_tickets FOR UPDATE; \
    SELECT FROM leases_departed FOR UPDATE; SELECT FROM leases_guards FOR UPDATE";

/// Case S6 too: a refused try, of a lease and of a semaphore, with and without a line.
#[tokio::test]
async fn s6_a_refusal_waits_for_no_row_that_is_locked() {
    let server = Postgres::start().await;
    let leases = connect(&server.url()).await;
    leases.migrate().await.unwrap();
    let bare = SqlBackend::connect(SqlConfig::from_url(&server.url()).unwrap()).await.unwrap();
    let patience = bare.properties().patience;
    let mut locking = server.connection().await;
    for (key, limit) in [(lease_key("a"), 1), (semaphore_key("a"), 50)] {
        for _ in 0..limit {
            let held = bare.ask(&ask(&key, limit, Mode::Once)).await.unwrap();
            assert!(matches!(held, Answer::Granted(_)));
        }
        for waiters in 0..2 {
            let mut transaction = locking.begin().await.unwrap();
            sqlx::raw_sql(LOCK_ALL).execute(&mut *transaction).await.unwrap();
            let once = ask(&key, limit, Mode::Once);
            let (refused, took) = timed(bare.ask(&once)).await;
            let refused = refused.unwrap_or_else(|e| panic!("{key}, {waiters} wait: {e:?}"));
            assert!(matches!(refused, Answer::Busy { .. }), "{key}: {refused:?}");
            assert!(took < MARGIN, "{key}, {waiters} wait: {took:?}");
            assert_eq!(view(&leases, &key).await.waiters.len(), waiters);
            // The rows are locked indeed: what changes something waits.
            let leaving = bare.leave(&key, once.holder);
            let is_lease = key.kind == Kind::Lease && waiters == 0;
            let left = tokio::time::timeout(MARGIN / 4, leaving).await;
            assert_eq!(left.is_ok(), is_lease, "a plain lease that is another's is left by a read");
            transaction.rollback().await.unwrap();
            bare.ask(&ask(&key, limit, Mode::Wait { patience })).await.unwrap();
        }
    }
}

/// So does a stale fence.
#[tokio::test]
async fn a_stale_fence_waits_for_no_row_that_is_locked() {
    let server = Postgres::start().await;
    let leases = connect(&server.url()).await;
    leases.migrate().await.unwrap();
    let guard = leases.guard("a").unwrap();
    let fence = |number| leases::Fence::new(number).unwrap();
    assert_eq!(guard.admit(fence(7)).await.unwrap(), Verdict::Admitted);
    let mut locking = server.connection().await;
    let mut transaction = locking.begin().await.unwrap();
    sqlx::raw_sql(LOCK_ALL).execute(&mut *transaction).await.unwrap();
    let (verdict, took) = timed(guard.admit(fence(6))).await;
    assert_eq!(verdict.unwrap(), Verdict::Stale(fence(7)));
    assert!(took < MARGIN, "{took:?}");
    assert_eq!(guard.current().await.unwrap(), Some(fence(7)));
}
