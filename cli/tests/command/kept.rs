//! Where commands that share their work keep leases.

use leases::Leases;
use leases_tests::servers::{MariaDb, Postgres, Redis};
use tempfile::TempDir;

/// A server of the test's own, or a file, with all that leases need there.
pub(crate) enum Kept {
    Redis(Redis),
    Postgres(Postgres),
    MariaDb(MariaDb),
    Sqlite(TempDir),
}

impl Kept {
    pub(crate) async fn in_redis() -> Self {
        Kept::Redis(Redis::start().await)
    }

    pub(crate) async fn in_postgres() -> Self {
        Kept::Postgres(Postgres::start().await).migrated().await
    }

    pub(crate) async fn in_mariadb() -> Self {
        Kept::MariaDb(MariaDb::start().await).migrated().await
    }

    pub(crate) async fn in_sqlite() -> Self {
        Kept::Sqlite(tempfile::tempdir().expect("a folder")).migrated().await
    }

    async fn migrated(self) -> Self {
        self.connect().await.migrate().await.expect("it is empty");
        self
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Kept::Redis(server) => server.url(),
            Kept::Postgres(server) => server.url(),
            Kept::MariaDb(server) => server.url(),
            Kept::Sqlite(folder) => format!("sqlite:{}", folder.path().join("leases.db").display()),
        }
    }

    pub(crate) async fn connect(&self) -> Leases {
        Leases::connect(self.url()).await.expect("it is there")
    }
}
