//! Acquire and release on memory, uncontended.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use leases::{Lease, Leases, Permit, Request};
use tokio::runtime::{Builder, Runtime};

use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{interleave, ns_each};
use crate::tinystore::Tinystore;

const ROUNDS: usize = 300;
const TIMES: u32 = 1000;
const TTL: Duration = Duration::from_secs(60);

pub(crate) fn run() -> Result<Report> {
    let mut tinystore = Tinystore::start()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let leases = Leases::memory();
    let prebuilt = leases.lease("prebuilt")?.ttl(TTL);
    let of_one = leases.semaphore("of-1", 1)?.ttl(TTL);
    let of_thousand = leases.semaphore("of-1000", 1000)?.ttl(TTL);
    let held = runtime.block_on(take(&of_thousand, 999))?;

    let [theirs, pair, request, dropped, one, thousand] = interleave(
        ROUNDS,
        [
            Box::new(|| Ok(ns_each(tinystore.hold(TIMES)?, TIMES))),
            Box::new(|| pairs(&runtime, &leases)),
            Box::new(|| pairs_of_request(&runtime, &prebuilt)),
            Box::new(|| tried_and_dropped(&runtime, &prebuilt)),
            Box::new(|| permits(&runtime, &of_one)),
            Box::new(|| permits(&runtime, &of_thousand)),
        ],
    )?;
    drop(held);

    let title = format!("uncontended, on memory; {ROUNDS} rounds of {TIMES} pairs each");
    let mut report = Report::new("native", title);
    let ours = |what, samples| {
        let figure = Figure::of(what, Unit::Ns, samples);
        figure.beside("tinystore", samples, &theirs).goal(Goal::RatioAtMost(0.25))
    };
    report.add(Figure::of("tinystore lock.hold", Unit::Ns, &theirs));
    report.add(ours("lease(name).ttl.acquire + release", &pair));
    report.add(ours("the same, request made before", &request));
    report.add(ours("try_acquire + drop, request made before", &dropped));
    report.add(Figure::of("permit of 1, none held", Unit::Ns, &one));
    let last = Figure::of("permit of 1000, 999 held", Unit::Ns, &thousand);
    report.add(last.beside("permit of 1", &thousand, &one));
    Ok(report)
}

pub(crate) fn pairs(runtime: &Runtime, leases: &Leases) -> Result<f64> {
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..TIMES {
            let mut held = leases.lease("key")?.ttl(TTL).acquire().await?;
            std::hint::black_box(held.fence());
            held.release().await?;
        }
        Ok(ns_each(started.elapsed(), TIMES))
    })
}

fn pairs_of_request(runtime: &Runtime, request: &Request<Lease>) -> Result<f64> {
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..TIMES {
            let mut held = request.acquire().await?;
            std::hint::black_box(held.fence());
            held.release().await?;
        }
        Ok(ns_each(started.elapsed(), TIMES))
    })
}

fn tried_and_dropped(runtime: &Runtime, request: &Request<Lease>) -> Result<f64> {
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..TIMES {
            drop(request.try_acquire().await?.context("nobody else holds it")?);
        }
        Ok(ns_each(started.elapsed(), TIMES))
    })
}

fn permits(runtime: &Runtime, request: &Request<Permit>) -> Result<f64> {
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..TIMES {
            request.acquire().await?.release().await?;
        }
        Ok(ns_each(started.elapsed(), TIMES))
    })
}

async fn take(request: &Request<Permit>, places: usize) -> Result<Vec<Permit>> {
    let mut held = Vec::new();
    for _ in 0..places {
        held.push(request.acquire().await?);
    }
    Ok(held)
}
