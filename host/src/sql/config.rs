//! What a backend over SQL can be told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::error::Failure;
use super::poll::{Ear, Hears, Listens};
use super::store::Store;
use super::url;
use crate::clock::{Clock, ManualClock};
use crate::error::{Error, Operation};
use crate::invalid::{Argument, Invalid};
use crate::wake::Wakes;

#[cfg(feature = "mysql")]
use super::mysql;
#[cfg(feature = "postgres")]
use super::postgres;
#[cfg(feature = "sqlite")]
use super::sqlite;

/// The settings of a backend over SQL.
///
/// It keeps its data in tables of its own, whose names begin with `leases_`. A user other than their
/// owner needs `SELECT, INSERT, UPDATE, DELETE` on them; in PostgreSQL too `EXECUTE` on the
/// functions of that name, which everybody has unless it was taken away.
///
/// ```
/// # #[cfg(feature = "postgres")] fn main() -> Result<(), leases::Error> {
/// use leases::SqlConfig;
/// use std::time::Duration;
///
/// let config = SqlConfig::from_url("postgres://app:secret@db.example/app?connections=4")?
///     .request_timeout(Duration::from_secs(1));
/// assert!(!format!("{config:?}").contains("secret"));
/// # Ok(()) }
/// # #[cfg(not(feature = "postgres"))] fn main() {}
/// ```
#[derive(Clone)]
pub struct SqlConfig {
    pub(super) database: Database,
    pub(super) request_timeout: Duration,
    pub(super) retention: Duration,
    pub(super) connections: u32,
    pub(super) told_time: Option<Clock>,
}

/// Which database, and how it is reached.
#[derive(Clone)]
pub(super) enum Database {
    #[cfg(feature = "postgres")]
    Postgres(postgres::Settings),
    #[cfg(feature = "sqlite")]
    Sqlite(sqlite::Settings),
    #[cfg(feature = "mysql")]
    MySql(mysql::Settings),
}

impl SqlConfig {
    pub(super) fn new(database: Database) -> Self {
        SqlConfig {
            database,
            request_timeout: Duration::from_secs(3),
            retention: Duration::from_secs(24 * 60 * 60),
            connections: 10,
            told_time: None,
        }
    }

    /// Reads a URL:
    ///
    /// - `postgres://[user[:password]@]host[:5432]/database`, with what PostgreSQL's own clients
    ///   read behind a `?` (`sslmode`, `sslrootcert` and others).
    ///
    /// Behind the `?` too, what the methods below set: `timeout` and `retention` (`500ms`, `3s`,
    /// `24h`) and `connections`. For PostgreSQL `pooler=transaction`, where the URL is that of a
    /// pooler which gives a connection for one transaction; then `listen=URL`, percent-encoded, is
    /// the server itself, for wake-ups. Without it, those who wait look often.
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) with what is wrong, and without the URL: it may hold
    /// a password.
    pub fn from_url(url: &str) -> Result<Self, Error> {
        url::parse(url).map_err(|invalid| Error::invalid(invalid, Operation::Connect))
    }

    /// Over a pool that the program has. Each operation borrows a connection for one statement and
    /// never waits for one longer than the request timeout.
    #[cfg(feature = "postgres")]
    pub fn postgres(pool: sqlx::PgPool) -> Self {
        SqlConfig::new(Database::Postgres(postgres::Settings::over(pool)))
    }

    /// Over a pool that the program has, of connections to one file. Each operation borrows a
    /// connection for one short transaction, and waits for the file as long as the pool's own busy
    /// time-out lets it.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(pool: sqlx::SqlitePool) -> Self {
        SqlConfig::new(Database::Sqlite(sqlite::Settings::over(pool)))
    }

    /// Over a pool that the program has, of connections to one database. Each operation borrows a
    /// connection for one short transaction, whose isolation level it sets, and never waits for a
    /// connection longer than the request timeout.
    #[cfg(feature = "mysql")]
    pub fn mysql(pool: sqlx::MySqlPool) -> Self {
        SqlConfig::new(Database::MySql(mysql::Settings::over(pool)))
    }

    /// For PostgreSQL, where the URL or the pool is that of a pooler which gives a connection for one
    /// transaction: statements are sent unprepared. Wake-ups are listened for at the server itself,
    /// where `listens_at` names it, else those who wait look often.
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) for another database, or another URL.
    #[cfg(feature = "postgres")]
    pub fn behind_transaction_pooler(self, listens_at: Option<&str>) -> Result<Self, Error> {
        let pooled = match self.database {
            Database::Postgres(settings) => settings.behind_transaction_pooler(listens_at),
            #[cfg(any(feature = "sqlite", feature = "mysql"))]
            _ => Err(url::invalid("PostgreSQL behind a transaction pooler")),
        };
        let settings = pooled.map_err(|invalid| Error::invalid(invalid, Operation::Connect))?;
        Ok(SqlConfig { database: Database::Postgres(settings), ..self })
    }

    /// How long an operation may take until it counts as not confirmed, with waiting for a
    /// connection; 3 seconds unless it is set. A millisecond to an hour.
    #[must_use]
    pub fn request_timeout(self, request_timeout: Duration) -> Self {
        SqlConfig { request_timeout, ..self }
    }

    /// How long an idle name is remembered after its last end, and a guard after its last admit; 24
    /// hours unless it is set. A millisecond to 365 days. What is due is forgotten in the next round,
    /// an eighth of that time later, or a minute.
    #[must_use]
    pub fn retention(self, retention: Duration) -> Self {
        SqlConfig { retention, ..self }
    }

    /// The most connections that are opened, beside one that listens; 10 unless it is set. 1 to 1000.
    /// A pool of the program's keeps its own bound.
    #[must_use]
    pub fn connections(self, connections: u32) -> Self {
        SqlConfig { connections, ..self }
    }

    /// For tests: this clock decides on ends, in place of the database's. Every program on the same
    /// tables has to be told the same one.
    #[must_use]
    pub fn manual_clock(self, time: &ManualClock) -> Self {
        SqlConfig { told_time: Some(time.clock()), ..self }
    }

    /// Checks what can't be told from one value's type.
    pub(super) fn check(&self) -> Result<(), Error> {
        let bounds = [
            ("timeout", self.request_timeout, Duration::from_secs(60 * 60)),
            ("retention", self.retention, Duration::from_secs(365 * 24 * 60 * 60)),
        ];
        let out_of_bounds = bounds
            .into_iter()
            .find(|(_, value, max)| !(Duration::from_millis(1)..=*max).contains(value));
        let bound = match out_of_bounds {
            Some((name, value, max)) => format!("needs a {name} of 1ms to {max:?}, not {value:?}"),
            None if !(1..=1000).contains(&self.connections) => {
                format!("needs 1 to 1000 connections, not {}", self.connections)
            }
            None => return Ok(()),
        };
        Err(Error::invalid(Invalid::new(Argument::Backend, bound), Operation::Connect))
    }

    /// Opens the database, without a connection yet.
    pub(super) fn open(&self, wakes: &Wakes) -> Result<(Arc<dyn Store>, Ear), Failure> {
        let (store, listens): (Arc<dyn Store>, Option<Arc<dyn Listens>>) = match &self.database {
            #[cfg(feature = "postgres")]
            Database::Postgres(settings) => settings.open(self, wakes)?,
            #[cfg(feature = "sqlite")]
            Database::Sqlite(settings) => (settings.open(self), None),
            #[cfg(feature = "mysql")]
            Database::MySql(settings) => (settings.open(self), None),
        };
        let looking = || Hears::Looking {
            store: Arc::clone(&store),
            wakes: wakes.clone(),
            timeout: self.request_timeout,
        };
        let ear = Ear::new(listens.map_or_else(looking, Hears::Told));
        Ok((store, ear))
    }
}

/// Shows which database, and no password.
impl fmt::Debug for SqlConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlConfig")
            .field("database", &self.database)
            .field("request_timeout", &self.request_timeout)
            .field("retention", &self.retention)
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "postgres")]
            Database::Postgres(settings) => settings.fmt(f),
            #[cfg(feature = "sqlite")]
            Database::Sqlite(settings) => settings.fmt(f),
            #[cfg(feature = "mysql")]
            Database::MySql(settings) => settings.fmt(f),
        }
    }
}
