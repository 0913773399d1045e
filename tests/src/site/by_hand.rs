//! Looking into what is stored, and changing it by hand.

use leases::{Key, Kind};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, SqliteConnection};

use super::{Database, On, Site};

/// The tables that have rows of keys, and of guards.
const TABLES: [&str; 4] = ["leases_grants", "leases_tickets", "leases_departed", "leases_guards"];

impl On {
    /// The parts of what is stored of a key, of a lease or a semaphore, of which each alone may be
    /// deleted by hand.
    pub fn parts(self, kind: Kind) -> &'static [&'static str] {
        match (self.database, kind) {
            (Database::Redis, Kind::Semaphore) => &[":line", ":lapses", ":details", ":holds"],
            (Database::Redis, _) => &[":line", ":lapses", ":details"],
            (_, Kind::Semaphore) => &["leases_tickets", "leases_grants", "leases_grants: slot = 0"],
            _ => &["leases_tickets", "leases_grants"],
        }
    }
}

impl Site {
    /// Runs statements, as the one who may do all.
    pub async fn tell(&self, sql: &str) {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match self {
            Site::Postgres(server) => {
                sql.execute(&mut server.connection().await).await.map(drop).expect("it obeys");
            }
            Site::MariaDb(server) => {
                sql.execute(&mut server.connection().await).await.map(drop).expect("it obeys");
            }
            Site::Sqlite(_) => {
                sql.execute(&mut self.sqlite().await).await.map(drop).expect("it obeys");
            }
            Site::Redis(_) => panic!("it has no tables: see Need::Tables"),
        }
    }

    /// The number that a query answers.
    pub async fn number(&self, query: &str) -> i64 {
        let query = AssertSqlSafe(query.to_owned());
        let number = match self {
            Site::Postgres(server) => {
                sqlx::query_scalar(query).fetch_one(&mut server.connection().await).await
            }
            Site::MariaDb(server) => {
                sqlx::query_scalar(query).fetch_one(&mut server.connection().await).await
            }
            Site::Sqlite(_) => sqlx::query_scalar(query).fetch_one(&mut self.sqlite().await).await,
            Site::Redis(_) => panic!("it has no tables: see Need::Tables"),
        };
        number.expect("it answers")
    }

    async fn sqlite(&self) -> SqliteConnection {
        let Site::Sqlite(folder) = self else { panic!("no file") };
        let options = SqliteConnectOptions::new().filename(folder.path().join("leases.db"));
        let options =
            options.create_if_missing(true).busy_timeout(std::time::Duration::from_secs(10));
        options.connect().await.expect("it is there")
    }

    /// How many records there are of keys and guards.
    pub async fn records(&self) -> usize {
        match self {
            Site::Redis(server) => server.keys().await.len(),
            _ => self.rows("1 = 1").await,
        }
    }

    /// How many rows there are of keys and guards that are not of this name.
    pub async fn rows_but(&self, name: &str) -> usize {
        self.rows(&format!("name <> {}", self.written(name))).await
    }

    async fn rows(&self, of_those: &str) -> usize {
        let mut rows = 0;
        for table in TABLES {
            rows += self.number(&format!("SELECT count(*) FROM {table} WHERE {of_those}")).await;
        }
        usize::try_from(rows).expect("a count")
    }

    /// A name, as one writes it there.
    fn written(&self, name: &str) -> String {
        match self {
            Site::Sqlite(_) => format!("CAST('{name}' AS BLOB)"),
            _ => format!("'{name}'"),
        }
    }

    /// Deletes, by hand, that a key is held. Its name is one that needs no quotes.
    pub async fn delete_holds(&self, key: &Key) {
        match self {
            Site::Redis(_) => self.delete_part(key, "").await,
            _ => self.delete_part(key, "leases_grants").await,
        }
    }

    /// Deletes one of the [parts](On::parts) of a key. Its name is one that needs no quotes.
    pub async fn delete_part(&self, key: &Key, part: &str) {
        let name = key.name.as_str();
        if let Site::Redis(server) = self {
            let kind = if key.kind == Kind::Semaphore { "semaphore" } else { "lease" };
            let record = format!("leases:{kind}:{{{name}}}{part}");
            let deleted: u64 = server.ask(redis::cmd("DEL").arg(&record)).await;
            return assert_eq!(deleted, 1, "{record} was there");
        }
        let kind = if key.kind == Kind::Semaphore { 2 } else { 1 };
        let (table, of_those) = part.split_once(": ").unwrap_or((part, "1 = 1"));
        let name = self.written(name);
        let rows = format!("FROM {table} WHERE kind = {kind} AND name = {name} AND {of_those}");
        assert!(self.number(&format!("SELECT count(*) {rows}")).await > 0, "{rows}");
        self.tell(&format!("DELETE {rows}")).await;
    }

    /// Where records end by themselves: each that is left has an end.
    pub async fn every_record_ends(&self) {
        let Site::Redis(server) = self else { return };
        for key in server.keys().await {
            let ttl: i64 = server.ask(redis::cmd("PTTL").arg(&key)).await;
            assert!(ttl != -1, "{} never expires", String::from_utf8_lossy(&key));
        }
    }
}
