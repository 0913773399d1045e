//! Guest instances that wait in line, each in a store of its own: memory of one, and how fast they
//! are gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use leases::{Key, Kind, Leases, Name};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::child::Answers;
use crate::process::Memory;
use crate::program::{Program, config};
use crate::report::{Figure, Goal, Report, Unit};
use crate::{Child, workspace};

const PROCESSES: usize = 5;
const INSTANCES: u32 = 1000;
const NAME: &str = "bench:line";

/// How instances get their memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Allocation {
    /// As `leases run`: each its own, when it begins.
    OnDemand,
    /// The same, with no more address space than the guest needs.
    Snug,
    /// From a pool that is made with the engine.
    Pooled,
}

pub(crate) fn run() -> Result<Report> {
    workspace::build_guest()?;
    let title =
        format!("{INSTANCES} instances wait for one name; {PROCESSES} processes of each kind");
    let mut report = Report::new("waiting", title);
    let mut kinds = [
        ("on demand, as `leases run`", Child::WaitingOnDemand, Answers::default()),
        ("on demand, little address space", Child::WaitingSnug, Answers::default()),
        ("pooled", Child::WaitingPooled, Answers::default()),
    ];
    for _ in 0..PROCESSES {
        for (_, child, answers) in &mut kinds {
            answers.ask(*child)?;
        }
    }
    for (what, _, answers) in &kinds {
        let figure = |part: &str, name: &str| -> Result<Figure> {
            Ok(Figure::of(format!("{what}: {part}"), Unit::KiB, &answers.figures(name)?))
        };
        report.add(figure("resident", "resident")?.goal(Goal::AtMost(64.0)));
        report.add(figure("shared pages counted once", "proportional")?);
        report.add(figure("page tables beside it", "page_tables")?);
        let in_ms = |part: &str, name: &str| -> Result<Figure> {
            Ok(Figure::of(format!("{what}: {part}"), Unit::Ms, &answers.figures(name)?))
        };
        let emptied = in_ms("all dropped, until the line is empty", "emptied_ms")?;
        report.add(emptied.goal(Goal::AtMost(100.0)));
        report.add(in_ms("until all stores are gone", "gone_ms")?);
    }
    report.note("Memory is of one. All were admitted in the order in which they came; then they");
    report.note("waited again, and all their stores were dropped at once.");
    Ok(report)
}

/// Measures in this process.
pub(crate) fn take(allocation: Allocation) -> Result<Value> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let leases = Leases::memory();
    let program = Program::load(&workspace::guest(), &allocation.config(), leases.clone())?;
    runtime.block_on(wait(Arc::new(program), leases))
}

impl Allocation {
    fn config(self) -> Config {
        let mut config = config();
        match self {
            Allocation::OnDemand => {}
            Allocation::Snug => {
                config.memory_reservation(2 << 20).memory_guard_size(64 << 10);
                config.memory_reservation_for_growth(0).async_stack_size(640 << 10);
            }
            Allocation::Pooled => {
                let mut pool = PoolingAllocationConfig::default();
                let instances = INSTANCES + 1;
                pool.total_component_instances(instances).total_stacks(instances);
                pool.total_memories(instances).max_memory_size(16 << 20);
                pool.total_tables(2 * instances).total_core_instances(4 * instances);
                config.memory_reservation(16 << 20);
                config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
            }
        }
        config
    }
}

/// Instances that wait, by their number, for the fences of their grants.
type Waiters = JoinSet<Result<(u32, u64)>>;

async fn wait(program: Arc<Program>, leases: Leases) -> Result<Value> {
    // What is allocated once comes with the first.
    call(&program).await?;
    let before = Memory::now()?;
    let mut closed = leases.lease(NAME)?.ttl(Duration::from_secs(600)).acquire().await?;
    let mut waiters = line_up(&program, &leases).await?;
    let after = Memory::now()?;
    closed.release().await?;
    let mut admitted = Vec::new();
    while let Some(ended) = waiters.join_next().await {
        let (number, fence) = ended??;
        admitted.push((fence, number));
    }
    admitted.sort_unstable();
    ensure!(admitted.into_iter().map(|(_, number)| number).eq(0..INSTANCES), "not in order");
    let (emptied_ms, gone_ms) = drop_all(&program, &leases).await?;
    let each = |after: u64, before: u64| (after as f64 - before as f64) / f64::from(INSTANCES);
    Ok(json!({
        "resident": each(after.resident, before.resident),
        "proportional": each(after.proportional, before.proportional),
        "page_tables": each(after.page_tables, before.page_tables),
        "emptied_ms": emptied_ms,
        "gone_ms": gone_ms,
    }))
}

/// Puts all instances in line, one after the other.
async fn line_up(program: &Arc<Program>, leases: &Leases) -> Result<Waiters> {
    let mut waiters = JoinSet::new();
    for number in 0..INSTANCES {
        let program = Arc::clone(program);
        waiters.spawn(async move { Ok((number, call(&program).await?)) });
        until_in_line(leases, |waiters| waiters > number as usize).await?;
    }
    Ok(waiters)
}

/// Drops the stores of all that wait: milliseconds until their line is empty, and until they are
/// gone.
async fn drop_all(program: &Arc<Program>, leases: &Leases) -> Result<(f64, f64)> {
    let _closed = leases.lease(NAME)?.ttl(Duration::from_secs(600)).acquire().await?;
    let mut waiters = line_up(program, leases).await?;
    let dropped = Instant::now();
    waiters.abort_all();
    until_in_line(leases, |waiters| waiters == 0).await?;
    let emptied = dropped.elapsed();
    while waiters.join_next().await.is_some() {}
    let gone = dropped.elapsed();
    Ok((emptied.as_secs_f64() * 1e3, gone.as_secs_f64() * 1e3))
}

/// One instance's whole life; answers the fence of its grant.
async fn call(program: &Program) -> Result<u64> {
    let (mut store, guest) = program.instantiate().await?;
    let waited = guest.leases_bench_loops().call_wait(&mut store, NAME).await?;
    waited.map_err(|told| anyhow!(told))
}

async fn until_in_line(leases: &Leases, enough: impl Fn(usize) -> bool) -> Result<()> {
    let key = Key { kind: Kind::Lease, name: Name::new(NAME)? };
    while !enough(leases.inspect(&key).await?.waiters.len()) {
        tokio::task::yield_now().await;
    }
    Ok(())
}
