//! MariaDB and SQLite: each operation beside one statement on one row.

use anyhow::Result;
use leases::Leases;
use leases_tests::servers::MariaDb;
use sqlx::mysql::MySqlPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{MySqlPool, SqlitePool, query, query_scalar, raw_sql};
use tokio::runtime::Runtime;

use super::pairs::Pairs;
use super::places;
use crate::line;
use crate::report::Report;

const SELECT: &str = "SELECT value FROM bare WHERE id = ?";
const UPDATE: &str = "UPDATE bare SET value = value + 1 WHERE id = ?";
const TABLE: &str = "CREATE TABLE bare (id INTEGER PRIMARY KEY, value BIGINT NOT NULL);
    INSERT INTO bare VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0)";

pub(super) fn add_mariadb(report: &mut Report, runtime: &Runtime) -> Result<()> {
    let server = runtime.block_on(MariaDb::start_durable());
    let (pool, leases) = runtime.block_on(async {
        let pool = MySqlPoolOptions::new().max_connections(8).test_before_acquire(false);
        let pool = pool.connect(&server.url()).await?;
        raw_sql(TABLE).execute(&pool).await?;
        anyhow::Ok((pool, open(&server.url()).await?))
    })?;
    let (write, read) =
        (|task| mariadb_write(pool.clone(), task), |task| mariadb_read(pool.clone(), task));
    for tasks in [1, 8] {
        let pairs = Pairs { name: "MariaDB", leases: &leases, tasks, has_goals: false };
        pairs.add(report, runtime, (write, read))?;
    }
    places::add(report, runtime, ("MariaDB", &leases))?;
    line::add(report, runtime, ("MariaDB, ", &server.url()), None)
}

pub(super) fn add_sqlite(report: &mut Report, runtime: &Runtime) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite:{}", folder.path().join("leases.db").display());
    let (pool, leases) = runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(folder.path().join("bare.db"));
        let options = options.create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
        let options = options.synchronous(SqliteSynchronous::Normal);
        let pool = SqlitePoolOptions::new().max_connections(1).test_before_acquire(false);
        let pool = pool.connect_with(options).await?;
        raw_sql(TABLE).execute(&pool).await?;
        anyhow::Ok((pool, open(&url).await?))
    })?;
    let (write, read) =
        (|task| sqlite_write(pool.clone(), task), |task| sqlite_read(pool.clone(), task));
    let pairs = Pairs { name: "SQLite", leases: &leases, tasks: 1, has_goals: false };
    pairs.add(report, runtime, (write, read))?;
    places::add(report, runtime, ("SQLite", &leases))?;
    line::add(report, runtime, ("SQLite, ", &url), None)
}

async fn open(url: &str) -> Result<Leases> {
    let leases = Leases::connect(url).await?;
    leases.migrate().await?;
    Ok(leases)
}

async fn mariadb_write(pool: MySqlPool, task: u32) -> Result<i64> {
    Ok(query(UPDATE).bind(task).execute(&pool).await?.rows_affected() as i64)
}

async fn mariadb_read(pool: MySqlPool, task: u32) -> Result<i64> {
    Ok(query_scalar(SELECT).bind(task).fetch_one(&pool).await?)
}

async fn sqlite_write(pool: SqlitePool, task: u32) -> Result<i64> {
    Ok(query(UPDATE).bind(task).execute(&pool).await?.rows_affected() as i64)
}

async fn sqlite_read(pool: SqlitePool, task: u32) -> Result<i64> {
    Ok(query_scalar(SELECT).bind(task).fetch_one(&pool).await?)
}
