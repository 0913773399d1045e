//! One PostgreSQL server.

use std::fs;
use std::ops::Deref;
use std::process::{Command, Stdio};
use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{ConnectOptions as _, Decode, PgConnection, Postgres as Sql, Type};

use super::{recipe, watching};
use crate::servers::server::Server;
use crate::servers::template::DATA;
use crate::servers::until;

/// A PostgreSQL server of its own, whose superuser `postgres` needs no password. As a [`Server`] it
/// can be killed, paused and restarted.
///
/// It writes to its write-ahead log what its clients' changes need, and nothing in the background:
/// it vacuums nothing by itself and makes no checkpoints by the clock.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
}

impl Postgres {
    /// A server that leaves it to the system when data gets to the disk. It comes back with its
    /// data, also when it was killed; had the machine crashed, it might not.
    pub async fn start() -> Self {
        Postgres::start_with(&[]).await
    }

    /// A server that has each commit on the disk before it answers.
    pub async fn start_durable() -> Self {
        Postgres::start_with(recipe::DURABLE).await
    }

    /// A server that counts the statements it is asked, for [`calls_like`](Self::calls_like), and
    /// those of its functions, for [`inner_calls_like`](Self::inner_calls_like).
    pub async fn start_counting() -> Self {
        let lines =
            ["shared_preload_libraries = 'pg_stat_statements'", "pg_stat_statements.track = all"];
        let started = Postgres::start_with(&lines).await;
        started.tell("CREATE EXTENSION pg_stat_statements").await;
        started
    }

    /// The same as [`start`](Self::start), with these lines added to its configuration:
    /// `setting = value`.
    pub async fn start_with(lines: &[&str]) -> Self {
        Postgres { server: Server::start(recipe::server(lines)).await }
    }

    /// `postgres://postgres@127.0.0.1:PORT/postgres`.
    pub fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.address())
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// A new connection to it, as its superuser.
    pub async fn connection(&self) -> PgConnection {
        watching::options(self.port()).connect().await.expect("it accepts connections")
    }

    /// Asks everybody but its superuser for a password from now on.
    pub async fn ask_for_passwords(&self) {
        let file = self.folder().join(DATA).join("pg_hba.conf");
        let superuser = "host all postgres 127.0.0.1/32 trust";
        let others = "host all all 127.0.0.1/32 scram-sha-256";
        fs::write(file, format!("{superuser}\n{others}\n")).expect("its configuration");
        self.tell("CREATE ROLE asked LOGIN; SELECT pg_reload_conf()").await;
        until("it asks for passwords", || async {
            let options = watching::options(self.port()).username("asked");
            options.connect().await.is_err().then_some(())
        })
        .await;
        self.tell("DROP ROLE asked").await;
    }

    /// Cuts every client's connection. They are closed when this returns.
    pub async fn kill_clients(&self) {
        let mut connection = watching::connect(self.port()).await;
        let kill = "WITH others AS MATERIALIZED (SELECT pid FROM pg_stat_activity \
                        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) \
                    SELECT pid FROM others WHERE pg_terminate_backend(pid)";
        let killed: Vec<i32> =
            sqlx::query_scalar(kill).fetch_all(&mut connection).await.expect("it answers");
        // The function can wait too, for one after the other and a tenth of a second at a time.
        let left = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY($1)";
        loop {
            let left = sqlx::query_scalar::<_, i64>(left).bind(&killed);
            if left.fetch_one(&mut connection).await.expect("it answers") == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// How many bytes were ever added to its write-ahead log, flushed or not.
    pub async fn wal_position(&self) -> u64 {
        let position: i64 =
            self.ask("SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint").await;
        position.unsigned_abs()
    }

    /// How often statements were executed whose text is `LIKE` this pattern, since the start or the
    /// last [`reset_stats`](Self::reset_stats), without those by which this handle looks into the
    /// server. In the text, constants are replaced by `$1`, `$2`; `BEGIN` and `COMMIT` count too.
    /// Only of a server that was [started counting](Self::start_counting); killed, it begins anew.
    pub async fn calls_like(&self, pattern: &str) -> i64 {
        self.count_calls(pattern, true).await
    }

    /// The same of statements that functions execute.
    pub async fn inner_calls_like(&self, pattern: &str) -> i64 {
        self.count_calls(pattern, false).await
    }

    async fn count_calls(&self, pattern: &str, top_level: bool) -> i64 {
        let calls = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
                     WHERE query LIKE $1 AND toplevel = $2";
        let mut connection = watching::connect(self.port()).await;
        let calls = sqlx::query_scalar(calls).bind(pattern).bind(top_level);
        calls.fetch_one(&mut connection).await.expect("it counts")
    }

    /// Counts statements from zero again.
    pub async fn reset_stats(&self) {
        self.tell("SELECT pg_stat_statements_reset()").await;
    }

    async fn tell(&self, statement: &'static str) {
        let mut connection = watching::connect(self.port()).await;
        sqlx::raw_sql(statement).execute(&mut connection).await.expect("it answers");
    }

    async fn ask<T>(&self, question: &'static str) -> T
    where
        T: for<'r> Decode<'r, Sql> + Type<Sql> + Send + Unpin,
        (T,): for<'r> sqlx::FromRow<'r, PgRow>,
    {
        let mut connection = watching::connect(self.port()).await;
        sqlx::query_scalar(question).fetch_one(&mut connection).await.expect("it answers")
    }
}

impl Deref for Postgres {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Drop for Postgres {
    /// A server that is killed can't give back the block of memory by which it finds out that it
    /// runs already. The system has room for some thousands.
    fn drop(&mut self) {
        self.kill_9();
        let status = watching::Status::read(&self.folder().join(DATA));
        if let Some(memory) = status.and_then(|status| status.memory) {
            let mut remove = Command::new("ipcrm");
            remove.args(["-m", &memory.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
            let _ = remove.status();
        }
    }
}
