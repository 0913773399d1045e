//! From a release to the next waiter holding, with waiters in two processes.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use leases::{Key, Kind, Leases, Name, Wait};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::Samples;
use crate::{Child, child};

const ROUNDS: usize = 20;
const PROCESSES: usize = 2;
const WAITERS: usize = 50;
const NAME: &str = "line";
const TTL: Duration = Duration::from_secs(60);
/// By which a child finds the server.
const URL: &str = "LEASES_BENCH_URL";

/// What a hand-over should take, in nanoseconds.
pub(crate) struct Goals {
    pub(crate) p50_ns: f64,
    pub(crate) p99_ns: f64,
}

/// One holder's time, on the clock that all processes share.
#[derive(Debug, Clone, Copy)]
struct Held {
    fence: u64,
    acquired_ns: u64,
    released_ns: u64,
}

/// Measures it on the backend of a URL.
pub(crate) fn add(
    report: &mut Report,
    runtime: &Runtime,
    (name, url): (&str, &str),
    goals: Option<Goals>,
) -> Result<()> {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        took.extend(round(runtime, url)?);
    }
    let took: Samples = took.into_iter().collect();
    let waiters = PROCESSES * WAITERS;
    let what = |what: &str| format!("{name}{waiters} waiters in 2 processes: {what}");
    let at = |share| Samples::from_iter([took.percentile(share)]);
    let p50 = Figure::of(what("p50"), Unit::Ns, &took);
    let p99 = Figure::of(what("p99"), Unit::Ns, &at(0.99));
    match goals {
        Some(Goals { p50_ns, p99_ns }) => {
            report.add(p50.goal(Goal::AtMost(p50_ns)));
            report.add(p99.goal(Goal::AtMost(p99_ns)));
        }
        None => {
            report.add(p50);
            report.add(p99);
        }
    }
    report.add(Figure::of(what("the longest"), Unit::Ns, &at(1.0)));
    Ok(())
}

/// Lets a line of fresh processes drain; answers how long each hand-over took, in nanoseconds.
fn round(runtime: &Runtime, url: &str) -> Result<Vec<f64>> {
    let leases = runtime.block_on(Leases::connect(url))?;
    let mut first = runtime.block_on(leases.lease(NAME)?.ttl(TTL).acquire())?;
    let answers = std::thread::scope(|scope| {
        let ask = || child::ask(Child::Waiters, &[(URL, url)]);
        let running = [(); PROCESSES].map(|()| scope.spawn(ask));
        let released = runtime.block_on(async {
            until_in_line(&leases).await?;
            let released_ns = now_ns();
            let held = Held { fence: first.fence().as_u64(), acquired_ns: 0, released_ns };
            first.release().await?;
            Ok::<_, anyhow::Error>(held)
        });
        let ended = running.map(|child| child.join().unwrap_or_else(|_| bail!("it panicked")));
        let [one, other] = ended;
        Ok::<_, anyhow::Error>((released?, [one?, other?]))
    });
    let (released, answers) = answers?;
    let mut held = vec![released];
    for answer in &answers {
        held.extend(read(answer).context("reading a child's answer")?);
    }
    held.sort_by_key(|held| held.fence);
    let pairs = held.windows(2);
    Ok(pairs.map(|pair| pair[1].acquired_ns.saturating_sub(pair[0].released_ns) as f64).collect())
}

async fn until_in_line(leases: &Leases) -> Result<()> {
    let key = Key { kind: Kind::Lease, name: Name::new(NAME)? };
    while leases.inspect(&key).await?.waiters.len() < PROCESSES * WAITERS {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Their second asks, which find nothing new, are answered by then.
    tokio::time::sleep(Duration::from_millis(200)).await;
    Ok(())
}

fn read(answer: &Value) -> Option<Vec<Held>> {
    let one = |held: &Value| {
        let number = |at: usize| held.get(at)?.as_u64();
        Some(Held { fence: number(0)?, acquired_ns: number(1)?, released_ns: number(2)? })
    };
    answer.as_array()?.iter().map(one).collect()
}

/// A child: waits in line with many tasks, each of which releases at once.
pub(crate) fn wait() -> Result<Value> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let held = runtime.block_on(async {
        let leases = Leases::connect(std::env::var(URL)?).await?;
        let mut waiters = JoinSet::new();
        for _ in 0..WAITERS {
            waiters.spawn(hold(leases.clone()));
        }
        waiters.join_all().await.into_iter().collect::<Result<Vec<_>>>()
    })?;
    let held = held.into_iter().map(|held| json!([held.fence, held.acquired_ns, held.released_ns]));
    Ok(held.collect())
}

async fn hold(leases: Leases) -> Result<Held> {
    let mut held = leases.lease(NAME)?.ttl(TTL).wait(Wait::Forever).acquire().await?;
    let acquired_ns = now_ns();
    let fence = held.fence().as_u64();
    held.release().await?;
    Ok(Held { fence, acquired_ns, released_ns: acquired_ns })
}

/// All processes of a machine read the same.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
