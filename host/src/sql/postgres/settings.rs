//! How a PostgreSQL is reached.

use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use rand::distr::Alphanumeric;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Executor as _, PgPool};
use url::Url;

use super::listen::Listener;
use super::store::PostgresStore;
use crate::sql::attempt::{Connections, Cuts};
use crate::sql::config::SqlConfig;
use crate::sql::error::Failure;
use crate::sql::poll::Listens;
use crate::sql::store::Store;
use crate::sql::url::{Read, invalid};
use crate::wake::Wakes;

/// The parameters that are PostgreSQL's alone.
pub(in crate::sql) const OURS: [&str; 2] = ["pooler", "listen"];

/// How a PostgreSQL is reached.
#[derive(Clone)]
pub(in crate::sql) struct Settings {
    reached: Reached,
    /// Whether there is a pooler in between which gives a connection for one transaction.
    pooled: bool,
    listens: Where,
}

#[derive(Clone)]
enum Reached {
    By(Box<PgConnectOptions>),
    Over(PgPool),
}

/// Where wake-ups are listened for.
#[derive(Clone)]
enum Where {
    /// Where the operations go.
    Same,
    /// Elsewhere: past a pooler.
    At(Box<PgConnectOptions>),
    /// Nowhere.
    Never,
}

/// What does the operations, and what listens for wake-ups, if anything does.
type Opened = (Arc<dyn Store>, Option<Arc<dyn Listens>>);

impl Settings {
    pub(in crate::sql) fn over(pool: PgPool) -> Self {
        Settings { reached: Reached::Over(pool), pooled: false, listens: Where::Same }
    }

    pub(in crate::sql) fn read(url: &Url, parameters: &[(String, String)]) -> Read<Self> {
        let reached = Reached::By(options(url.as_str())?);
        let settings = Settings { reached, pooled: false, listens: Where::Same };
        let of = |ours| parameters.iter().find(|(name, _)| name == ours).map(|(_, value)| &**value);
        match (of("pooler"), of("listen")) {
            (Some("transaction"), listens_at) => settings.behind_transaction_pooler(listens_at),
            (None, None) => Ok(settings),
            (None, Some(_)) => Err(invalid("pooler=transaction, where it listens elsewhere")),
            (Some(_), _) => Err(invalid("pooler=transaction, or no pooler")),
        }
    }

    pub(in crate::sql) fn behind_transaction_pooler(self, listens_at: Option<&str>) -> Read<Self> {
        let listens = listens_at.map_or(Ok(Where::Never), |url| Ok(Where::At(options(url)?)))?;
        Ok(Settings { pooled: true, listens, ..self })
    }

    pub(in crate::sql) fn open(
        &self,
        config: &SqlConfig,
        wakes: &Wakes,
    ) -> Result<Opened, Failure> {
        let cuts = Cuts::default();
        let pool = self.pool(config, &cuts);
        let listening = match &self.listens {
            Where::Same => Some((*pool.connect_options()).clone()),
            Where::At(options) => Some((**options).clone()),
            Where::Never => None,
        };
        let (inbox, listens) = match listening {
            None => (name("looks:"), None),
            Some(options) => {
                let inbox = name("leases:");
                let timeout = config.request_timeout;
                let listener = Listener::new(options, inbox.clone(), wakes.clone(), timeout);
                (inbox, Some(Arc::new(listener) as Arc<dyn Listens>))
            }
        };
        let told_time = config.told_time.clone();
        let store = PostgresStore::new(Connections::new(pool, cuts), inbox, told_time, self.pooled);
        Ok((Arc::new(store), listens))
    }

    fn pool(&self, config: &SqlConfig, cuts: &Cuts) -> PgPool {
        let options = match &self.reached {
            Reached::Over(pool) => return pool.clone(),
            Reached::By(options) => (**options).clone(),
        };
        // A pooler refuses to set what it does not know.
        let options = if self.pooled { options.extra_float_digits(None) } else { options };
        let cuts = cuts.clone();
        let timeout = config.request_timeout;
        let set_up: Option<Arc<str>> =
            (!self.pooled).then(|| set_up(config.request_timeout).into());
        PgPoolOptions::new()
            .max_connections(config.connections)
            .acquire_timeout(config.request_timeout)
            .test_before_acquire(false)
            .before_acquire(move |connection, idle| cuts.check(connection, idle.idle_for, timeout))
            .after_connect(move |connection, _| {
                let set_up = set_up.clone();
                Box::pin(async move {
                    let Some(set_up) = set_up else { return Ok(()) };
                    let set_up = sqlx::raw_sql(AssertSqlSafe(&*set_up));
                    connection.execute(set_up).await.map(drop)
                })
            })
            .connect_lazy_with(options)
    }
}

/// Whoever waits for a lock is told so before the request is over. A server does not see that who
/// asked has gone: it would wait for as long as the lock is held, once for each try.
fn set_up(request_timeout: Duration) -> String {
    format!("SET lock_timeout = {}", (request_timeout * 2 / 3).as_millis().max(1))
}

/// A name of this handle's own. What begins with `leases:` is a channel.
fn name(prefix: &str) -> String {
    let letters = rand::rng().sample_iter(Alphanumeric).take(12);
    prefix.chars().chain(letters.map(char::from)).collect()
}

fn options(url: &str) -> Read<Box<PgConnectOptions>> {
    let options = PgConnectOptions::from_str(url);
    options.map(Box::new).map_err(|_| invalid("a URL such as postgres://host/database"))
}

/// Shows where it is, and no password.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = match &self.reached {
            Reached::By(options) => (**options).clone(),
            Reached::Over(pool) => (*pool.connect_options()).clone(),
        };
        f.debug_struct("Postgres")
            .field("host", &options.get_host())
            .field("port", &options.get_port())
            .field("user", &options.get_username())
            .field("database", &options.get_database())
            .field("pooled", &self.pooled)
            .finish_non_exhaustive()
    }
}
