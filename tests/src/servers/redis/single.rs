//! One Redis server.

use std::ops::Deref;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue};

use super::{recipe, watching};
use crate::servers::server::{Recipe, Server};

/// What this fixture itself sends to look, and which it does not count.
const OWN_COMMANDS: [&str; 3] = ["info", "config|resetstat", "client|kill"];

/// A Redis server of its own. As a [`Server`] it can be killed, paused and restarted.
#[derive(Debug)]
pub struct Redis {
    server: Server,
}

impl Redis {
    /// A server that keeps its data in memory alone: restarted, it is empty.
    pub async fn start() -> Self {
        Redis::start_with(&[]).await
    }

    /// A server that has written each change to disk before it answers: restarted or killed, it
    /// comes back with its data.
    pub async fn start_durable() -> Self {
        Redis::start_with(&["appendonly yes", "appendfsync always"]).await
    }

    /// The same as [`start`](Self::start), with these lines added to its configuration.
    pub async fn start_with(lines: &[&str]) -> Self {
        Redis::run(recipe::server(lines)).await
    }

    pub(super) async fn run(recipe: Recipe) -> Self {
        Redis { server: Server::start(recipe).await }
    }

    /// `redis://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// A new connection to it, whose commands wait 10 seconds for their replies.
    pub async fn connection(&self) -> MultiplexedConnection {
        watching::connect(self.port()).await.expect("it accepts connections")
    }

    /// What it answers to this command, through a connection made for it.
    pub async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        watching::ask(self.port(), command).await.expect("it answers")
    }

    /// How often this command was called, also by scripts, since the start or the last
    /// [`reset_stats`](Self::reset_stats). The name is in lower case, a subcommand after a bar:
    /// `evalsha`, `script|load`.
    pub async fn command_calls(&self, name: &str) -> u64 {
        let info = self.info().await;
        watching::calls(&info).filter(|(called, _)| *called == name).map(|(_, calls)| calls).sum()
    }

    /// How many commands were called, also by scripts, without those by which this handle looks
    /// into the server.
    pub async fn total_commands(&self) -> u64 {
        let info = self.info().await;
        let of_others = watching::calls(&info).filter(|(name, _)| !OWN_COMMANDS.contains(name));
        of_others.map(|(_, calls)| calls).sum()
    }

    /// Counts commands from zero again.
    pub async fn reset_stats(&self) {
        self.ask(redis::cmd("CONFIG").arg("RESETSTAT")).await
    }

    /// How many changes were made to its data since it started.
    pub async fn changes_since_save(&self) -> u64 {
        self.number("rdb_changes_since_last_save").await
    }

    /// How many bytes its data and its connections take.
    pub async fn used_memory(&self) -> u64 {
        self.number("used_memory").await
    }

    /// Every key, in the order of their bytes.
    pub async fn keys(&self) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = self.ask(redis::cmd("KEYS").arg("*")).await;
        keys.sort();
        keys
    }

    /// Cuts every client's connection, also those that subscribe.
    pub async fn kill_clients(&self) {
        for kind in ["normal", "pubsub"] {
            let mut kill = redis::cmd("CLIENT");
            kill.arg("KILL").arg("TYPE").arg(kind).arg("SKIPME").arg("yes");
            let _killed: u64 = self.ask(&kill).await;
        }
    }

    /// Forgets every script that was loaded.
    pub async fn flush_scripts(&self) {
        self.ask(redis::cmd("SCRIPT").arg("FLUSH")).await
    }

    /// Deletes all its data.
    pub async fn flush_all(&self) {
        self.ask(&redis::cmd("FLUSHALL")).await
    }

    /// All that it says about itself, as text.
    pub async fn info(&self) -> String {
        watching::try_info(self.port()).await.expect("it answers")
    }

    async fn number(&self, field: &str) -> u64 {
        watching::number(&self.info().await, field).expect("it says so")
    }
}

impl Deref for Redis {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}
