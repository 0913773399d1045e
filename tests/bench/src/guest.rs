//! What calls cost a guest.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use leases::Leases;
use tokio::runtime::{Builder, Runtime};
use wasmtime::Store;

use crate::bindings::Bench;
use crate::program::{Program, State, config};
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{interleave, ns_each};
use crate::workspace;

const ROUNDS: usize = 300;
const CALLS: u32 = 4000;
const PAIRS: u32 = 1000;
const NAME: &str = "bench:key";
const TTL: Duration = Duration::from_secs(600);

pub(crate) fn run() -> Result<Report> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let leases = Leases::memory();
    let program = Program::load(&workspace::build_guest()?, &config(), leases.clone())?;
    let (store, guest) = runtime.block_on(program.instantiate())?;
    let guest = Guest::new(&runtime, store, guest);

    let [noop, awaited, remaining, pair, native] = interleave(
        ROUNDS,
        [
            Box::new(|| guest.noops()),
            Box::new(|| guest.noops_async()),
            Box::new(|| guest.remainings()),
            Box::new(|| guest.pairs(NAME)),
            Box::new(|| native_pairs(&runtime, &leases)),
        ],
    )?;

    let title = format!("calls of a guest; {ROUNDS} rounds of {CALLS} calls or {PAIRS} pairs each");
    let mut report = Report::new("guest", title);
    report.add(Figure::of("noop", Unit::Ns, &noop));
    let figure = Figure::of("noop that may await", Unit::Ns, &awaited);
    report.add(figure.beside("noop", &awaited, &noop));
    let figure = Figure::of("remaining", Unit::Ns, &remaining);
    report.add(figure.beside("noop", &remaining, &noop).goal(Goal::RatioAtMost(1.4)));
    report.add(Figure::of("acquire + release in the host", Unit::Ns, &native));
    let figure = Figure::of("acquire + release in the guest", Unit::Ns, &pair);
    let bound = native.plus(4.0, &noop);
    report.add(figure.beside("host + 4 noop", &pair, &bound).goal(Goal::RatioAtMost(1.0)));
    Ok(report)
}

/// An instance whose exports are timed.
pub(crate) struct Guest<'a> {
    runtime: &'a Runtime,
    store: RefCell<Store<State>>,
    guest: Bench,
}

impl<'a> Guest<'a> {
    pub(crate) fn new(runtime: &'a Runtime, store: Store<State>, guest: Bench) -> Self {
        Guest { runtime, store: RefCell::new(store), guest }
    }

    fn noops(&self) -> Result<f64> {
        let store = &mut *self.store.borrow_mut();
        let started = Instant::now();
        self.runtime.block_on(self.guest.leases_bench_loops().call_noops(store, CALLS))?;
        Ok(ns_each(started.elapsed(), CALLS))
    }

    fn noops_async(&self) -> Result<f64> {
        let store = &mut *self.store.borrow_mut();
        let started = Instant::now();
        self.runtime.block_on(self.guest.leases_bench_loops().call_noops_async(store, CALLS))?;
        Ok(ns_each(started.elapsed(), CALLS))
    }

    fn remainings(&self) -> Result<f64> {
        let store = &mut *self.store.borrow_mut();
        let loops = self.guest.leases_bench_loops();
        let started = Instant::now();
        let done = self.runtime.block_on(loops.call_remainings(store, NAME, CALLS))?;
        done.map_err(|told| anyhow!(told))?;
        Ok(ns_each(started.elapsed(), CALLS))
    }

    /// Nanoseconds of an acquire and its release.
    pub(crate) fn pairs(&self, name: &str) -> Result<f64> {
        let store = &mut *self.store.borrow_mut();
        let loops = self.guest.leases_bench_loops();
        let started = Instant::now();
        let done = self.runtime.block_on(loops.call_pairs(store, name, PAIRS))?;
        done.map_err(|told| anyhow!(told))?;
        Ok(ns_each(started.elapsed(), PAIRS))
    }
}

fn native_pairs(runtime: &Runtime, leases: &Leases) -> Result<f64> {
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..PAIRS {
            leases.lease(NAME)?.ttl(TTL).acquire().await?.release().await?;
        }
        Ok(ns_each(started.elapsed(), PAIRS))
    })
}
