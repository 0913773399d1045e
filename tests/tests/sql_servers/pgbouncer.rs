//! A PgBouncer.

use leases_tests::servers::{PgBouncer, Postgres, until};
use sqlx::{Connection as _, PgConnection, Result};

use crate::NO_ANSWER;

/// The server's process that answers, which no prepared statement asks.
async fn answering(connection: &mut PgConnection) -> Result<i32> {
    let ask = sqlx::raw_sql("SELECT pg_backend_pid()").fetch_one(connection);
    sqlx::Row::try_get(&ask.await?, 0)
}

async fn connect(bouncer: &PgBouncer) -> PgConnection {
    PgConnection::connect(&bouncer.url()).await.expect("it listens")
}

#[tokio::test]
async fn clients_share_a_connection_between_transactions() {
    let postgres = Postgres::start().await;
    let bouncer = PgBouncer::before(&postgres).await;
    let (mut one, mut other) = (connect(&bouncer).await, connect(&bouncer).await);
    let first = answering(&mut one).await.expect("it passes queries");
    assert_eq!(answering(&mut other).await.expect("it passes queries"), first);
    let mut transaction = one.begin().await.expect("it begins");
    let held = answering(&mut transaction).await.expect("it passes queries");
    assert_ne!(answering(&mut other).await.expect("it passes queries"), held);
    transaction.commit().await.expect("it ends");
}

#[tokio::test]
async fn it_comes_back_and_finds_a_server_that_came_back() {
    let postgres = Postgres::start().await;
    let bouncer = PgBouncer::before(&postgres).await;
    let mut connection = connect(&bouncer).await;
    bouncer.kill_9();
    answering(&mut connection).await.expect_err("it is cut");
    bouncer.restart().await;
    answering(&mut connect(&bouncer).await).await.expect("it passes queries");
    bouncer.restart().await;
    postgres.restart().await;
    until("it passes queries again", || async {
        let mut connection = PgConnection::connect(&bouncer.url()).await.ok()?;
        answering(&mut connection).await.ok()
    })
    .await;
}

#[tokio::test]
async fn paused_it_answers_when_it_goes_on() {
    let postgres = Postgres::start().await;
    let bouncer = PgBouncer::before(&postgres).await;
    let mut connection = connect(&bouncer).await;
    bouncer.pause();
    let asking = answering(&mut connection);
    tokio::pin!(asking);
    assert!(tokio::time::timeout(NO_ANSWER, &mut asking).await.is_err());
    bouncer.resume();
    asking.await.expect("it goes on");
}
