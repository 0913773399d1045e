//! Applying the migrations: by one program at a time, under a lock of the server's. Each can be
//! applied again: here a table is made at once, whatever comes after it.

use sqlx::{AssertSqlSafe, MySqlConnection, Row as _};

use crate::sql::error::Failure;
use crate::sql::migrations::{self, Migration};

const MIGRATIONS: [Migration; 4] = migrations::of!("mysql");

/// Where it is written down which were applied.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS leases_migrations (
    number     BIGINT      NOT NULL PRIMARY KEY,
    name       VARCHAR(64) NOT NULL,
    applied_at TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP
) ENGINE=InnoDB";

/// Of this database alone. It is waited for longer than anybody who migrates may take, and goes with
/// the connection.
const LOCK: &str = "SELECT GET_LOCK(CONCAT('leases:', MD5(DATABASE())), 60)";
const UNLOCK: &str = "SELECT RELEASE_LOCK(CONCAT('leases:', MD5(DATABASE())))";

const STORED: &str = "SELECT MAX(number) FROM leases_migrations";

/// Whether a database is chosen, whether statements are committed by themselves, and whether there
/// are migrations.
const SETTING: &str = "SELECT DATABASE() IS NOT NULL, @@autocommit, (SELECT COUNT(*) \
    FROM information_schema.tables \
    WHERE table_schema = DATABASE() AND table_name = 'leases_migrations')";

/// Applies those that are missing; answers how many.
pub(super) async fn migrate(connection: &mut MySqlConnection) -> Result<u32, Failure> {
    let locked: Option<i64> =
        sqlx::raw_sql(LOCK).fetch_one(&mut *connection).await?.try_get_unchecked(0)?;
    if locked != Some(1) {
        return Err(Failure::Unfit("the lock of those who migrate, which somebody holds"));
    }
    sqlx::raw_sql(TABLE).execute(&mut *connection).await?;
    let stored = stored(connection).await?;
    migrations::check(stored)?;
    let missing = migrations::missing(&MIGRATIONS, stored);
    for one in missing {
        sqlx::raw_sql(one.sql).execute(&mut *connection).await?;
        sqlx::raw_sql(AssertSqlSafe(one.note())).execute(&mut *connection).await?;
    }
    sqlx::raw_sql(UNLOCK).execute(connection).await?;
    Ok(missing.len() as u32)
}

/// The number of the last that was applied, if one was. Refuses a connection without a database, or
/// whose statements are not committed by themselves.
pub(super) async fn version(connection: &mut MySqlConnection) -> Result<Option<i64>, Failure> {
    let row = sqlx::raw_sql(SETTING).fetch_one(&mut *connection).await?;
    let [has_database, autocommit, migrated] =
        [0, 1, 2].map(|column| row.try_get_unchecked::<i64, _>(column));
    if has_database? == 0 {
        return Err(Failure::Unfit("a database that is chosen: mysql://host/database"));
    }
    if autocommit? == 0 {
        return Err(Failure::Unfit("autocommit = 1"));
    }
    match migrated? {
        0 => Ok(None),
        _ => stored(connection).await,
    }
}

async fn stored(connection: &mut MySqlConnection) -> Result<Option<i64>, Failure> {
    Ok(sqlx::raw_sql(STORED).fetch_one(connection).await?.try_get_unchecked(0)?)
}
