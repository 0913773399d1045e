//! From just before a release to the next waiter holding, with a line of 100.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use leases::{Lease, Leases, Request, Wait};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::report::{Figure, Report, Unit};
use crate::samples::{Samples, interleave};

const ROUNDS: usize = 60;
const WAITERS: usize = 100;
const HAND_OVERS: i64 = 2000;

pub(crate) fn run() -> Result<Report> {
    let mut report = Report::new(
        "handover",
        format!("{WAITERS} waiters; {ROUNDS} rounds of {HAND_OVERS} hand-overs each"),
    );
    let two = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    add(&mut report, "2 workers", &two)?;
    let one = Builder::new_current_thread().enable_all().build()?;
    add(&mut report, "current thread", &one)?;
    report.note(
        "On one thread tasks that yielded come back in bunches of about 60: the p99 there is",
    );
    report.note("a hand-over that waits until a bunch stands in line again.");
    Ok(report)
}

fn add(report: &mut Report, threads: &str, runtime: &Runtime) -> Result<()> {
    let leases = Leases::memory();
    let lease = leases.lease("line")?.ttl(Duration::from_secs(60)).wait(Wait::Forever);
    let bare = Arc::new(Semaphore::new(1));
    let (mut lease_p99, mut bare_p99) = (Samples::default(), Samples::default());
    let [bare_p50, lease_p50] = interleave(
        ROUNDS,
        [
            Box::new(|| round(runtime, &bare, &mut bare_p99)),
            Box::new(|| round(runtime, &lease, &mut lease_p99)),
        ],
    )?;
    let what = |what: &str| format!("{what}, {threads}");
    report.add(Figure::of(what("tokio semaphore p50"), Unit::Ns, &bare_p50));
    let p50 = Figure::of(what("lease p50"), Unit::Ns, &lease_p50);
    report.add(p50.beside("tokio's", &lease_p50, &bare_p50));
    report.add(Figure::of(what("tokio semaphore p99"), Unit::Ns, &bare_p99));
    let p99 = Figure::of(what("lease p99"), Unit::Ns, &lease_p99);
    report.add(p99.beside("tokio's", &lease_p99, &bare_p99));
    Ok(())
}

/// Answers the median of one round and keeps its 99th percentile.
fn round<L: Line>(runtime: &Runtime, line: &L, p99: &mut Samples) -> Result<f64> {
    let took = runtime.block_on(chain(line.clone()))?;
    p99.push(took.percentile(0.99));
    Ok(took.median())
}

/// What is handed over.
trait Line: Clone + Send + Sync + 'static {
    type Hold: Send;

    fn take(&self) -> impl Future<Output = Result<Self::Hold>> + Send;
    fn give(hold: Self::Hold) -> impl Future<Output = Result<()>> + Send;
}

impl Line for Request<Lease> {
    type Hold = Lease;

    async fn take(&self) -> Result<Lease> {
        Ok(self.acquire().await?)
    }

    async fn give(mut lease: Lease) -> Result<()> {
        lease.release().await?;
        Ok(())
    }
}

/// A semaphore is handed over by dropping its permit.
impl Line for Arc<Semaphore> {
    type Hold = OwnedSemaphorePermit;

    async fn take(&self) -> Result<OwnedSemaphorePermit> {
        Ok(Arc::clone(self).acquire_owned().await?)
    }

    async fn give(permit: OwnedSemaphorePermit) -> Result<()> {
        drop(permit);
        Ok(())
    }
}

/// What the waiters of one chain share.
struct Chain {
    started: Instant,
    released_ns: AtomicU64,
    left: AtomicI64,
}

impl Chain {
    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }
}

/// Lets the waiters hand over to one another; answers how long each took, in nanoseconds.
async fn chain<L: Line>(line: L) -> Result<Samples> {
    let chain = Arc::new(Chain {
        started: Instant::now(),
        released_ns: AtomicU64::new(0),
        left: AtomicI64::new(HAND_OVERS),
    });
    let closed = line.take().await?;
    let mut waiters = JoinSet::new();
    for _ in 0..WAITERS {
        waiters.spawn(hand_over(line.clone(), Arc::clone(&chain)));
    }
    // Time for all of them to stand in line.
    tokio::time::sleep(Duration::from_millis(5)).await;
    chain.released_ns.store(chain.now_ns(), Ordering::Relaxed);
    L::give(closed).await?;
    let mut took = Vec::new();
    while let Some(waiter) = waiters.join_next().await {
        took.extend(waiter??);
    }
    Ok(took.into_iter().collect())
}

/// Takes and gives by turns until there were enough hand-overs.
async fn hand_over<L: Line>(line: L, chain: Arc<Chain>) -> Result<Vec<f64>> {
    let mut took = Vec::new();
    loop {
        let hold = line.take().await?;
        let ns = chain.now_ns() - chain.released_ns.load(Ordering::Relaxed);
        let ended = chain.left.fetch_sub(1, Ordering::Relaxed) <= 0;
        if !ended {
            took.push(ns as f64);
        }
        chain.released_ns.store(chain.now_ns(), Ordering::Relaxed);
        L::give(hold).await?;
        if ended {
            return Ok(took);
        }
        // Standing in line again is not part of the hand-over: the next waiter goes first.
        tokio::task::yield_now().await;
    }
}
