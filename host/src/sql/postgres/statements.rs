//! The statements, and how they are sent: prepared, or as text where a pooler stands in between.

use std::fmt::Write as _;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, PgConnection, Postgres};

pub(super) const ASK_ONCE: &str = include_str!("ask_once.sql");
pub(super) const ASK_WAITING: &str = include_str!("ask_waiting.sql");
pub(super) const REFRESH: &str = "SELECT code, ends_in, bounded, woken \
    FROM leases_refresh($1, $2, $3, $4, $5, $6, $7) ORDER BY number";
pub(super) const RELEASE: &str = include_str!("release.sql");
pub(super) const LEAVE: &str = "SELECT woken FROM leases_leave($1, $2, $3, $4, $5, $6) AS woken";
pub(super) const REVOKE: &str = "SELECT * FROM leases_revoke($1, $2, $3, $4, $5)";
pub(super) const INSPECT: &str = include_str!("inspect.sql");
pub(super) const LIST: &str = include_str!("list.sql");
pub(super) const ADMIT: &str = "SELECT leases_admit($1, $2, $3, $4)";
pub(super) const CURRENT: &str = "SELECT greatest FROM leases_guards WHERE name = $1 AND slot = $2";
pub(super) const WOKEN: &str = "SELECT holder FROM leases_tickets WHERE inbox = $1 AND woken";
pub(super) const FORGET_KEYS: &str = "SELECT k, n FROM leases_forget_keys($1, $2, $3, $4, $5)";
pub(super) const FORGET_GUARDS: &str = "SELECT n, s FROM leases_forget_guards($1, $2, $3, $4, $5)";

/// An argument of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arg<'a> {
    Small(i16),
    Int(Option<i32>),
    Big(Option<i64>),
    Text(Option<&'a str>),
    Bytes(&'a [u8]),
    Smalls(&'a [i16]),
    Bigs(&'a [i64]),
    Bools(&'a [bool]),
    Texts(&'a [&'a str]),
    BytesList(&'a [&'a [u8]]),
}

/// Whether a connection remembers statements from one time to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    Prepared,
    AsText,
}

/// Sends a statement and answers its rows.
pub(super) async fn rows(
    connection: &mut PgConnection,
    statement: &'static str,
    arguments: &[Arg<'_>],
    sending: Sending,
) -> Result<Vec<PgRow>, sqlx::Error> {
    match sending {
        Sending::Prepared => {
            let bound = arguments.iter().fold(sqlx::query(statement), bind);
            bound.fetch_all(connection).await
        }
        Sending::AsText => {
            let text = written(statement, arguments);
            sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(connection).await
        }
    }
}

type Bound = Query<'static, Postgres, PgArguments>;

fn bind(query: Bound, argument: &Arg<'_>) -> Bound {
    match *argument {
        Arg::Small(value) => query.bind(value),
        Arg::Int(value) => query.bind(value),
        Arg::Big(value) => query.bind(value),
        Arg::Text(value) => query.bind(value.map(str::to_owned)),
        Arg::Bytes(value) => query.bind(value.to_owned()),
        Arg::Smalls(values) => query.bind(values.to_owned()),
        Arg::Bigs(values) => query.bind(values.to_owned()),
        Arg::Bools(values) => query.bind(values.to_owned()),
        Arg::Texts(values) => {
            query.bind(values.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        }
        Arg::BytesList(values) => {
            query.bind(values.iter().map(|bytes| bytes.to_vec()).collect::<Vec<_>>())
        }
    }
}

/// The statement with its arguments written into it. Texts are written as the digits of their bytes:
/// nothing in them is ever read as SQL.
fn written(statement: &str, arguments: &[Arg<'_>]) -> String {
    let mut pieces = statement.split('$');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = piece.split_at(digits);
        let argument = number.parse::<usize>().ok().and_then(|n| arguments.get(n.checked_sub(1)?));
        match argument {
            Some(argument) => write_argument(&mut text, argument),
            None => text.push_str("NULL"),
        }
        text.push_str(rest);
    }
    text
}

fn write_argument(text: &mut String, argument: &Arg<'_>) {
    match *argument {
        Arg::Small(value) => write_number(text, Some(i64::from(value)), "smallint"),
        Arg::Int(value) => write_number(text, value.map(i64::from), "integer"),
        Arg::Big(value) => write_number(text, value, "bigint"),
        Arg::Text(value) => write_text(text, value),
        Arg::Bytes(value) => write_bytes(text, value),
        Arg::Smalls(values) => write_list(text, "smallint", values, |text, value| {
            write_number(text, Some(i64::from(*value)), "smallint");
        }),
        Arg::Bigs(values) => write_list(text, "bigint", values, |text, value| {
            write_number(text, Some(*value), "bigint");
        }),
        Arg::Bools(values) => write_list(text, "boolean", values, |text, value| {
            text.push_str(if *value { "true" } else { "false" });
        }),
        Arg::Texts(values) => {
            write_list(text, "text", values, |text, value| write_text(text, Some(value)));
        }
        Arg::BytesList(values) => {
            write_list(text, "bytea", values, |text, value| write_bytes(text, value));
        }
    }
}

fn write_list<T>(text: &mut String, of: &str, values: &[T], one: impl Fn(&mut String, &T)) {
    text.push_str("ARRAY[");
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        one(text, value);
    }
    text.push_str("]::");
    text.push_str(of);
    text.push_str("[]");
}

fn write_number(text: &mut String, value: Option<i64>, of: &str) {
    // Writing to a string does not fail.
    let _ = match value {
        Some(value) => write!(text, "({value})::{of}"),
        None => write!(text, "NULL::{of}"),
    };
}

fn write_text(text: &mut String, value: Option<&str>) {
    match value {
        None => text.push_str("NULL::text"),
        Some(value) => {
            text.push_str("convert_from(");
            write_bytes(text, value.as_bytes());
            text.push_str(", 'UTF8')");
        }
    }
}

fn write_bytes(text: &mut String, bytes: &[u8]) {
    text.push_str("decode('");
    text.push_str(&data_encoding::HEXLOWER.encode(bytes));
    text.push_str("', 'hex')");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_written_by_their_numbers_and_never_read_as_sql() {
        let name = "'); DROP TABLE leases_grants; --$1";
        let text = written("f($1, $2, $10)", &[Arg::Small(-1), Arg::Text(Some(name))]);
        assert!(text.starts_with("f((-1)::smallint, convert_from(decode('"), "{text}");
        assert!(text.ends_with("', 'hex'), 'UTF8'), NULL)"), "{text}");
        assert!(!text.contains("DROP"), "{text}");
        let lists = [Arg::Texts(&["a", "b"]), Arg::Bools(&[true]), Arg::Bigs(&[])];
        let text = written("f($1,$2,$3)", &lists);
        assert!(text.contains("ARRAY[true]::boolean[],ARRAY[]::bigint[])"), "{text}");
    }
}
