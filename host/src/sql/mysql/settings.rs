//! How a MySQL or a MariaDB is reached.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use url::Url;

use super::dialect::MySqlDialect;
use crate::sql::attempt::{Connections, Cuts};
use crate::sql::config::SqlConfig;
use crate::sql::rows::RowsStore;
use crate::sql::store::Store;
use crate::sql::url::{Read, invalid};

/// What the driver reads.
const THEIRS: [&str; 9] = [
    "sslmode", "ssl-mode", "sslca", "ssl-ca", "sslcert", "ssl-cert", "sslkey", "ssl-key", "socket",
];

/// A connection that was idle for this long is closed. The server closes one that says nothing for
/// three times as long: when its process stands still within a transaction, or its machine is gone,
/// what it locked is free by then.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// How a MySQL or a MariaDB is reached.
#[derive(Clone)]
pub(in crate::sql) struct Settings(Reached);

#[derive(Clone)]
enum Reached {
    By(Box<MySqlConnectOptions>),
    Over(MySqlPool),
}

impl Settings {
    pub(in crate::sql) fn over(pool: MySqlPool) -> Self {
        Settings(Reached::Over(pool))
    }

    pub(in crate::sql) fn read(url: &Url) -> Read<Self> {
        let options = MySqlConnectOptions::from_url(url);
        let options = options.map_err(|_| invalid("a URL such as mysql://host/database"))?;
        if options.get_database().is_none_or(str::is_empty) {
            return Err(invalid("a database: mysql://host/database"));
        }
        if url.query_pairs().any(|(name, _)| !THEIRS.contains(&&*name)) {
            return Err(invalid(
                "ssl-mode, ssl-ca, ssl-cert, ssl-key, socket, timeout, retention and connections \
                 behind the ?",
            ));
        }
        Ok(Settings(Reached::By(Box::new(options))))
    }

    pub(in crate::sql) fn open(&self, config: &SqlConfig) -> Arc<dyn Store> {
        let told_time = config.told_time.clone();
        match &self.0 {
            Reached::By(options) => {
                let cuts = Cuts::default();
                let pool = pool((**options).clone(), config, cuts.clone());
                let connections = Connections::new(pool, cuts);
                Arc::new(RowsStore::new(connections, &MySqlDialect::SET_UP, told_time))
            }
            Reached::Over(pool) => {
                let connections = Connections::new(pool.clone(), Cuts::default());
                Arc::new(RowsStore::new(connections, &MySqlDialect::ANYWHERE, told_time))
            }
        }
    }
}

fn pool(options: MySqlConnectOptions, config: &SqlConfig, cuts: Cuts) -> MySqlPool {
    // What is sent is digits and letters, and no time is sent or read in a time zone: one request
    // sets up a connection.
    let options = options.pipes_as_concat(false).no_engine_substitution(false);
    let options = options.timezone(None).set_names(false).disable_statement_logging();
    let set_up: Arc<str> = set_up(config.request_timeout).into();
    let timeout = config.request_timeout;
    MySqlPoolOptions::new()
        .max_connections(config.connections)
        .acquire_timeout(config.request_timeout)
        .idle_timeout(IDLE_MAX)
        .test_before_acquire(false)
        .before_acquire(move |connection, idle| cuts.check(connection, idle.idle_for, timeout))
        .after_connect(move |connection, _| {
            let set_up = sqlx::raw_sql(AssertSqlSafe(&*set_up));
            Box::pin(async move { connection.execute(set_up).await.map(drop) })
        })
        .connect_lazy_with(options)
}

/// Whoever waits for a lock is told so before the request is over, if that is more than a second.
fn set_up(request_timeout: Duration) -> String {
    let lock_wait = (request_timeout.as_secs() * 2 / 3).max(1);
    let silence = IDLE_MAX.max(request_timeout).as_secs() * 3;
    format!(
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; \
         SET SESSION innodb_lock_wait_timeout = {lock_wait}, SESSION wait_timeout = {silence}, \
         SESSION autocommit = 1"
    )
}

/// Shows where it is, and no password.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = match &self.0 {
            Reached::By(options) => (**options).clone(),
            Reached::Over(pool) => (*pool.connect_options()).clone(),
        };
        f.debug_struct("MySql")
            .field("host", &options.get_host())
            .field("port", &options.get_port())
            .field("user", &options.get_username())
            .field("database", &options.get_database())
            .finish_non_exhaustive()
    }
}
