//! What is measured: each event once, whichever way it comes about, and nothing left behind in a
//! gauge.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use leases::{
    Backend, Fence, Grant, Key, Kind, Leases, ManualClock, Name, NamePattern, PluginId, Policy,
    Scope, Verdict, Wait,
};
use leases_tests::faults::{Fault, Faulty, Slow};
use leases_tests::world::memory;
use metrics_util::MetricKind;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// A handle, its time, and what was measured of it.
struct Measured {
    leases: Leases,
    time: ManualClock,
    backend: Arc<Faulty>,
    snapshots: Snapshotter,
}

/// What is not zero: a counter's or gauge's value, or how many values a histogram has.
type Seen = BTreeMap<String, i64>;

impl Measured {
    /// Over memory, which answers at once and has no faults.
    fn at_once() -> Self {
        Measured::over(|memory, _| memory)
    }

    /// Over memory that takes some turns to answer, as a network does, and fails as it is told.
    fn slow() -> Self {
        Measured::over(|_, faulty| Arc::new(Slow::new(faulty, 2)))
    }

    fn over(choose: impl FnOnce(Arc<dyn Backend>, Arc<dyn Backend>) -> Arc<dyn Backend>) -> Self {
        let time = ManualClock::new();
        let memory: Arc<dyn Backend> = Arc::new(memory(&time));
        let backend = Arc::new(Faulty::new(Arc::clone(&memory), time.clock()));
        let recorder = DebuggingRecorder::new();
        let snapshots = recorder.snapshotter();
        let leases = metrics::with_local_recorder(&recorder, || {
            let backend = choose(memory, Arc::clone(&backend) as Arc<dyn Backend>);
            Leases::builder(backend).clock(time.clock()).build()
        });
        Measured { leases, time, backend, snapshots }
    }

    /// What was measured since the last time. The recorder begins anew with each look.
    fn seen(&self) -> Seen {
        let mut seen = Seen::new();
        for (key, _, _, value) in self.snapshots.snapshot().into_vec() {
            let labels = key.key().labels().map(|label| label.value().to_owned());
            let name = [key.key().name().to_owned()].into_iter().chain(labels);
            let count = match value {
                DebugValue::Counter(count) => count as i64,
                DebugValue::Gauge(value) => value.into_inner() as i64,
                DebugValue::Histogram(values) => values.len() as i64,
            };
            if count != 0 {
                seen.insert(name.collect::<Vec<_>>().join(" "), count);
            }
        }
        seen
    }

    fn scope(&self, held: u32) -> Scope {
        let grant = Grant::new(NamePattern::new("a*").unwrap());
        let policy = Policy::builder().grant(grant).held(held).build().unwrap();
        Scope::new(self.leases.clone(), PluginId::new("plugin").unwrap(), policy)
    }
}

fn of(expected: &[(&str, i64)]) -> Seen {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

fn lease_key(name: &str) -> Key {
    Key { kind: Kind::Lease, name: Name::new(name).unwrap() }
}

const GRANTED: [(&str, i64); 2] =
    [("leases.acquires lease granted", 1), ("leases.acquire.duration lease granted", 1)];

fn granted_and(others: &[(&str, i64)]) -> Seen {
    of(&[&GRANTED[..], others].concat())
}

#[tokio::test]
async fn a_hold_is_counted_while_it_is_one() {
    let measured = Measured::at_once();
    let mut held = measured.leases.lease("a").unwrap().acquire().await.unwrap();
    assert_eq!(measured.seen(), granted_and(&[("leases.holds lease", 1)]));
    held.release().await.unwrap();
    let ended = of(&[
        ("leases.holds lease", -1), // Since the last look.
        ("leases.holds.ended lease released", 1),
        ("leases.hold.duration lease", 1),
    ]);
    assert_eq!(measured.seen(), ended);
    drop(held);
    assert_eq!(measured.seen(), of(&[]));
}

/// How a hold ended, and what is counted of that.
#[tokio::test]
async fn each_end_is_counted_once_with_its_reason() {
    let reasons = ["released", "expired", "superseded", "revoked", "max-hold", "unconfirmed"];
    let both = reasons.iter().flat_map(|reason| [(*reason, false), (*reason, true)]);
    // Memory has no faults: there nothing is unconfirmed.
    for (reason, slow) in both.filter(|of| *of != ("unconfirmed", false)) {
        let measured = if slow { Measured::slow() } else { Measured::at_once() };
        let request = measured.leases.lease("a").unwrap().owner("me").ttl(3 * SECOND);
        let mut held = request.clone().max_hold(5 * SECOND).acquire().await.unwrap();
        measured.seen();
        match reason {
            "released" => {}
            "expired" => measured.time.advance(4 * SECOND),
            "superseded" => {
                drop(request.acquire().await.unwrap());
                assert!(held.refresh().await.is_err());
            }
            "revoked" => drop(measured.leases.revoke(&lease_key("a"), None).await.unwrap()),
            "max-hold" => {
                measured.time.advance(2 * SECOND);
                held.refresh().await.unwrap();
                measured.time.advance(4 * SECOND);
            }
            _ => {
                measured.backend.always(Fault::LoseReply);
                assert!(held.refresh().await.is_err());
                measured.time.advance(4 * SECOND);
                assert!(held.loss().is_some());
            }
        }
        for _ in 0..3 {
            let _ = (held.loss(), held.is_lost(), held.remaining());
        }
        drop(held);
        let seen = measured.seen();
        let ended = format!("leases.holds.ended lease {reason}");
        assert_eq!(seen.get(&ended), Some(&1), "{reason}: {seen:?}");
        assert_eq!(seen.get("leases.holds lease"), Some(&-1), "{reason}: {seen:?}");
        let all: i64 = seen.iter().filter(|(name, _)| name.contains("ended")).map(|(_, n)| n).sum();
        let others = i64::from(reason == "superseded"); // Who took it has released it.
        assert_eq!(all, 1 + others, "{reason}: {seen:?}");
    }
}

/// Each way in which an ask can end, and nothing else that is counted of it.
#[tokio::test]
async fn each_ask_is_counted_once_with_its_outcome() {
    for slow in [false, true] {
        for outcome in [
            "not-acquired",
            "waited out",
            "cancelled",
            "denied",
            "over-quota",
            "revoked",
            "invalid",
            "unavailable",
            "closed",
        ] {
            if outcome == "unavailable" && !slow {
                continue; // Memory has no faults.
            }
            let measured = if slow { Measured::slow() } else { Measured::at_once() };
            let held = measured.leases.lease("a").unwrap().acquire().await.unwrap();
            measured.seen();
            let request = measured.leases.lease("a").unwrap();
            let asked = match outcome {
                "waited out" => {
                    let waits = request.wait(SECOND);
                    let mut asking = pin!(waits.acquire());
                    for _ in 0..20 {
                        assert!(polled_once(asking.as_mut()).await.is_none());
                    }
                    measured.time.advance(2 * SECOND);
                    asking.await.map(drop)
                }
                "cancelled" => {
                    let waits = request.wait(Wait::Forever);
                    let mut asking = Box::pin(waits.acquire());
                    for _ in 0..20 {
                        assert!(polled_once(asking.as_mut()).await.is_none());
                    }
                    drop(asking);
                    Ok(())
                }
                "denied" => measured.scope(2).lease("b").map(drop),
                "over-quota" => {
                    let scope = measured.scope(1);
                    let first = scope.lease("a1").unwrap().acquire().await.unwrap();
                    measured.seen();
                    let second = scope.lease("a2").unwrap().acquire().await.map(drop);
                    std::mem::forget(first); // Its end is not counted here.
                    second
                }
                "revoked" => {
                    let scope = measured.scope(2);
                    let waits = scope.lease("a").unwrap();
                    let mut asking = pin!(waits.acquire());
                    for _ in 0..20 {
                        assert!(polled_once(asking.as_mut()).await.is_none());
                    }
                    scope.revoke_all();
                    asking.await.map(drop)
                }
                "invalid" => request.ttl(Duration::ZERO).acquire().await.map(drop),
                "unavailable" => {
                    measured.backend.always(Fault::Fail);
                    let asked = request.try_acquire().await.map(drop);
                    measured.backend.always(Fault::None);
                    asked
                }
                "closed" => {
                    drop(measured.leases.close(SECOND).await);
                    measured.seen();
                    request.acquire().await.map(drop)
                }
                _ => request.wait(Wait::Never).acquire().await.map(drop),
            };
            assert_eq!(asked.is_err(), outcome != "cancelled", "{outcome}");
            let seen = measured.seen();
            let counted = match outcome {
                "waited out" => "not-acquired",
                "closed" => "unavailable",
                other => other,
            };
            let expected = (format!("leases.acquires lease {counted}"), 1);
            let asks = seen.iter().filter(|(name, _)| name.starts_with("leases.acquires"));
            let asks: Vec<_> = asks.map(|(name, count)| (name.clone(), *count)).collect();
            assert_eq!(asks, [expected], "{outcome}, slow {slow}: {seen:?}");
            assert!(!seen.contains_key("leases.waiters lease"), "{outcome}, slow {slow}: {seen:?}");
            let stood = ["waited out", "cancelled", "revoked"].contains(&outcome);
            let positions = seen.get("leases.line.position lease").copied();
            assert_eq!(positions, stood.then_some(1), "{outcome}, slow {slow}: {seen:?}");
            drop(held);
        }
    }
}

/// Polls a future one time, and lets others run.
async fn polled_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    let polled = std::future::poll_fn(|context| {
        std::task::Poll::Ready(std::pin::Pin::new(&mut future).poll(context))
    });
    let polled = polled.await;
    tokio::task::yield_now().await;
    match polled {
        std::task::Poll::Ready(answer) => Some(answer),
        std::task::Poll::Pending => None,
    }
}

#[tokio::test]
async fn a_waiter_is_counted_while_it_waits() {
    let measured = Measured::at_once();
    let mut held = measured.leases.lease("a").unwrap().acquire().await.unwrap();
    let waits = measured.leases.lease("a").unwrap().wait(Wait::Forever);
    let waiting = tokio::spawn(async move { waits.acquire().await });
    while measured.leases.inspect(&lease_key("a")).await.unwrap().waiters.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(measured.seen().get("leases.waiters lease"), Some(&1));
    measured.time.advance(250 * MS);
    held.release().await.unwrap();
    let next = waiting.await.unwrap().unwrap();
    let seen = measured.seen();
    assert_eq!(seen.get("leases.waiters lease"), Some(&-1), "{seen:?}");
    assert_eq!(seen.get("leases.acquires lease granted"), Some(&1), "{seen:?}");
    drop(next);
}

/// What a runtime takes with it is held and waited for no more.
#[test]
fn gauges_are_at_zero_when_a_runtime_has_ended() {
    let measured = Measured::slow();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let leases = measured.leases.clone();
    runtime.block_on(async {
        let held = leases.lease("a").unwrap().keep_alive().acquire().await.unwrap();
        let permit = leases.semaphore("a", 1).unwrap().acquire().await.unwrap();
        let waits = leases.lease("a").unwrap().wait(Wait::Forever);
        tokio::spawn(async move {
            let _kept = (held, permit);
            drop(waits.acquire().await);
        });
        while leases.inspect(&lease_key("a")).await.unwrap().waiters.is_empty() {
            tokio::task::yield_now().await;
        }
    });
    drop(runtime);
    let seen = measured.seen();
    let gauges = ["leases.holds lease", "leases.holds semaphore", "leases.waiters lease"];
    assert!(gauges.iter().all(|gauge| !seen.contains_key(*gauge)), "{seen:?}");
    assert_eq!(seen.get("leases.acquires lease cancelled"), Some(&1), "{seen:?}");
    assert!(seen.get("leases.give_backs given-up") >= Some(&1), "{seen:?}");
}

#[tokio::test]
async fn guards_batches_and_calls_are_counted() {
    let measured = Measured::slow();
    let guard = measured.leases.guard("a").unwrap();
    let fence = |number| Fence::new(number).unwrap();
    let stale = Verdict::Stale(fence(5));
    for (number, verdict) in [(5, Verdict::Admitted), (5, Verdict::Admitted), (4, stale)] {
        assert_eq!(guard.admit(fence(number)).await.unwrap(), verdict);
    }
    measured.backend.always(Fault::LoseReply);
    guard.admit(fence(6)).await.unwrap_err();
    measured.backend.always(Fault::Fail);
    guard.admit(fence(6)).await.unwrap_err();
    measured.backend.always(Fault::None);
    let expected = of(&[
        ("leases.guard.verdicts admitted", 2),
        ("leases.guard.verdicts stale", 1),
        ("leases.guard.verdicts none", 2),
        ("leases.backend.duration admit", 5),
        ("leases.backend.errors admit no", 1),
        ("leases.backend.errors admit unknown", 1),
    ]);
    assert_eq!(measured.seen(), expected);

    let request = measured.leases.lease("a").unwrap().ttl(3 * SECOND).keep_alive();
    let held = request.acquire().await.unwrap();
    measured.seen();
    measured.time.advance(SECOND);
    let mut seen = Seen::new();
    while !seen.contains_key("leases.refresh.batches confirmed") {
        tokio::task::yield_now().await;
        seen.extend(measured.seen());
    }
    assert_eq!(seen.get("leases.refresh.batch.size"), Some(&1), "{seen:?}");
    assert_eq!(seen.get("leases.backend.duration refresh"), Some(&1), "{seen:?}");
    drop(held);
    while !seen.contains_key("leases.give_backs done") {
        tokio::task::yield_now().await;
        seen.extend(measured.seen());
    }
}

/// The table of the documentation is what is registered: names, types, units, label names and values.
#[test]
fn the_documentation_tells_of_every_metric() {
    let documented = include_str!("../../docs/metrics.md");
    let table = documented
        .lines()
        .filter(|line| line.starts_with("| `leases.") && line.matches('|').count() == 6);
    let cell =
        |line: &str, at: usize| line.split('|').nth(at).unwrap_or_default().trim().replace('`', "");
    let rows: BTreeMap<String, [String; 3]> = table
        .map(|line| {
            let labels = cell(line, 4);
            let labels = labels.split(',').map(|label| label.split(':').next().unwrap_or(""));
            let labels = labels.map(str::trim).filter(|label| LABELS.contains(label));
            let labels = labels.collect::<Vec<_>>().join(" ");
            (cell(line, 1), [cell(line, 2), cell(line, 3), labels])
        })
        .collect();
    let measured = Measured::at_once();
    let mut registered = BTreeMap::new();
    for (key, unit, what, _) in measured.snapshots.snapshot().into_vec() {
        let kind = match key.kind() {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let unit = unit.expect("described").as_str().replace("count", "");
        assert!(what.is_some_and(|what| !what.is_empty()), "{key:?}");
        let labels: Vec<&str> = key.key().labels().map(|label| label.key()).collect();
        for label in key.key().labels() {
            let value = format!("`{}`", label.value());
            assert!(documented.contains(&value), "{value} of {}", key.key().name());
        }
        let row = [kind.to_owned(), unit, labels.join(" ")];
        let before = registered.insert(key.key().name().to_owned(), row.clone());
        assert!(before.is_none_or(|before| before == row), "{key:?}");
    }
    assert_eq!(rows, registered);
}

const LABELS: [&str; 6] = ["kind", "outcome", "reason", "verdict", "operation", "applied"];
