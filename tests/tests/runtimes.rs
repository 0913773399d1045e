//! Holds that outlive the runtime in which they were taken.

use std::sync::Arc;
use std::time::Duration;

use leases::{Backend, Lease, Leases, ManualClock};
use leases_tests::faults::{Fault, Faulty};
use leases_tests::world::memory;
use leases_tests::{Door, World, lease};
use tokio::runtime::Runtime;

const SECOND: Duration = Duration::from_secs(1);

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A kept hold whose refresh was under way when its runtime ended.
fn interrupted() -> (World, Leases, Lease) {
    let time = ManualClock::new();
    let backend = Arc::new(Faulty::new(Arc::new(memory(&time)), time.clock()));
    let world = World::in_process(Arc::clone(&backend) as Arc<dyn Backend>, time, Door::Native);
    let leases = world.leases();
    let held = runtime().block_on(async {
        let request = leases.lease("a").unwrap().ttl(SECOND).keep_alive();
        let held = request.acquire().await.unwrap();
        backend.always(Fault::Hang);
        world.settle().await;
        world.pass(SECOND / 3);
        world.settle().await;
        held
    });
    backend.always(Fault::None);
    (world, leases, held)
}

#[test]
fn a_hold_is_released_in_another_runtime() {
    let (_world, _leases, mut held) = interrupted();
    runtime().block_on(async {
        let released = tokio::time::timeout(5 * SECOND, held.release()).await;
        assert!(released.expect("nothing is under way any more").unwrap());
    });
}

#[test]
fn a_hold_is_kept_on_once_the_keeper_runs_in_another_runtime() {
    let (world, leases, held) = interrupted();
    runtime().block_on(async {
        let _other = leases.lease("b").unwrap().keep_alive().acquire().await.unwrap();
        world.pass_slowly(3 * SECOND).await;
        assert_eq!(held.loss(), None);
    });
}

#[test]
fn a_hold_that_is_dropped_between_runtimes_ends() {
    let (world, leases, held) = interrupted();
    drop(held);
    runtime().block_on(async {
        world.pass(SECOND);
        world.until_free(&lease("a")).await;
        leases.close(SECOND).await.unwrap();
    });
}
