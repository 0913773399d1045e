//! Looking into a MariaDB server.

use sqlx::mysql::MySqlConnectOptions;
use sqlx::{ConnectOptions as _, MySqlConnection, Result};

/// Everybody but the one who asks, and but the server's own threads.
const OTHERS: &str = "SELECT id FROM information_schema.processlist \
                      WHERE id <> connection_id() AND user <> 'system user'";

/// A connection of the user who may do all.
pub(super) async fn try_connect(port: u16) -> Result<MySqlConnection> {
    let options = MySqlConnectOptions::new().host("127.0.0.1").port(port);
    options.username("root").connect().await
}

/// The same, of a server that is known to be up.
pub(super) async fn connect(port: u16) -> MySqlConnection {
    try_connect(port).await.expect("it accepts connections")
}

/// The ids of all other connections.
pub(super) async fn others(connection: &mut MySqlConnection) -> Vec<i64> {
    sqlx::query_scalar(OTHERS).fetch_all(connection).await.expect("it answers")
}

/// Begins to cut the connection of this id.
pub(super) async fn kill(connection: &mut MySqlConnection, id: i64) {
    let kill = sqlx::AssertSqlSafe(format!("KILL CONNECTION {id}"));
    // It may have gone by itself.
    let _ = sqlx::raw_sql(kill).execute(connection).await;
}
