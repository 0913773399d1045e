//! What a plugin's policy adds to an acquire and its release.

use std::time::{Duration, Instant};

use anyhow::Result;
use leases::{
    Error, Grant, Lease, Leases, NamePattern, PluginId, Policy, Prefix, Primitive, Rate, Request,
    Scope,
};
use tokio::runtime::{Builder, Runtime};

use crate::guest::Guest;
use crate::program::{Program, config};
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{interleave, ns_each};
use crate::workspace;

const ROUNDS: usize = 300;
const TIMES: u32 = 1000;
const NAME: &str = "bench:key";
const OWNER: &str = "job";
const TTL: Duration = Duration::from_secs(600);

pub(crate) fn run() -> Result<Report> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let leases = Leases::memory();
    let scope = |plugin: &str, policy: Policy| -> Result<Scope> {
        Ok(Scope::new(leases.clone(), PluginId::new(plugin)?, policy))
    };
    let (plain, whole) = (scope("plain", plain()?)?, scope("whole", whole()?)?);
    let program = Program::load(&workspace::build_guest()?, &config(), leases.clone())?;
    let guest = |scope: &Scope| -> Result<Guest<'_>> {
        let (store, guest) = runtime.block_on(program.instantiate_within(scope.clone()))?;
        Ok(Guest::new(&runtime, store, guest))
    };
    let (guest_of_plain, guest_of_whole) = (guest(&plain)?, guest(&whole)?);

    let [direct, by_plain, by_whole, of_plain, of_whole] = interleave(
        ROUNDS,
        [
            Box::new(|| pairs(&runtime, || leases.lease(NAME))),
            Box::new(|| pairs(&runtime, || plain.lease(NAME))),
            Box::new(|| pairs(&runtime, || whole.lease(NAME))),
            Box::new(|| guest_of_plain.pairs(NAME)),
            Box::new(|| guest_of_whole.pairs(NAME)),
        ],
    )?;

    let title = format!("acquire + release with an owner; {ROUNDS} rounds of {TIMES} pairs each");
    let mut report = Report::new("policy", title);
    report.add(Figure::of("in the host, without a scope", Unit::Ns, &direct));
    let figure = Figure::of("one grant, nothing counted", Unit::Ns, &by_plain);
    report.add(figure.beside("without a scope", &by_plain, &direct));
    let figure = Figure::of("three grants, a prefix, rates", Unit::Ns, &by_whole);
    report.add(figure.beside("without a scope", &by_whole, &direct));
    let difference = by_whole.plus(-1.0, &direct);
    let figure = Figure::of("that policy, less no scope", Unit::Ns, &difference);
    report.add(figure.goal(Goal::AtMost(150.0)));
    report.add(Figure::of("in the guest, one grant", Unit::Ns, &of_plain));
    let figure = Figure::of("in the guest, three grants", Unit::Ns, &of_whole);
    report.add(figure.beside("one grant", &of_whole, &of_plain));
    Ok(report)
}

/// The least that there is.
fn plain() -> Result<Policy> {
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("bench:*")?));
    Ok(policy.acquires(Rate::UNLIMITED).calls(Rate::UNLIMITED).build()?)
}

/// What a host gives a plugin: the name is found last, is kept elsewhere, and each ask costs a
/// token.
fn whole() -> Result<Policy> {
    let often = Rate::per_second(1_000_000_000);
    let downloads = Grant::new(NamePattern::new("downloads")?).primitives([Primitive::Semaphore]);
    let names = Grant::new(NamePattern::new("bench:*")?).prefix(Prefix::new("plugin/")?);
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("jobs/*")?));
    Ok(policy.grant(downloads).grant(names).acquires(often).calls(often).build()?)
}

fn pairs(runtime: &Runtime, ask: impl Fn() -> Result<Request<Lease>, Error>) -> Result<f64> {
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..TIMES {
            ask()?.ttl(TTL).owner(OWNER).acquire().await?.release().await?;
        }
        Ok(ns_each(started.elapsed(), TIMES))
    })
}
