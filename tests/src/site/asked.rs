//! What is asked of a server, counted there.

use super::Site;

/// What was asked meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Commands of ours.
    pub commands: u64,
    /// All commands, with those of our scripts or functions.
    pub all: u64,
    /// What was changed: in Redis changes, elsewhere bytes of the log.
    pub changes: u64,
    /// Wake-ups that were sent.
    pub wakes: u64,
}

impl Site {
    /// Counts what is asked of a server that knows every script already and that was
    /// [started counting](super::On::start_counting).
    pub async fn asked<T>(&self, work: impl Future<Output = T>) -> (T, Asked) {
        match self {
            Site::Redis(server) => {
                server.reset_stats().await;
                let changes = server.changes_since_save().await;
                let answer = work.await;
                let commands =
                    server.command_calls("evalsha").await + server.command_calls("eval").await;
                let all = server.total_commands().await;
                let wakes = server.command_calls("publish").await;
                let changes = server.changes_since_save().await - changes;
                (answer, Asked { commands, all, changes, wakes })
            }
            Site::Postgres(server) => {
                server.reset_stats().await;
                let log = server.wal_position().await;
                let answer = work.await;
                let changes = server.wal_position().await - log;
                // A listener asks now and then whether its connection still is one.
                let still_there = server.calls_like("SELECT $1").await;
                let commands = server.calls_like("%").await - still_there;
                let all = commands + server.inner_calls_like("%").await;
                let wakes = server.inner_calls_like("%pg_notify(%").await;
                let [commands, all, wakes] = [commands, all, wakes].map(i64::unsigned_abs);
                (answer, Asked { commands, all, changes, wakes })
            }
            Site::MariaDb(_) | Site::Sqlite(_) => panic!("it does not count: see Need::Counts"),
        }
    }
}
