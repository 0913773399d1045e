//! A semaphore's operations with one place, and with a thousand nearly all of which are held.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use leases::{Leases, Permit};
use tokio::runtime::Runtime;

use crate::report::{Figure, Report, Unit};
use crate::samples::interleave;

const ROUNDS: usize = 40;
const TIMES: u32 = 10;
const PLACES: u32 = 1000;
const TTL: Duration = Duration::from_secs(600);

pub(super) fn add(
    report: &mut Report,
    runtime: &Runtime,
    (database, leases): (&str, &Leases),
) -> Result<()> {
    let _held = runtime.block_on(take(leases, "few", 1, 0))?;
    let _others = runtime.block_on(take(leases, "many", PLACES, PLACES - 1))?;
    let full = runtime.block_on(take(leases, "full", PLACES, PLACES))?;
    ensure!(full.len() == PLACES as usize, "all places are taken");
    let [one, many, refused] = interleave(
        ROUNDS,
        [
            Box::new(|| runtime.block_on(pairs(leases, "few", 1))),
            Box::new(|| runtime.block_on(pairs(leases, "many", PLACES))),
            Box::new(|| runtime.block_on(refusals(leases))),
        ],
    )?;
    let what = |what: &str| format!("{database}, permit: {what}");
    report.add(Figure::of(what("acquire() + release(), of 1"), Unit::Ns, &one));
    let figure = Figure::of(what("the same, of 1000, 999 held"), Unit::Ns, &many);
    report.add(figure.beside("of 1", &many, &one));
    report.add(Figure::of(what("refused, of 1000"), Unit::Ns, &refused));
    Ok(())
}

async fn take(leases: &Leases, name: &str, limit: u32, places: u32) -> Result<Vec<Permit>> {
    let request = leases.semaphore(name, limit)?.ttl(TTL);
    let mut held = Vec::new();
    for _ in 0..places {
        held.push(request.acquire().await?);
    }
    Ok(held)
}

async fn pairs(leases: &Leases, name: &str, limit: u32) -> Result<f64> {
    let request = leases.semaphore(name, limit)?.ttl(TTL);
    let started = Instant::now();
    for _ in 0..TIMES {
        ensure!(request.acquire().await?.release().await?, "it was held");
    }
    Ok(started.elapsed().as_nanos() as f64 / f64::from(TIMES))
}

async fn refusals(leases: &Leases) -> Result<f64> {
    let request = leases.semaphore("full", PLACES)?.ttl(TTL);
    let started = Instant::now();
    for _ in 0..TIMES {
        ensure!(request.try_acquire().await?.is_none(), "it is full");
    }
    Ok(started.elapsed().as_nanos() as f64 / f64::from(TIMES))
}
