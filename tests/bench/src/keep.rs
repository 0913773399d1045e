//! Holds that are kept alive for a minute, beside holds that each refresh themselves.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use leases::{Fence, Key, Kind, Lease, Leases, Name};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::Child;
use crate::child::Answers;
use crate::counting::Counting;
use crate::process::cpu_time;
use crate::report::{Figure, Goal, Report, Unit};

const HOLDS: u32 = 10_000;
const TTL: Duration = Duration::from_secs(30);
/// How often a hold is refreshed.
const PERIOD: Duration = Duration::from_secs(10);
const PERIODS: u32 = 6;
/// The most round trips in a period: one for 500 holds.
const CALLS_MAX: u32 = HOLDS / 500;

/// Who refreshes the holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The keeper; they were taken all at once.
    Together,
    /// The keeper; they were taken evenly over a period.
    Spread,
    /// A task for each hold.
    Alone,
}

pub(crate) fn run() -> Result<Report> {
    // All at once: a busy moment of the machine meets all of them.
    let kinds = [Child::KeepTogether, Child::KeepSpread, Child::KeepAlone];
    let [together, spread, alone] = thread::scope(|scope| {
        let running = kinds.map(|kind| scope.spawn(move || ask(kind)));
        running.map(|child| child.join().unwrap_or_else(|_| bail!("a child's thread panicked")))
    });
    let (together, spread, alone) = (together?, spread?, alone?);
    let seconds = (PERIOD * PERIODS).as_secs();
    let title = format!("{HOLDS} holds of {TTL:?} on memory for {seconds} s, a process each");
    let mut report = Report::new("keep", title);
    for (what, answers, kept) in [
        ("kept, taken at once", &together, true),
        ("kept, taken over a period", &spread, true),
        ("a task for each", &alone, false),
    ] {
        let goal = |figure: Figure, most: f64| match kept {
            true => figure.goal(Goal::AtMost(most)),
            false => figure,
        };
        let figure = |part: &str, unit, name: &str| -> Result<Figure> {
            let samples = answers.figures(name)?;
            let figure = Figure::of(format!("{what}: {part}"), unit, &samples);
            Ok(match kept {
                true => figure.beside("a task for each", &samples, &alone.figures(name)?),
                false => figure,
            })
        };
        let lost = Figure::of(format!("{what}: lost"), Unit::Holds, &answers.figures("lost")?);
        report.add(goal(lost, 0.0));
        let calls = figure("round trips a period", Unit::Calls, "calls")?;
        report.add(goal(calls, f64::from(CALLS_MAX)));
        report.add(figure("refreshes a period", Unit::Holds, "refreshes")?);
        report.add(goal(figure("processor, of one core", Unit::Percent, "cpu")?, 5.0));
    }
    report.note("Each hold was looked at at the end: its handle, and its fence in the backend.");
    Ok(report)
}

fn ask(child: Child) -> Result<Answers> {
    let mut answers = Answers::default();
    answers.ask(child)?;
    Ok(answers)
}

/// Measures in this process.
pub(crate) fn take(kept: Kept) -> Result<Value> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(keep(kept))
}

async fn keep(kept: Kept) -> Result<Value> {
    let backend = Arc::new(Counting::new());
    let leases = Leases::builder(backend.clone()).build();
    let began = Instant::now();
    let mut held = Vec::new();
    for number in 0..HOLDS {
        if kept == Kept::Spread {
            sleep_until(began + PERIOD * number / HOLDS).await;
        }
        let request = leases.lease(name(number))?.ttl(TTL);
        let request = if kept == Kept::Alone { request } else { request.keep_alive() };
        held.push(request.acquire().await?);
    }
    let fences: Vec<Fence> = held.iter().map(Lease::fence).collect();
    let mut tasks = JoinSet::new();
    if kept == Kept::Alone {
        for lease in held.drain(..) {
            tasks.spawn(refresh_alone(lease));
        }
    }
    // The minute begins and ends between two refreshes of those that were taken at once.
    sleep(PERIOD / 2).await;

    let (before, cpu_before, began) = (backend.counted(), cpu_time()?, Instant::now());
    sleep(PERIOD * PERIODS).await;
    let (after, cpu_after, took) = (backend.counted(), cpu_time()?, began.elapsed());

    ensure!(tasks.try_join_next().is_none(), "a task's refresh failed");
    let mut lost = held.iter().filter(|lease| lease.is_lost()).count();
    for (number, fence) in (0..HOLDS).zip(fences) {
        lost += usize::from(!is_held(&leases, number, fence).await?);
    }
    let periods = f64::from(PERIODS);
    Ok(json!({
        "lost": lost,
        "calls": (after.calls - before.calls) as f64 / periods,
        "refreshes": (after.holds - before.holds) as f64 / periods,
        "cpu": (cpu_after - cpu_before).as_secs_f64() / took.as_secs_f64() * 100.0,
    }))
}

/// Refreshes one hold for ever, or until that fails.
async fn refresh_alone(mut lease: Lease) -> Result<()> {
    loop {
        sleep(PERIOD).await;
        lease.refresh().await?;
    }
}

async fn is_held(leases: &Leases, number: u32, fence: Fence) -> Result<bool> {
    let key = Key { kind: Kind::Lease, name: Name::new(name(number))? };
    let view = leases.inspect(&key).await?;
    Ok(view.holders.iter().map(|holder| holder.fence).eq([fence]))
}

fn name(number: u32) -> String {
    format!("kept:{number}")
}
