//! Applying the migrations: in one transaction, by one program at a time.

use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use crate::sql::error::Failure;
use crate::sql::migrations::{self, Migration};

const MIGRATIONS: [Migration; 4] = migrations::of!("sqlite");

/// Where it is written down which were applied.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS leases_migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT";

const IS_THERE: &str = "SELECT 1 FROM sqlite_schema WHERE name = 'leases_migrations'";

const STORED: &str = "SELECT max(number) FROM leases_migrations";

/// Applies those that are missing; answers how many.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<u32, Failure> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::raw_sql(TABLE).execute(&mut *transaction).await?;
    let stored: Option<i64> =
        sqlx::raw_sql(STORED).fetch_one(&mut *transaction).await?.try_get(0)?;
    migrations::check(stored)?;
    let missing = migrations::missing(&MIGRATIONS, stored);
    for one in missing {
        sqlx::raw_sql(one.sql).execute(&mut *transaction).await?;
        sqlx::raw_sql(AssertSqlSafe(one.note())).execute(&mut *transaction).await?;
    }
    transaction.commit().await.map_err(Failure::Ending)?;
    Ok(missing.len() as u32)
}

/// The number of the last that was applied, if one was.
pub(super) async fn version(connection: &mut SqliteConnection) -> Result<Option<i64>, Failure> {
    if sqlx::raw_sql(IS_THERE).fetch_optional(&mut *connection).await?.is_none() {
        return Ok(None);
    }
    Ok(sqlx::raw_sql(STORED).fetch_one(connection).await?.try_get(0)?)
}
