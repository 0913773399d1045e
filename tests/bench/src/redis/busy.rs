//! 64 tasks, each with a name of its own: acquire and release beside the smallest pair of scripts
//! that gives a fence, and beside another crate's locks.

use std::time::{Duration, Instant};

use anyhow::Result;
use leases::{HolderId, Leases};
use leases_tests::servers::Redis;
use rslock::LockManager;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::bare::{Smallest, server_ns};
use super::connect;
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{Samples, interleave_all};

const ROUNDS: usize = 60;
const TASKS: u32 = 64;
const PAIRS: u32 = 40;
const TTL: Duration = Duration::from_secs(30);

/// One round's figures.
#[derive(Debug)]
struct Round {
    /// Pairs per second.
    rate: f64,
    /// What the server worked for a pair.
    server_ns: f64,
}

pub(super) fn add(report: &mut Report, runtime: &Runtime, server: &Redis) -> Result<()> {
    let (_, leases) = runtime.block_on(connect(server))?;
    let smallest = runtime.block_on(Smallest::new(server))?;
    let manager = LockManager::new(vec![server.url()]);
    let both = ["set", "evalsha"];
    let [small, locks, ours] = interleave_all(
        ROUNDS,
        [
            Box::new(|| {
                let work = |task| small_pairs(smallest.clone(), task);
                runtime.block_on(round(server, &both[1..], work))
            }),
            Box::new(|| {
                let work = |task| lock_pairs(manager.clone(), task);
                runtime.block_on(round(server, &both, work))
            }),
            Box::new(|| {
                let work = |task| pairs(leases.clone(), task);
                runtime.block_on(round(server, &both[1..], work))
            }),
        ],
    )?;

    let [small, locks, ours] = [small, locks, ours].map(Figures::of);
    let what = |what: &str| format!("{TASKS} tasks: {what}");
    for (name, figures) in [("smallest scripts", &small), ("rslock", &locks)] {
        report.add(Figure::of(what(name), Unit::PerSecond, &figures.rates));
        report.add(Figure::of(what(&format!("{name}, server")), Unit::Ns, &figures.server_ns));
    }
    let pair = "acquire() + release()";
    let figure = || Figure::of(what(pair), Unit::PerSecond, &ours.rates);
    let beside_small = figure().beside("the smallest", &ours.rates, &small.rates);
    report.add(beside_small.goal(Goal::RatioAtLeast(0.85)));
    report.add(figure().beside("rslock", &ours.rates, &locks.rates));
    let figure = Figure::of(what(&format!("{pair}, server")), Unit::Ns, &ours.server_ns);
    report.add(figure.beside("the smallest", &ours.server_ns, &small.server_ns));
    Ok(())
}

struct Figures {
    rates: Samples,
    server_ns: Samples,
}

impl Figures {
    fn of(rounds: Vec<Round>) -> Self {
        Figures {
            rates: rounds.iter().map(|round| round.rate).collect(),
            server_ns: rounds.iter().map(|round| round.server_ns).collect(),
        }
    }
}

/// Runs all tasks to their end; the server's time is that of `commands`.
async fn round<W>(server: &Redis, commands: &[&str], work: impl Fn(u32) -> W) -> Result<Round>
where
    W: Future<Output = Result<()>> + Send + 'static,
{
    server.reset_stats().await;
    let mut tasks = JoinSet::new();
    let started = Instant::now();
    for task in 0..TASKS {
        tasks.spawn(work(task));
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let took = started.elapsed();
    let pairs = f64::from(TASKS * PAIRS);
    let server_ns = server_ns(server, commands).await? / pairs;
    Ok(Round { rate: pairs / took.as_secs_f64(), server_ns })
}

async fn small_pairs(mut smallest: Smallest, task: u32) -> Result<()> {
    let name = format!("small:{task}");
    for _ in 0..PAIRS {
        let holder = HolderId::random();
        smallest.take(&name, holder).await?;
        smallest.give(&name, holder).await?;
    }
    Ok(())
}

async fn lock_pairs(manager: LockManager, task: u32) -> Result<()> {
    let name = format!("rslock:{task}");
    for _ in 0..PAIRS {
        manager.acquire(name.as_str(), TTL).await?.release().await;
    }
    Ok(())
}

async fn pairs(leases: Leases, task: u32) -> Result<()> {
    let name = format!("busy:{task}");
    for _ in 0..PAIRS {
        leases.lease(&name)?.ttl(TTL).acquire().await?.release().await?;
    }
    Ok(())
}
