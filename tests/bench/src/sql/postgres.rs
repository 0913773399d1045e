//! PostgreSQL: each operation beside one statement on one row, over the same pool.

use std::sync::Arc;

use anyhow::Result;
use leases::{Leases, SqlBackend, SqlConfig};
use leases_tests::servers::Postgres;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, query_scalar, raw_sql};
use tokio::runtime::Runtime;

use super::pairs::Pairs;
use super::places;
use crate::line::{self, Goals};
use crate::report::Report;

const UPDATE: &str = "UPDATE bare SET value = value + 1 WHERE id = $1 RETURNING value";
const SELECT: &str = "SELECT value FROM bare WHERE id = $1";

pub(super) fn add(report: &mut Report, runtime: &Runtime) -> Result<()> {
    let server = runtime.block_on(Postgres::start_durable());
    let (pool, leases) = runtime.block_on(open(&server))?;
    let bare = |statement| {
        let pool = &pool;
        move |task| one(pool.clone(), statement, task)
    };
    for tasks in [1, 8] {
        let pairs = Pairs { name: "PostgreSQL", leases: &leases, tasks, has_goals: true };
        pairs.add(report, runtime, (bare(UPDATE), bare(SELECT)))?;
    }
    places::add(report, runtime, ("PostgreSQL", &leases))?;
    let goals = Goals { p50_ns: 3e6, p99_ns: 2e7 };
    line::add(report, runtime, ("PostgreSQL, ", &server.url()), Some(goals))
}

async fn open(server: &Postgres) -> Result<(PgPool, Leases)> {
    // No question before each statement whether the connection still is one: for neither of both.
    let pool = PgPoolOptions::new().max_connections(8).test_before_acquire(false);
    let pool = pool.connect(&server.url()).await?;
    raw_sql(
        "CREATE TABLE bare (id integer PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 50);
         INSERT INTO bare SELECT n, 0 FROM generate_series(0, 7) AS n",
    )
    .execute(&pool)
    .await?;
    let backend = SqlBackend::connect(SqlConfig::postgres(pool.clone())).await?;
    let leases = Leases::builder(Arc::new(backend)).build();
    leases.migrate().await?;
    Ok((pool, leases))
}

async fn one(pool: PgPool, statement: &'static str, task: u32) -> Result<i64> {
    Ok(query_scalar(statement).bind(task as i32).fetch_one(&pool).await?)
}
