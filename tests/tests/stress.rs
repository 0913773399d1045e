//! Many tasks on many threads by the machine's clock: what is exclusive stays so, nobody is
//! forgotten in line, and nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use leases::spec::KeyView;
use leases::{ErrorKind, Key, Kind, Leases, Name, Wait};
use rand::RngExt as _;

const TASKS: usize = 24;
const RUNS: u32 = 300;

/// Fails a test instead of letting it hang: far longer than any waiter may sleep.
const STUCK: Duration = Duration::from_secs(60);

fn micros(max: u64) -> Duration {
    Duration::from_micros(rand::rng().random_range(0..=max))
}

async fn pause() {
    let how = rand::rng().random_range(0..4);
    match how {
        0 => tokio::time::sleep(micros(2000)).await,
        1 => tokio::task::yield_now().await,
        _ => {}
    }
}

async fn all_done(tasks: Vec<tokio::task::JoinHandle<()>>) {
    let all = async {
        for task in tasks {
            task.await.expect("no task panics");
        }
    };
    tokio::time::timeout(STUCK, all).await.expect("nobody is forgotten in line");
}

async fn assert_free(leases: &Leases, kind: Kind, name: &str) {
    let key = Key { kind, name: Name::new(name).unwrap() };
    assert_eq!(leases.inspect(&key).await.unwrap(), KeyView::default());
}

/// A plain counter under a lease, read and written apart: no step is lost. Some waiters are
/// cancelled at any moment, some handles are dropped and some released.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_counter_under_a_lease_loses_no_step() {
    let leases = Leases::memory();
    let (counter, steps) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let task = || {
        let (leases, counter, steps) = (leases.clone(), Arc::clone(&counter), Arc::clone(&steps));
        tokio::spawn(async move {
            let mut fence = None;
            for run in 0..RUNS {
                let request = leases.lease("counter").unwrap().wait(Wait::Forever);
                let held = if run % 3 == 0 {
                    tokio::time::timeout(micros(3000), request.acquire()).await.ok()
                } else {
                    Some(request.acquire().await)
                };
                let Some(held) = held else { continue };
                let mut held = held.expect("memory always answers");
                let read = counter.load(Ordering::Relaxed);
                pause().await;
                counter.store(read + 1, Ordering::Relaxed);
                steps.fetch_add(1, Ordering::Relaxed);
                assert!(fence < Some(held.fence()), "fences grow");
                fence = Some(held.fence());
                if run % 2 == 0 {
                    assert!(held.release().await.unwrap());
                }
            }
        })
    };
    all_done((0..TASKS).map(|_| task()).collect()).await;
    assert_eq!(counter.load(Ordering::Relaxed), steps.load(Ordering::Relaxed));
    assert_free(&leases, Kind::Lease, "counter").await;
}

/// Asks under limits of 1 to 5 on one name: none is admitted beside as many as its own limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mixed_limits_are_each_kept() {
    let leases = Leases::memory();
    let inside = Arc::new(AtomicU32::new(0));
    let task = |limit: u32| {
        let (leases, inside) = (leases.clone(), Arc::clone(&inside));
        tokio::spawn(async move {
            for run in 0..RUNS {
                let request = leases.semaphore("places", limit).unwrap().wait(Wait::Forever);
                let held = if run % 3 == 0 {
                    tokio::time::timeout(micros(3000), request.acquire()).await.ok()
                } else {
                    Some(request.acquire().await)
                };
                let Some(held) = held else { continue };
                let mut held = held.expect("memory always answers");
                assert!(held.slot() < limit);
                // Those who came before this one's grant and are inside still.
                let beside = inside.fetch_add(1, Ordering::SeqCst);
                assert!(beside < 5, "{beside} beside one more, under limits of at most 5");
                if limit == 5 {
                    pause().await;
                }
                inside.fetch_sub(1, Ordering::SeqCst);
                assert!(held.release().await.unwrap());
            }
        })
    };
    all_done((0..TASKS).map(|at| task(at as u32 % 5 + 1)).collect()).await;
    assert_free(&leases, Kind::Semaphore, "places").await;
}

/// Holds that end by themselves, with handles kept beyond their end: everybody gets a turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ends_by_themselves_leave_nobody_waiting() {
    let leases = Leases::memory();
    let task = || {
        let leases = leases.clone();
        tokio::spawn(async move {
            let mut kept = Vec::new();
            for run in 0..10 {
                let ttl = Duration::from_millis(10) + micros(5000);
                let request = leases.lease("short").unwrap().ttl(ttl).wait(Wait::Forever);
                let held = request.acquire().await.expect("memory always answers");
                if run % 2 == 0 {
                    kept.push(held);
                }
            }
        })
    };
    let started = Instant::now();
    all_done((0..TASKS).map(|_| task()).collect()).await;
    // 120 turns of at most 15 ms, one after the other, and as much again for a busy machine.
    let took = started.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}: somebody slept past an end");
    let late = leases.lease("short").unwrap().wait(Duration::from_secs(1)).acquire().await;
    assert!(late.map_err(|error| error.kind() == &ErrorKind::NotAcquired).is_ok());
}
