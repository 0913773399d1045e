//! How a SQLite is reached.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use sqlx::ConnectOptions as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::dialect::SqliteDialect;
use crate::sql::attempt::{Connections, Cuts};
use crate::sql::config::SqlConfig;
use crate::sql::rows::RowsStore;
use crate::sql::store::Store;
use crate::sql::url::{Read, invalid};

/// The parameters that are SQLite's alone.
pub(in crate::sql) const OURS: [&str; 1] = ["mode"];

/// How a SQLite is reached.
#[derive(Clone)]
pub(in crate::sql) struct Settings(Reached);

#[derive(Clone)]
enum Reached {
    In { path: PathBuf, made_if_missing: bool },
    Over(SqlitePool),
}

impl Settings {
    pub(in crate::sql) fn over(pool: SqlitePool) -> Self {
        Settings(Reached::Over(pool))
    }

    /// Reads what stands between `sqlite:` and `?`: a path, with or without `//` before it.
    pub(in crate::sql) fn read(path: &str, parameters: &[(String, String)]) -> Read<Self> {
        const FILE: &str = "a file, such as sqlite:leases.db; within one process, use memory:";
        let path = percent_decode_str(path.strip_prefix("//").unwrap_or(path)).decode_utf8();
        let path = path.map_err(|_| invalid("a path in UTF-8, such as sqlite:leases.db"))?;
        if path.is_empty() || path.starts_with(":memory:") {
            return Err(invalid(FILE));
        }
        let mut made_if_missing = true;
        for (_, mode) in parameters {
            made_if_missing = match &**mode {
                "rwc" => true,
                "rw" => false,
                "memory" => return Err(invalid(FILE)),
                _ => return Err(invalid("mode=rwc, or mode=rw where the file must be there")),
            };
        }
        Ok(Settings(Reached::In { path: PathBuf::from(&*path), made_if_missing }))
    }

    pub(in crate::sql) fn open(&self, config: &SqlConfig) -> Arc<dyn Store> {
        let connections = Connections::new(self.pool(config), Cuts::default());
        Arc::new(RowsStore::new(connections, &SqliteDialect, config.told_time.clone()))
    }

    fn pool(&self, config: &SqlConfig) -> SqlitePool {
        let (path, made_if_missing) = match &self.0 {
            Reached::Over(pool) => return pool.clone(),
            Reached::In { path, made_if_missing } => (path, *made_if_missing),
        };
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(made_if_missing)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            // Half of the time, so that it can be told what it waited for.
            .busy_timeout(config.request_timeout / 2)
            .disable_statement_logging();
        SqlitePoolOptions::new()
            // A second one would only wait for the first.
            .max_connections(1)
            .acquire_timeout(config.request_timeout)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(options)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match &self.0 {
            Reached::In { path, .. } => path.clone(),
            Reached::Over(pool) => pool.connect_options().get_filename().to_owned(),
        };
        f.debug_struct("Sqlite").field("path", &path).finish()
    }
}
