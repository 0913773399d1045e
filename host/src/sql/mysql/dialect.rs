//! What is MySQL's own in the statements, and how they are sent: several in one request.

use sqlx::mysql::MySqlRow;
use sqlx::{AssertSqlSafe, Executor as _, MySql, MySqlConnection, Row as _};

use super::migrate;
use crate::sql::error::Failure;
use crate::sql::rows::{Cell, Dialect, Request, Row, Running, Stopped, Values, Words, gathered};

#[derive(Debug)]
pub(super) struct MySqlDialect {
    words: Words,
}

/// On a connection whose transactions see what was committed before each of their statements.
const BEGIN: &str = "START TRANSACTION";

/// On one of whose transactions that is not known.
const BEGIN_ANYWHERE: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION";

const WORDS: Words = Words {
    begin: BEGIN,
    // Whatever the time zone of the connection.
    now: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))",
    lock: " FOR UPDATE",
    lock_free: " FOR UPDATE SKIP LOCKED",
    values: Values::Written,
};

impl MySqlDialect {
    /// On connections that were [set up](super::settings) for it.
    pub(super) const SET_UP: MySqlDialect = MySqlDialect { words: WORDS };

    /// On connections of others.
    pub(super) const ANYWHERE: MySqlDialect =
        MySqlDialect { words: Words { begin: BEGIN_ANYWHERE, ..WORDS } };
}

impl Dialect for MySqlDialect {
    type Driver = MySql;

    const LOCKS_KEYS: bool = true;

    fn words(&self) -> &Words {
        &self.words
    }

    fn run<'a>(
        connection: &'a mut MySqlConnection,
        request: Request,
    ) -> Running<'a, Result<Vec<Vec<Row>>, Stopped>> {
        let text = sqlx::raw_sql(AssertSqlSafe(request.text));
        Box::pin(gathered(connection.fetch_many(text), row))
    }

    fn migrate(connection: &mut MySqlConnection) -> Running<'_, Result<u32, Failure>> {
        Box::pin(migrate::migrate(connection))
    }

    fn version(connection: &mut MySqlConnection) -> Running<'_, Result<Option<i64>, Failure>> {
        Box::pin(migrate::version(connection))
    }
}

/// Requests in text are answered in text: a number is its digits.
fn row(row: &MySqlRow) -> Result<Row, sqlx::Error> {
    let cells = (0..row.len()).map(|column| {
        let bytes: Option<Vec<u8>> = row.try_get_unchecked(column)?;
        Ok(bytes.map_or(Cell::None, Cell::Bytes))
    });
    Ok(Row::new(cells.collect::<Result<_, sqlx::Error>>()?))
}
