//! One place of a semaphore with 999 of 1,000 held, beside one of a semaphore of limit 1.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use leases::{Permit, Request};
use leases_tests::servers::Redis;
use tokio::runtime::Runtime;

use super::bare::server_ns;
use super::connect;
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{Samples, interleave_all, ns_each};

const ROUNDS: usize = 200;
const PAIRS: u32 = 100;
const TTL: Duration = Duration::from_secs(600);

/// What a pair took in one round.
#[derive(Debug)]
struct Round {
    ns: f64,
    server_ns: f64,
}

pub(super) fn add(report: &mut Report, runtime: &Runtime, server: &Redis) -> Result<()> {
    let (_, leases) = runtime.block_on(connect(server))?;
    let of_one = leases.semaphore("of-1", 1)?.ttl(TTL);
    let of_thousand = leases.semaphore("of-1000", 1000)?.ttl(TTL);
    let held = runtime.block_on(take(&of_thousand, 999))?;
    let [one, thousand] = interleave_all(
        ROUNDS,
        [
            Box::new(|| runtime.block_on(round(server, &of_one))),
            Box::new(|| runtime.block_on(round(server, &of_thousand))),
        ],
    )?;
    runtime.block_on(async {
        for mut permit in held {
            permit.release().await?;
        }
        Ok::<_, anyhow::Error>(())
    })?;

    for (what, of) in
        [("", (|round| round.ns) as fn(&Round) -> f64), (", server", |round| round.server_ns)]
    {
        let [one, thousand] = [&one, &thousand].map(|rounds| rounds.iter().map(of).collect());
        let (one, thousand): (Samples, Samples) = (one, thousand);
        report.add(Figure::of(format!("a permit of 1, none held{what}"), Unit::Ns, &one));
        let figure = Figure::of(format!("a permit of 1000, 999 held{what}"), Unit::Ns, &thousand);
        let figure = figure.beside("a permit of 1", &thousand, &one);
        report.add(figure.goal(Goal::RatioAtMost(1.3)));
    }
    Ok(())
}

async fn take(request: &Request<Permit>, places: usize) -> Result<Vec<Permit>> {
    let mut held = Vec::new();
    for _ in 0..places {
        held.push(request.try_acquire().await?.context("a place is free")?);
    }
    Ok(held)
}

async fn round(server: &Redis, request: &Request<Permit>) -> Result<Round> {
    server.reset_stats().await;
    let started = Instant::now();
    for _ in 0..PAIRS {
        let mut permit = request.try_acquire().await?.context("a place is free")?;
        permit.release().await?;
    }
    let ns = ns_each(started.elapsed(), PAIRS);
    let server_ns = server_ns(server, &["evalsha"]).await? / f64::from(PAIRS);
    Ok(Round { ns, server_ns })
}
