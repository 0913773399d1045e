//! Applying the migrations: in one transaction, by one program at a time.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Postgres, Row as _};

use crate::sql::attempt::Loan;
use crate::sql::error::Failure;
use crate::sql::migrations::{self, Migration};

const MIGRATIONS: [Migration; 4] = migrations::of!("postgres");

/// Where it is written down which were applied.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS leases_migrations (
    number bigint PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)";

/// Held to the end of the transaction, also against those who are making the table.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtext('leases_migrations'))";

const STORED: &str = "SELECT max(number) FROM leases_migrations";

/// Applies those that are missing; answers how many.
pub(super) async fn migrate(mut connection: Loan<Postgres>) -> Result<u32, Failure> {
    let mut transaction = connection.begin().await?;
    let encoding: String =
        sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut *transaction).await?;
    if encoding != "UTF8" {
        return Err(Failure::Unfit("a database whose encoding is UTF8"));
    }
    for first in [LOCK, TABLE] {
        sqlx::raw_sql(first).execute(&mut *transaction).await?;
    }
    let stored: Option<i64> =
        sqlx::raw_sql(STORED).fetch_one(&mut *transaction).await?.try_get(0)?;
    migrations::check(stored)?;
    let missing = migrations::missing(&MIGRATIONS, stored);
    for one in missing {
        sqlx::raw_sql(one.sql).execute(&mut *transaction).await?;
        sqlx::raw_sql(AssertSqlSafe(one.note())).execute(&mut *transaction).await?;
    }
    transaction.commit().await.map_err(Failure::Ending)?;
    connection.give_back();
    Ok(missing.len() as u32)
}

/// The number of the last that was applied, if one was. Refuses a database whose transactions do not
/// see what was committed since they began.
pub(super) async fn version(
    connection: &mut PgConnection,
) -> Result<Result<Option<i64>, Failure>, sqlx::Error> {
    let isolation = "SELECT current_setting('transaction_isolation'), \
        to_regclass('leases_migrations') IS NOT NULL";
    let row = sqlx::raw_sql(isolation).fetch_one(&mut *connection).await?;
    if row.try_get::<String, _>(0)? != "read committed" {
        return Ok(Err(Failure::Unfit("default_transaction_isolation = 'read committed'")));
    }
    if !row.try_get::<bool, _>(1)? {
        return Ok(Ok(None));
    }
    sqlx::raw_sql(STORED).fetch_one(connection).await?.try_get(0).map(Ok)
}
