//! The backend over Redis, on a server of this run's own.

mod bare;
mod busy;
mod keeping;
mod one;
mod places;

use std::sync::Arc;

use anyhow::Result;
use leases::{Leases, RedisBackend, RedisConfig};
use leases_tests::servers::Redis;
use tokio::runtime::Builder;

use crate::line::{self, Goals};
use crate::report::Report;

pub(crate) fn run() -> Result<Report> {
    // The client's part on one core leaves the server the other of a small machine.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let server = runtime.block_on(Redis::start());
    let title = "one server over the loopback; the ratios of rounds: median (least to greatest)";
    let mut report = Report::new("redis", title);
    one::add(&mut report, &runtime, &server)?;
    busy::add(&mut report, &runtime, &server)?;
    let goals = Goals { p50_ns: 1e6, p99_ns: 1e7 };
    line::add(&mut report, &runtime, ("", &server.url()), Some(goals))?;
    places::add(&mut report, &runtime, &server)?;
    keeping::add(&mut report, &runtime, &server)?;
    report.note("Server: the server's own time for a pair, by its statistics of commands.");
    Ok(report)
}

async fn connect(server: &Redis) -> Result<(Arc<RedisBackend>, Leases)> {
    let backend = Arc::new(RedisBackend::connect(RedisConfig::from_url(&server.url())?).await?);
    let leases = Leases::builder(backend.clone()).build();
    Ok((backend, leases))
}
