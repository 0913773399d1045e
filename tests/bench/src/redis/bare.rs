//! What ours is measured beside: scripts over the client library, and what the server says of its
//! own work.

use anyhow::{Context, Result, ensure};
use leases::HolderId;
use leases_tests::servers::Redis;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{AsyncConnectionConfig, Client, Cmd, IntoConnectionInfo as _, ProtocolVersion};

/// A script that does nothing.
pub(super) const NOTHING: &str = "return 1";

/// The smallest that take a lock with a fence, and give it back.
const TAKE: &str = "if redis.call('SET',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then \
    return redis.call('INCR',KEYS[2]) end return false";
const GIVE: &str =
    "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0";

const TTL_MS: u64 = 30_000;

/// A connection of its own, set as the backend sets its own.
pub(super) async fn connect(server: &Redis) -> Result<MultiplexedConnection> {
    let info = server.url().into_connection_info()?;
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    let tcp = TcpSettings::default().set_nodelay(true);
    let client = Client::open(info.set_redis_settings(settings).set_tcp_settings(tcp))?;
    let config =
        AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
}

/// A script that the server knows.
#[derive(Debug, Clone)]
pub(super) struct Loaded(String);

impl Loaded {
    pub(super) async fn new(server: &Redis, text: &str) -> Self {
        Loaded(server.ask(redis::cmd("SCRIPT").arg("LOAD").arg(text)).await)
    }

    /// The command that runs it, without its arguments.
    pub(super) fn command(&self, keys: u32) -> Cmd {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&self.0).arg(keys);
        command
    }
}

/// The smallest pair of scripts that gives a fence.
#[derive(Clone)]
pub(super) struct Smallest {
    connection: MultiplexedConnection,
    take: Loaded,
    give: Loaded,
}

impl Smallest {
    pub(super) async fn new(server: &Redis) -> Result<Self> {
        let connection = connect(server).await?;
        let (take, give) = (Loaded::new(server, TAKE).await, Loaded::new(server, GIVE).await);
        Ok(Smallest { connection, take, give })
    }

    pub(super) async fn take(&mut self, name: &str, holder: HolderId) -> Result<()> {
        let mut take = self.take.command(2);
        take.arg(format!("small:{{{name}}}")).arg(format!("small:{{{name}}}:last"));
        take.arg(holder.as_bytes()).arg(TTL_MS);
        let fence: Option<u64> = take.query_async(&mut self.connection).await?;
        fence.map(drop).context("nobody else holds it")
    }

    pub(super) async fn give(&mut self, name: &str, holder: HolderId) -> Result<()> {
        let mut give = self.give.command(1);
        give.arg(format!("small:{{{name}}}")).arg(holder.as_bytes());
        let given: u32 = give.query_async(&mut self.connection).await?;
        ensure!(given == 1, "it was held");
        Ok(())
    }
}

/// Nanoseconds that the server has worked on these commands since its statistics began.
pub(super) async fn server_ns(server: &Redis, commands: &[&str]) -> Result<f64> {
    let info = server.info().await;
    let mut micros = 0;
    for command in commands {
        micros += field(&info, command, "usec=")?;
    }
    Ok(micros as f64 * 1000.0)
}

fn field(info: &str, command: &str, field: &str) -> Result<u64> {
    let begin = format!("cmdstat_{command}:");
    let line = info.lines().find_map(|line| line.strip_prefix(&*begin));
    let line = line.with_context(|| format!("{command} was not called"))?;
    let value = line.split(',').find_map(|part| part.strip_prefix(field));
    value.context("no such field")?.parse().context("a number")
}
