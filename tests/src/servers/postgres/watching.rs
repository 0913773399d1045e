//! Looking into a PostgreSQL server.

use std::fs;
use std::path::Path;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};

/// How one connects to the server on this port.
pub(super) fn options(port: u16) -> PgConnectOptions {
    let options = PgConnectOptions::new().host("127.0.0.1").port(port);
    options.username("postgres").database("postgres")
}

/// A connection whose statements are not counted.
pub(super) async fn connect(port: u16) -> PgConnection {
    let options = options(port).options([("pg_stat_statements.track", "none")]);
    options.connect().await.expect("it accepts connections")
}

/// What a server says in its data folder about itself. One that was killed leaves it behind.
pub(super) struct Status {
    pub(super) process: u32,
    /// A block of the system's memory, which is kept until somebody removes it.
    pub(super) memory: Option<u32>,
    pub(super) is_ready: bool,
}

impl Status {
    pub(super) fn read(data: &Path) -> Option<Self> {
        let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        // The lines are: process, folder, start, port, socket, address, key and id of the memory,
        // status.
        let memory = lines.get(6).and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        let is_ready = lines.get(7) == Some(&"ready");
        Some(Status { process: lines.first()?.parse().ok()?, memory, is_ready })
    }
}
