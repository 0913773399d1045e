//! Acquire, release and refusal by some tasks at once, beside bare statements.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use leases::{Lease, Leases};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{Samples, interleave_all};

const ROUNDS: usize = 60;
/// How often each task writes, or reads, in a round.
const WRITES: u32 = 25;
const READS: u32 = 100;
const TTL: Duration = Duration::from_secs(60);

/// What is measured.
pub(super) struct Pairs<'a> {
    /// Of the database.
    pub(super) name: &'a str,
    pub(super) leases: &'a Leases,
    pub(super) tasks: u32,
    /// Whether its ratios have goals.
    pub(super) has_goals: bool,
}

/// What one round took, all its times together.
#[derive(Debug, Default)]
struct Took {
    times: u32,
    first: Duration,
    second: Duration,
}

impl Pairs<'_> {
    /// Measures them beside one change, and one look at, a row by its key, each task at its own.
    pub(super) fn add<W, R>(
        &self,
        report: &mut Report,
        runtime: &Runtime,
        (write, read): (impl Fn(u32) -> W + Copy, impl Fn(u32) -> R + Copy),
    ) -> Result<()>
    where
        W: Future<Output = Result<i64>> + Send + 'static,
        R: Future<Output = Result<i64>> + Send + 'static,
    {
        let Pairs { leases, tasks, .. } = *self;
        let _taken = runtime.block_on(take_all(leases, tasks, self.name))?;
        let [written, held, looked, refused] = interleave_all(
            ROUNDS,
            [
                Box::new(|| runtime.block_on(self.bare(WRITES, write))),
                Box::new(|| runtime.block_on(self.round(|task| hold(leases.clone(), task)))),
                Box::new(|| runtime.block_on(self.bare(READS, read))),
                Box::new(|| {
                    let name = self.name.to_owned();
                    let refuse = |task| refuse(leases.clone(), taken(&name, task));
                    runtime.block_on(self.round(refuse))
                }),
            ],
        )?;
        let first = |took: &Took| took.first;
        let (written, looked) = (self.rates(&written, first), self.rates(&looked, first));
        let mut add = |what: &str, ours: Samples, (to, bare): (&str, &Samples), goal| {
            let figure = Figure::of(self.what(what), Unit::PerSecond, &ours);
            let figure = figure.beside(to, &ours, bare);
            let goal = Goal::RatioAtLeast(goal);
            report.add(if self.has_goals { figure.goal(goal) } else { figure });
        };
        add("acquire()", self.rates(&held, first), ("UPDATE", &written), 0.85);
        let second = |took: &Took| took.second;
        add("release()", self.rates(&held, second), ("UPDATE", &written), 0.85);
        add("try_acquire(), refused", self.rates(&refused, first), ("SELECT", &looked), 0.8);
        report.add(Figure::of(self.what("bare UPDATE"), Unit::PerSecond, &written));
        report.add(Figure::of(self.what("bare SELECT"), Unit::PerSecond, &looked));
        Ok(())
    }

    fn what(&self, what: &str) -> String {
        match self.tasks {
            1 => format!("{}, 1 task: {what}", self.name),
            several => format!("{}, {several} tasks: {what}", self.name),
        }
    }

    /// How many a second, by all tasks together.
    fn rates(&self, rounds: &[Took], of: fn(&Took) -> Duration) -> Samples {
        let tasks = f64::from(self.tasks);
        let rate = |took: &Took| tasks * tasks * f64::from(took.times) / of(took).as_secs_f64();
        rounds.iter().map(rate).collect()
    }

    async fn bare<W>(&self, times: u32, work: impl Fn(u32) -> W + Copy) -> Result<Took>
    where
        W: Future<Output = Result<i64>> + Send + 'static,
    {
        // The tasks are made before their work: each makes its own, one after the other.
        let mut running = JoinSet::new();
        for task in 0..self.tasks {
            let works: Vec<_> = (0..times).map(|_| work(task)).collect();
            running.spawn(async move {
                let started = Instant::now();
                for work in works {
                    ensure!(work.await? >= 0, "it is a count");
                }
                Ok(Took { times, first: started.elapsed(), ..Took::default() })
            });
        }
        sum(running).await
    }

    async fn round<W>(&self, work: impl Fn(u32) -> W) -> Result<Took>
    where
        W: Future<Output = Result<Took>> + Send + 'static,
    {
        let mut running = JoinSet::new();
        for task in 0..self.tasks {
            running.spawn(work(task));
        }
        sum(running).await
    }
}

/// Runs all tasks to their end.
async fn sum(mut running: JoinSet<Result<Took>>) -> Result<Took> {
    let mut all = Took::default();
    while let Some(ended) = running.join_next().await {
        let Took { times, first, second } = ended??;
        all = Took { times, first: all.first + first, second: all.second + second };
    }
    Ok(all)
}

async fn hold(leases: Leases, task: u32) -> Result<Took> {
    let mut took = Took { times: WRITES, ..Took::default() };
    let name = format!("held:{task}");
    for _ in 0..WRITES {
        let started = Instant::now();
        let mut held = leases.lease(&name)?.ttl(TTL).acquire().await?;
        let acquired = Instant::now();
        held.release().await?;
        took.first += acquired - started;
        took.second += acquired.elapsed();
    }
    Ok(took)
}

async fn refuse(leases: Leases, name: String) -> Result<Took> {
    let started = Instant::now();
    for _ in 0..READS {
        ensure!(leases.lease(&name)?.try_acquire().await?.is_none(), "it is taken");
    }
    Ok(Took { times: READS, first: started.elapsed(), ..Took::default() })
}

/// What each task is refused. Each measurement has its own: what was held before is given back later.
fn taken(of: &str, task: u32) -> String {
    format!("taken:{of}:{task}")
}

async fn take_all(leases: &Leases, tasks: u32, of: &str) -> Result<Vec<Lease>> {
    let mut taken_all = Vec::new();
    for task in 0..tasks {
        let request = leases.lease(taken(of, task))?.keep_alive();
        let held = request.acquire().await.context("nobody else holds it")?;
        taken_all.push(held);
    }
    Ok(taken_all)
}
