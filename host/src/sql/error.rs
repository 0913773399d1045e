//! What goes wrong between here and a database, and whether the operation may have been applied.

use std::time::Duration;

use sqlx::error::DatabaseError;

use crate::error::{Applied, BackendError};

/// Why an operation was not confirmed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// It was sent, and nothing came back in time.
    #[error("no answer within {within:?}")]
    NoAnswer {
        within: Duration,
        #[source]
        last: Option<Box<Failure>>,
    },
    /// There was no connection, and it was not sent.
    #[error("no connection within {within:?}")]
    NotConnected {
        within: Duration,
        #[source]
        last: Option<Box<Failure>>,
    },
    /// A connection could not be had just now; it was not sent.
    #[error("connecting: {0}")]
    Connecting(#[source] sqlx::Error),
    /// Nobody could listen for wake-ups.
    #[cfg(feature = "postgres")]
    #[error("listening: {0}")]
    Listening(#[source] std::sync::Arc<sqlx::Error>),
    /// The connection was cut, with or without the answer.
    #[error("the connection was cut: {0}")]
    Cut(#[source] sqlx::Error),
    /// The connection was cut before anything was changed.
    #[cfg(any(feature = "sqlite", feature = "mysql"))]
    #[error("the connection was cut before anything was changed: {0}")]
    CutBefore(#[source] sqlx::Error),
    /// It met others, and was rolled back.
    #[error("rolled back: {0}")]
    Conflict(#[source] sqlx::Error),
    /// The tables, or the functions, are not there.
    #[error("no leases in this database: run `leases migrate`, or call `Leases::migrate`: {0}")]
    NoSchema(#[source] sqlx::Error),
    /// The database says no.
    #[error(transparent)]
    Refused(sqlx::Error),
    /// The end of a transaction was not confirmed.
    #[error("ending the transaction: {0}")]
    Ending(#[source] sqlx::Error),
    /// What is stored, or answered, is not of this version.
    #[error("an answer that this version does not give: {0}")]
    Answer(String),
    /// The tables are of a later version.
    #[error(
        "the tables are at migration {stored}, and this program knows {known}: use a newer one"
    )]
    TooNew { stored: i64, known: i64 },
    /// A database that leases can't be kept in.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    #[error("needs {0}")]
    Unfit(&'static str),
    /// The runtime ended meanwhile.
    #[error("the runtime ended meanwhile")]
    Abandoned,
}

/// What follows from the code of a database's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// Nothing but telling the caller.
    Fail,
    /// It met others: once more.
    Repeat,
    /// The connection is gone.
    Reconnect,
    /// There are no tables.
    Migrate,
}

impl Failure {
    /// A connection could not be had.
    pub(super) fn connecting(error: sqlx::Error) -> Self {
        Failure::Connecting(error)
    }

    /// Whether the connection is not fit for anything else.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self, Failure::Cut(_) | Failure::Answer(_) | Failure::Ending(_))
    }

    /// Whether another try may do it.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Failure::Cut(_) | Failure::Conflict(_) | Failure::Ending(_) => true,
            #[cfg(any(feature = "sqlite", feature = "mysql"))]
            Failure::CutBefore(_) => true,
            // A server that is not there, or not yet; not one that lets nobody in.
            Failure::Connecting(error) => match error {
                sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_) => true,
                sqlx::Error::Database(error) => {
                    matches!(follows(error.as_ref()), Follows::Reconnect | Follows::Repeat)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether it may have been applied all the same.
    pub(super) fn applied(&self) -> Applied {
        match self {
            Failure::NoAnswer { .. }
            | Failure::Cut(_)
            | Failure::Ending(_)
            | Failure::Answer(_)
            | Failure::Abandoned => Applied::Unknown,
            Failure::NotConnected { .. }
            | Failure::Connecting(_)
            | Failure::Conflict(_)
            | Failure::NoSchema(_)
            | Failure::Refused(_)
            | Failure::TooNew { .. } => Applied::No,
            #[cfg(any(feature = "sqlite", feature = "mysql"))]
            Failure::CutBefore(_) => Applied::No,
            #[cfg(feature = "postgres")]
            Failure::Listening(_) => Applied::No,
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Failure::Unfit(_) => Applied::No,
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        let follows = match &error {
            sqlx::Error::Database(error) => follows(error.as_ref()),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed => Follows::Reconnect,
            _ => return Failure::Answer(error.to_string()),
        };
        match follows {
            Follows::Fail => Failure::Refused(error),
            Follows::Repeat => Failure::Conflict(error),
            Follows::Reconnect => Failure::Cut(error),
            Follows::Migrate => Failure::NoSchema(error),
        }
    }
}

impl From<Failure> for BackendError {
    fn from(failure: Failure) -> Self {
        BackendError { applied: failure.applied(), source: Box::new(failure) }
    }
}

/// By the codes of each database: its numbers where it has numbers, else its SQLSTATE.
fn follows(error: &dyn DatabaseError) -> Follows {
    #[cfg(feature = "mysql")]
    if let Some(error) = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        return match error.number() {
            // Lock time-out, deadlock, changed meanwhile, made meanwhile, rolled back by a plugin.
            1205 | 1213 | 1020 | 1062 | 3101 => Follows::Repeat,
            // The server ends or starts, or ends the connection, or has too many; a node of a
            // cluster is not ready.
            1053 | 1077 | 1079 | 1080 | 1317 | 1927 | 3169 | 4031 => Follows::Reconnect,
            1040 | 1203 | 1047 => Follows::Reconnect,
            1146 => Follows::Migrate,
            _ => Follows::Fail,
        };
    }
    let code = error.code();
    let code = code.as_deref().unwrap_or_default();
    #[cfg(feature = "sqlite")]
    if error.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() {
        let code = code.parse::<i32>().unwrap_or_default();
        return match code & 0xff {
            5 | 6 => Follows::Repeat,                              // busy, locked
            19 if [1555, 2067].contains(&code) => Follows::Repeat, // made meanwhile
            1 if error.message().starts_with("no such table") => Follows::Migrate,
            _ => Follows::Fail,
        };
    }
    match code {
        "40001" | "40P01" | "55P03" => Follows::Repeat, // serialization, deadlock, lock time-out
        "42P01" | "42883" => Follows::Migrate,
        // The server ends, or starts; a pooler lost it.
        "57P01" | "57P02" | "57P03" | "57P05" | "08006" | "08003" | "08P01" => Follows::Reconnect,
        _ => Follows::Fail,
    }
}
