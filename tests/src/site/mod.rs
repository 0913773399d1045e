//! A server of any kind, or a file, where a backend keeps its data: what cases that run on every one
//! of them start, look into and disturb.

mod asked;
mod by_hand;
mod database;
mod logins;

pub use asked::Asked;
pub use database::{Database, Need, On};
pub use logins::Logins;

use std::sync::Arc;

use leases::{Backend, Error, Leases, RedisBackend, RedisConfig, SqlBackend, SqlConfig};
use tempfile::TempDir;

use crate::live::connect;
use crate::servers::{MariaDb, Postgres, Proxy, Redis, Server};

/// One that runs, with the tables that it needs.
#[derive(Debug)]
pub enum Site {
    /// A Redis server.
    Redis(Redis),
    /// A PostgreSQL server.
    Postgres(Postgres),
    /// A MariaDB server.
    MariaDb(MariaDb),
    /// A folder with an SQLite database.
    Sqlite(TempDir),
}

impl Site {
    /// Its URL.
    pub fn url(&self) -> String {
        match self {
            Site::Redis(server) => server.url(),
            Site::Postgres(server) => server.url(),
            Site::MariaDb(server) => server.url(),
            Site::Sqlite(folder) => format!("sqlite:{}", folder.path().join("leases.db").display()),
        }
    }

    /// Its URL with these parameters: `timeout=1s`.
    pub fn url_with(&self, parameters: &str) -> String {
        format!("{}?{parameters}", self.url())
    }

    /// Its URL by way of a proxy.
    pub fn url_by(&self, proxy: &Proxy) -> String {
        self.url().replace(&self.address(), &proxy.address())
    }

    /// `127.0.0.1:PORT` of a server.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.server().port())
    }

    /// The server's process. Panics where there is none: see [`Need::Server`].
    pub fn server(&self) -> &Server {
        match self {
            Site::Redis(server) => server,
            Site::Postgres(server) => server,
            Site::MariaDb(server) => server,
            Site::Sqlite(_) => panic!("a file is no server"),
        }
    }

    /// A handle over it.
    pub async fn connect(&self) -> Leases {
        connect(&self.url()).await
    }

    /// A handle over it with these parameters: `timeout=1s`.
    pub async fn connect_with(&self, parameters: &str) -> Leases {
        connect(&self.url_with(parameters)).await
    }

    /// A proxy before it, and a handle by way of it, with these parameters.
    pub async fn behind_a_proxy(&self, parameters: &str) -> (Proxy, Leases) {
        let proxy = Proxy::in_front_of(self.server()).await;
        let leases = connect(&format!("{}?{parameters}", self.url_by(&proxy))).await;
        (proxy, leases)
    }

    /// A backend over it, with these parameters.
    pub async fn backend(&self, parameters: &str) -> Arc<dyn Backend> {
        self.backend_at(&self.url_with(parameters)).await.expect("the server answers")
    }

    /// A backend over it, by this URL.
    pub async fn backend_at(&self, url: &str) -> Result<Arc<dyn Backend>, Error> {
        Ok(match self {
            Site::Redis(_) => Arc::new(RedisBackend::connect(RedisConfig::from_url(url)?).await?),
            _ => Arc::new(SqlBackend::connect(SqlConfig::from_url(url)?).await?),
        })
    }

    /// Cuts the connections of all clients.
    pub async fn kill_clients(&self) {
        match self {
            Site::Redis(server) => server.kill_clients().await,
            Site::Postgres(server) => server.kill_clients().await,
            Site::MariaDb(server) => server.kill_clients().await,
            Site::Sqlite(_) => panic!("a file is no server"),
        }
    }

    /// Cuts the connections of those who listen for wake-ups; answers how many.
    pub async fn kill_listeners(&self) -> u64 {
        match self {
            Site::Redis(server) => {
                let mut kill = redis::cmd("CLIENT");
                server.ask(kill.arg("KILL").arg("TYPE").arg("pubsub")).await
            }
            Site::Postgres(_) => {
                let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                            WHERE query LIKE 'LISTEN%'";
                self.number(kill).await.unsigned_abs()
            }
            _ => panic!("nobody listens: see Need::Wakes"),
        }
    }
}
