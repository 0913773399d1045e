//! How many commands keep 1,000 holds of one process alive.

use std::time::Duration;

use anyhow::{Result, ensure};
use leases::Lease;
use leases_tests::servers::Redis;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep, sleep_until};

use super::connect;
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::Samples;

const HOLDS: u32 = 1000;
const TTL: Duration = Duration::from_secs(3);
/// How often a hold is refreshed.
const PERIOD: Duration = Duration::from_secs(1);
const PERIODS: u32 = 10;

pub(super) fn add(report: &mut Report, runtime: &Runtime, server: &Redis) -> Result<()> {
    for (what, over) in [("at once", Duration::ZERO), ("over a period", PERIOD)] {
        let calls = Samples::from_iter([runtime.block_on(keep(server, over))?]);
        let what = format!("{HOLDS} kept holds, taken {what}: commands a period");
        report.add(Figure::of(what, Unit::Calls, &calls).goal(Goal::AtMost(2.0)));
    }
    Ok(())
}

/// Takes them evenly over this time; answers the commands that the server saw in a period.
async fn keep(server: &Redis, over: Duration) -> Result<f64> {
    let (_, leases) = connect(server).await?;
    let began = Instant::now();
    let mut held = Vec::new();
    for number in 0..HOLDS {
        sleep_until(began + over * number / HOLDS).await;
        held.push(leases.lease(format!("kept:{number}"))?.ttl(TTL).keep_alive().acquire().await?);
    }
    sleep(PERIOD).await;
    server.reset_stats().await;
    sleep(PERIOD * PERIODS).await;
    let calls = server.command_calls("evalsha").await;
    ensure!(!held.iter().any(Lease::is_lost), "a kept hold was lost");
    for mut lease in held {
        lease.release().await?;
    }
    Ok(calls as f64 / f64::from(PERIODS))
}
