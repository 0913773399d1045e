//! PostgreSQL: each operation beside one statement on one row, over the same pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use leases::{Leases, SqlBackend, SqlConfig};
use leases_tests::servers::Postgres;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, query_scalar, raw_sql};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::line::{self, Goals};
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{Samples, interleave_all};

const ROUNDS: usize = 60;
const TASKS: [u32; 2] = [1, 8];
const TTL: Duration = Duration::from_secs(60);

/// What one round took, all its times together.
#[derive(Debug, Default)]
struct Took {
    times: u32,
    first: Duration,
    second: Duration,
}

pub(super) fn add(report: &mut Report, runtime: &Runtime) -> Result<()> {
    let server = runtime.block_on(Postgres::start_durable());
    let (pool, leases) = runtime.block_on(open(&server))?;
    let _taken = runtime.block_on(take_all(&leases, 8))?;
    for tasks in TASKS {
        one_by_one(report, runtime, (&pool, &leases), tasks)?;
    }
    let goals = Goals { p50_ns: 3e6, p99_ns: 2e7 };
    line::add(report, runtime, ("PostgreSQL, ", &server.url()), Some(goals))
}

async fn open(server: &Postgres) -> Result<(PgPool, Leases)> {
    // No question before each statement whether the connection still is one: for neither of both.
    let pool = PgPoolOptions::new().max_connections(8).test_before_acquire(false);
    let pool = pool.connect(&server.url()).await?;
    raw_sql(
        "CREATE TABLE bare (id integer PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 50);
         INSERT INTO bare SELECT n, 0 FROM generate_series(0, 7) AS n",
    )
    .execute(&pool)
    .await?;
    let backend = SqlBackend::connect(SqlConfig::postgres(pool.clone())).await?;
    let leases = Leases::builder(Arc::new(backend)).build();
    leases.migrate().await?;
    Ok((pool, leases))
}

/// Acquire, release and a refusal, by so many tasks at once, each on a name of its own.
fn one_by_one(
    report: &mut Report,
    runtime: &Runtime,
    (pool, leases): (&PgPool, &Leases),
    tasks: u32,
) -> Result<()> {
    let [update, hold, select, refuse] = interleave_all(
        ROUNDS,
        [
            Box::new(|| runtime.block_on(round(tasks, |task| update(pool.clone(), task)))),
            Box::new(|| runtime.block_on(round(tasks, |task| hold(leases.clone(), task)))),
            Box::new(|| runtime.block_on(round(tasks, |task| select(pool.clone(), task)))),
            Box::new(|| runtime.block_on(round(tasks, |task| refuse(leases.clone(), task)))),
        ],
    )?;

    let rates = |took: &[Took], of: fn(&Took) -> Duration| -> Samples {
        let rate = |took: &Took| f64::from(tasks * took.times) / of(took).as_secs_f64();
        took.iter().map(rate).map(|rate| rate * f64::from(tasks)).collect()
    };
    let (first, second): (fn(&Took) -> Duration, _) =
        (|took| took.first, |took: &Took| took.second);
    let what = |what: &str| format!("PostgreSQL, {tasks} tasks: {what}");
    let (written, read) = (rates(&update, first), rates(&select, first));
    let mut add = |name: &str, ours: Samples, bare: (&str, &Samples), goal| {
        let figure = Figure::of(what(name), Unit::PerSecond, &ours);
        report.add(figure.beside(bare.0, &ours, bare.1).goal(Goal::RatioAtLeast(goal)));
    };
    add("acquire()", rates(&hold, first), ("UPDATE", &written), 0.85);
    add("release()", rates(&hold, second), ("UPDATE", &written), 0.85);
    add("try_acquire(), refused", rates(&refuse, first), ("SELECT", &read), 0.8);
    report.add(Figure::of(what("bare UPDATE … RETURNING"), Unit::PerSecond, &written));
    report.add(Figure::of(what("bare SELECT"), Unit::PerSecond, &read));
    Ok(())
}

/// Runs all tasks to their end.
async fn round<W>(tasks: u32, work: impl Fn(u32) -> W) -> Result<Took>
where
    W: Future<Output = Result<Took>> + Send + 'static,
{
    let mut running = JoinSet::new();
    for task in 0..tasks {
        running.spawn(work(task));
    }
    let mut all = Took::default();
    while let Some(ended) = running.join_next().await {
        let Took { times, first, second } = ended??;
        all = Took { times, first: all.first + first, second: all.second + second };
    }
    Ok(all)
}

async fn update(pool: PgPool, task: u32) -> Result<Took> {
    const TIMES: u32 = 25;
    let started = Instant::now();
    for _ in 0..TIMES {
        let value: i64 =
            query_scalar("UPDATE bare SET value = value + 1 WHERE id = $1 RETURNING value")
                .bind(task as i32)
                .fetch_one(&pool)
                .await?;
        ensure!(value > 0, "it grows");
    }
    Ok(Took { times: TIMES, first: started.elapsed(), ..Took::default() })
}

async fn hold(leases: Leases, task: u32) -> Result<Took> {
    const TIMES: u32 = 25;
    let mut took = Took { times: TIMES, ..Took::default() };
    let name = format!("held:{task}");
    for _ in 0..TIMES {
        let started = Instant::now();
        let mut held = leases.lease(&name)?.ttl(TTL).acquire().await?;
        let acquired = Instant::now();
        held.release().await?;
        took.first += acquired - started;
        took.second += acquired.elapsed();
    }
    Ok(took)
}

async fn select(pool: PgPool, task: u32) -> Result<Took> {
    const TIMES: u32 = 100;
    let started = Instant::now();
    for _ in 0..TIMES {
        let _: i64 = query_scalar("SELECT value FROM bare WHERE id = $1")
            .bind(task as i32)
            .fetch_one(&pool)
            .await?;
    }
    Ok(Took { times: TIMES, first: started.elapsed(), ..Took::default() })
}

async fn refuse(leases: Leases, task: u32) -> Result<Took> {
    const TIMES: u32 = 100;
    let name = format!("taken:{task}");
    let started = Instant::now();
    for _ in 0..TIMES {
        ensure!(leases.lease(&name)?.try_acquire().await?.is_none(), "it is taken");
    }
    Ok(Took { times: TIMES, first: started.elapsed(), ..Took::default() })
}

async fn take_all(leases: &Leases, tasks: u32) -> Result<Vec<leases::Lease>> {
    let mut taken = Vec::new();
    for task in 0..tasks {
        let held = leases.lease(format!("taken:{task}"))?.keep_alive().try_acquire().await?;
        taken.push(held.context("nobody holds it")?);
    }
    Ok(taken)
}
