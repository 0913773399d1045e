//! What is SQLite's own in the statements, and how they are sent.

use sqlx::sqlite::{SqliteRow, SqliteValueRef};
use sqlx::{
    AssertSqlSafe, Executor as _, Row as _, Sqlite, SqliteConnection, TypeInfo as _, ValueRef as _,
};

use super::migrate;
use crate::sql::error::Failure;
use crate::sql::rows::{
    Cell, Dialect, Request, Row, Running, Stopped, Value, Values, Words, gathered,
};

/// Texts beyond this are not remembered: they are of a batch, and no two are of one length.
const REMEMBERED_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct SqliteDialect;

const WORDS: Words = Words {
    // It has the only lock there is to write, before anything is read.
    begin: "BEGIN IMMEDIATE",
    // In whole milliseconds.
    now: "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
    lock: "",
    lock_free: "",
    values: Values::Bound,
};

impl Dialect for SqliteDialect {
    type Driver = Sqlite;

    const LOCKS_KEYS: bool = false;

    fn words(&self) -> &Words {
        &WORDS
    }

    fn run<'a>(
        connection: &'a mut SqliteConnection,
        request: Request,
    ) -> Running<'a, Result<Vec<Vec<Row>>, Stopped>> {
        let Request { text, values, .. } = request;
        let is_remembered = text.len() <= REMEMBERED_MAX;
        let query = sqlx::query(AssertSqlSafe(text)).persistent(is_remembered);
        let query = values.into_iter().fold(query, |query, value| match value {
            Value::Number(number) => query.bind(number),
            Value::Bytes(bytes) => query.bind(bytes),
        });
        Box::pin(gathered(connection.fetch_many(query), row))
    }

    fn migrate(connection: &mut SqliteConnection) -> Running<'_, Result<u32, Failure>> {
        Box::pin(migrate::migrate(connection))
    }

    fn version(connection: &mut SqliteConnection) -> Running<'_, Result<Option<i64>, Failure>> {
        Box::pin(migrate::version(connection))
    }
}

fn row(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    let cells = (0..row.len()).map(|column| cell(row.try_get_raw(column)?));
    Ok(Row::new(cells.collect::<Result<_, _>>()?))
}

fn cell(value: SqliteValueRef<'_>) -> Result<Cell, sqlx::Error> {
    if value.is_null() {
        return Ok(Cell::None);
    }
    let is_number = value.type_info().name() == "INTEGER";
    let read = || -> Result<Cell, sqlx::error::BoxDynError> {
        Ok(if is_number {
            Cell::Number(sqlx::Decode::<Sqlite>::decode(value)?)
        } else {
            Cell::Bytes(sqlx::Decode::<Sqlite>::decode(value)?)
        })
    };
    read().map_err(sqlx::Error::Decode)
}
