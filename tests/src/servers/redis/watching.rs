//! Looking into a Redis server through a connection that is made for each question, so that it
//! works while others are cut, and after a restart.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, FromRedisValue, IntoConnectionInfo as _,
    RedisConnectionInfo, RedisResult,
};

/// More than a machine that is busy with other tests ever needs.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn connect(port: u16) -> RedisResult<MultiplexedConnection> {
    // Nothing but what is asked is to be seen in the server's statistics.
    let settings = RedisConnectionInfo::default().set_skip_set_lib_name();
    let address = ("127.0.0.1", port).into_connection_info()?.set_redis_settings(settings);
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE));
    Client::open(address)?.get_multiplexed_async_connection_with_config(&config).await
}

pub(super) async fn ask<T: FromRedisValue>(port: u16, command: &Cmd) -> RedisResult<T> {
    command.query_async(&mut connect(port).await?).await
}

pub(super) async fn try_info(port: u16) -> RedisResult<String> {
    ask(port, redis::cmd("INFO").arg("everything")).await
}

/// A field of what `INFO` says, if it is there and a number.
pub(super) fn number(info: &str, field: &str) -> Option<u64> {
    text(info, field)?.parse().ok()
}

/// A field of what `INFO` says.
pub(super) fn text<'a>(info: &'a str, field: &str) -> Option<&'a str> {
    fields(info).find_map(|(name, value)| (name == field).then_some(value))
}

/// How often each command was called, by its name in lower case: `set`, `script|load`.
pub(super) fn calls(info: &str) -> impl Iterator<Item = (&str, u64)> {
    fields(info).filter_map(|(field, value)| {
        let name = field.strip_prefix("cmdstat_")?;
        let calls = value.strip_prefix("calls=")?.split(',').next()?;
        Some((name, calls.parse().ok()?))
    })
}

fn fields(info: &str) -> impl Iterator<Item = (&str, &str)> {
    info.lines().filter_map(|line| line.split_once(':'))
}
