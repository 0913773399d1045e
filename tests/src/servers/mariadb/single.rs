//! One MariaDB server.

use std::ops::Deref;

use sqlx::MySqlConnection;

use super::{recipe, watching};
use crate::servers::server::Server;
use crate::servers::until;

/// Both are there when a server has started.
const USER_AND_DATABASE: &str = "CREATE DATABASE leases; \
                                 CREATE USER leases@127.0.0.1; \
                                 GRANT ALL ON leases.* TO leases@127.0.0.1";

/// A MariaDB server of its own. Its user `leases` may do all in the database `leases` and nothing
/// elsewhere, `root` may do all, and neither needs a password. As a [`Server`] it can be killed,
/// paused and restarted.
#[derive(Debug)]
pub struct MariaDb {
    server: Server,
}

impl MariaDb {
    /// A server that leaves it to the system when data gets to the disk. It comes back with its
    /// data, also when it was killed; had the machine crashed, it might not.
    pub async fn start() -> Self {
        MariaDb::start_with(&[]).await
    }

    /// A server that has each commit on the disk before it answers.
    pub async fn start_durable() -> Self {
        MariaDb::start_with(&recipe::DURABLE).await
    }

    /// The same as [`start`](Self::start), with these options added: `--option=value`.
    pub async fn start_with(options: &[&str]) -> Self {
        let server = Server::start(recipe::server(options)).await;
        let mut connection = watching::connect(server.port()).await;
        let create = sqlx::raw_sql(USER_AND_DATABASE).execute(&mut connection);
        create.await.expect("root may");
        MariaDb { server }
    }

    /// `mysql://leases@127.0.0.1:PORT/leases`.
    pub fn url(&self) -> String {
        format!("mysql://leases@{}/leases", self.address())
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// A new connection to its database `leases`, as `root`.
    pub async fn connection(&self) -> MySqlConnection {
        let mut connection = watching::connect(self.port()).await;
        sqlx::raw_sql("USE leases").execute(&mut connection).await.expect("it is there");
        connection
    }

    /// Cuts every client's connection. They are closed when this returns.
    pub async fn kill_clients(&self) {
        let mut connection = watching::connect(self.port()).await;
        let clients = watching::others(&mut connection).await;
        for client in &clients {
            watching::kill(&mut connection, *client).await;
        }
        until("killed clients are gone", || async {
            let left = watching::others(&mut watching::connect(self.port()).await).await;
            (!left.iter().any(|one| clients.contains(one))).then_some(())
        })
        .await;
    }
}

impl Deref for MariaDb {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}
