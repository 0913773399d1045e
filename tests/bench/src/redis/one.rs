//! One task: each operation beside a script that does nothing.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use leases::spec::{Answer, Ask, Mode};
use leases::{
    Backend, Extend, HolderId, Key, Kind, Leases, Limit, Name, RedisBackend, Refresh, Refreshed,
    Ttl, TtlBounds,
};
use leases_tests::servers::Redis;
use redis::aio::MultiplexedConnection;
use tokio::runtime::Runtime;

use super::bare::{self, Loaded, NOTHING, Smallest};
use super::connect;
use crate::report::{Figure, Goal, Report, Unit};
use crate::samples::{Samples, interleave_all};

const ROUNDS: usize = 200;
const TIMES: u32 = 100;
const NAME: &str = "one";
const TTL: Duration = Duration::from_secs(30);

/// What each operation took in one round, all its times together.
#[derive(Debug, Default)]
struct Took {
    acquire: Duration,
    refresh: Duration,
    release: Duration,
}

/// One operation's time.
type Part = fn(&Took) -> Duration;

pub(super) fn add(report: &mut Report, runtime: &Runtime, server: &Redis) -> Result<()> {
    let (backend, leases) = runtime.block_on(connect(server))?;
    let bare = runtime.block_on(bare::connect(server))?;
    let nothing = runtime.block_on(Loaded::new(server, NOTHING));
    let smallest = runtime.block_on(Smallest::new(server))?;
    let [theirs, small, waits, tries, raw] = interleave_all(
        ROUNDS,
        [
            Box::new(|| runtime.block_on(call_nothing(bare.clone(), &nothing))),
            Box::new(|| runtime.block_on(take_and_give(smallest.clone()))),
            Box::new(|| runtime.block_on(hold(&leases))),
            Box::new(|| runtime.block_on(try_hold(&leases))),
            Box::new(|| runtime.block_on(ask(&backend))),
        ],
    )?;

    let rates = |took: &[Took], of: Part| -> Samples {
        took.iter().map(|took| f64::from(TIMES) / of(took).as_secs_f64()).collect()
    };
    let bare = rates(&theirs, |took| took.acquire);
    report.add(Figure::of("1 task: bare EVALSHA of `return 1`", Unit::PerSecond, &bare));
    let beside = |what: &str, samples: &Samples| {
        Figure::of(format!("1 task: {what}"), Unit::PerSecond, samples)
            .beside("bare", samples, &bare)
    };
    for (what, took, of) in [
        ("acquire()", &waits, (|took| took.acquire) as Part),
        ("try_acquire()", &tries, |took| took.acquire),
        ("refresh()", &waits, |took| took.refresh),
        ("release()", &waits, |took| took.release),
    ] {
        report.add(beside(what, &rates(took, of)).goal(Goal::RatioAtLeast(0.85)));
    }
    for (what, took, of) in [
        ("Backend::ask", &raw, (|took| took.acquire) as Part),
        ("Backend::refresh", &raw, |took| took.refresh),
        ("Backend::release", &raw, |took| took.release),
        ("smallest script to acquire", &small, |took| took.acquire),
        ("smallest script to release", &small, |took| took.release),
    ] {
        report.add(beside(what, &rates(took, of)));
    }
    Ok(())
}

async fn call_nothing(mut connection: MultiplexedConnection, nothing: &Loaded) -> Result<Took> {
    let started = Instant::now();
    for _ in 0..TIMES {
        let answer: u32 = nothing.command(0).query_async(&mut connection).await?;
        ensure!(answer == 1, "it answers 1");
    }
    Ok(Took { acquire: started.elapsed(), ..Took::default() })
}

async fn take_and_give(mut smallest: Smallest) -> Result<Took> {
    let mut took = Took::default();
    for _ in 0..TIMES {
        let holder = HolderId::random();
        let started = Instant::now();
        smallest.take(NAME, holder).await?;
        let taken = Instant::now();
        smallest.give(NAME, holder).await?;
        took.add(started, taken, taken);
    }
    Ok(took)
}

async fn hold(leases: &Leases) -> Result<Took> {
    let mut took = Took::default();
    for _ in 0..TIMES {
        let started = Instant::now();
        let mut held = leases.lease(NAME)?.ttl(TTL).acquire().await?;
        let acquired = Instant::now();
        held.refresh().await?;
        let refreshed = Instant::now();
        held.release().await?;
        took.add(started, acquired, refreshed);
    }
    Ok(took)
}

async fn try_hold(leases: &Leases) -> Result<Took> {
    let mut took = Took::default();
    for _ in 0..TIMES {
        let started = Instant::now();
        let held = leases.lease(NAME)?.ttl(TTL).try_acquire().await?;
        let acquired = Instant::now();
        held.context("nobody else holds it")?.release().await?;
        took.add(started, acquired, acquired);
    }
    Ok(took)
}

/// The backend's operations, without the engine on top.
async fn ask(backend: &RedisBackend) -> Result<Took> {
    let ttl = Ttl::new(TTL, TtlBounds::default())?;
    let mut took = Took::default();
    for _ in 0..TIMES {
        let key = Key { kind: Kind::Lease, name: Name::new(NAME)? };
        let (limit, holder, mode) = (Limit::ONE, HolderId::random(), Mode::Once);
        let (owner, max_hold, note) = (None, None, None);
        let ask = Ask { key: key.clone(), limit, holder, owner, ttl, max_hold, note, mode };
        let batch = [Refresh { key: key.clone(), holder, extend: Extend::Hold(ttl) }];
        let started = Instant::now();
        let answer = backend.ask(&ask).await?;
        let acquired = Instant::now();
        ensure!(matches!(answer, Answer::Granted(_)), "it is granted");
        let answer = backend.refresh(&batch).await?;
        let refreshed = Instant::now();
        ensure!(matches!(answer.as_slice(), [Refreshed::Held { .. }]), "it is held");
        let answer = backend.release(&key, holder).await?;
        ensure!(answer.is_ok(), "it is released");
        took.add(started, acquired, refreshed);
    }
    Ok(took)
}

impl Took {
    /// One more of each, the last of which has just ended.
    fn add(&mut self, started: Instant, acquired: Instant, refreshed: Instant) {
        self.acquire += acquired - started;
        self.refresh += refreshed - acquired;
        self.release += refreshed.elapsed();
    }
}
