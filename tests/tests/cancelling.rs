//! Futures that are dropped while they wait: nothing stays behind.

use std::sync::Arc;
use std::time::Duration;

use leases::{Backend, Leases, ManualClock};
use leases_tests::faults::Slow;
use leases_tests::trouble::cancelled_after;
use leases_tests::world::memory;
use leases_tests::{Actor, Ask, Door, Held, World, lease, wasm};

fn slow(door: Door) -> (World, Arc<Slow>) {
    let time = ManualClock::new();
    let slow = Arc::new(Slow::new(Arc::new(memory(&time)), 3));
    (World::in_process(Arc::clone(&slow) as Arc<dyn Backend>, time, door), slow)
}

/// What a run of cancelling at every await point went through.
#[derive(Debug, Default)]
struct Seen {
    cancelled: u32,
    held: u32,
}

/// Cancels after 0, 1, 2, … polls, until it is held before it is cancelled; then again.
async fn cancel_everywhere(world: &World, ask: &Ask, runs: u32) -> Seen {
    let mut seen = Seen::default();
    let mut kept: Vec<Actor> = Vec::new();
    let mut polls = 0;
    for _ in 0..runs {
        let actor = world.actor().await;
        match cancelled_after(polls, actor.acquire(ask.clone())).await {
            None => {
                seen.cancelled += 1;
                polls += 1;
            }
            Some(ended) => {
                seen.held += 1;
                polls = 0;
                ended.expect("it is free").release().await.expect("the backend answers");
            }
        }
        // A guest's store is kept: what it asked for must be gone all the same.
        kept.push(actor);
        world.until_free(ask).await;
        drop(
            world
                .leases()
                .lease(ask_name(ask))
                .unwrap()
                .try_acquire()
                .await
                .unwrap()
                .expect("free"),
        );
        world.until_free(ask).await;
    }
    seen
}

fn ask_name(ask: &Ask) -> String {
    leases_tests::world::key(ask).name.to_string()
}

/// Case A1 (and A2, P1: also while the grant is on its way), on a free name.
#[tokio::test]
async fn a1_cancelled_at_every_await_point_nothing_stays() {
    let (world, _) = slow(Door::Native);
    let seen = cancel_everywhere(&world, &lease("a").waiting(), 1000).await;
    assert!(seen.cancelled > 700 && seen.held > 50, "{seen:?}");
}

/// Case A1 through a guest whose call is dropped and whose store is kept.
#[tokio::test]
async fn a1_cancelled_at_every_await_point_of_a_guests_call_nothing_stays() {
    let (world, _) = slow(Door::Wasm(wasm::Program::load()));
    let seen = cancel_everywhere(&world, &lease("a").waiting(), 1000).await;
    assert!(seen.cancelled > 700 && seen.held > 50, "{seen:?}");
}

/// Case A1 in line: somebody holds the name and releases it while the waiter is being cancelled.
#[tokio::test]
async fn a1_cancelled_in_line_at_every_await_point_nothing_stays() {
    let (world, _) = slow(Door::Native);
    let ask = lease("a").waiting();
    let mut cancelled = 0;
    for run in 0..1000_u32 {
        let (polls, released_after) = (run % 40, run / 40);
        let holder: Held = world.actor().await.take(ask.clone()).await;
        let release = tokio::spawn(async move {
            for _ in 0..released_after {
                tokio::task::yield_now().await;
            }
            holder.release().await.expect("the backend answers");
        });
        let actor = world.actor().await;
        match cancelled_after(polls, actor.acquire(ask.clone())).await {
            None => cancelled += 1,
            Some(ended) => ended.expect("it comes free").forget().await,
        }
        release.await.unwrap();
        world.until_free(&ask).await;
    }
    assert!(cancelled > 100, "{cancelled}");
}

/// Case A6: waiters do not poll in a tight loop: over ten seconds a hundred of them tell that they
/// are alive, in batches.
#[tokio::test]
async fn a6_waiters_ask_for_their_signs_of_life_alone() {
    let (world, slow) = slow(Door::Native);
    let ask = lease("a");
    let _held = world.actor().await.take(ask.clone()).await;
    let mut waiters = vec![world.in_line(&ask.clone().waiting()).await];
    let over_ten_seconds = async || {
        let before = slow.round_trips();
        for _ in 0..1000 {
            world.pass(Duration::from_millis(10));
            world.settle().await;
        }
        slow.round_trips() - before
    };
    let alone = over_ten_seconds().await;
    assert!((9..=16).contains(&alone), "{alone} round trips of one, with a patience of three");
    let leases = world.leases();
    for _ in 0..100 {
        let leases = leases.clone();
        let request = leases.lease("a").unwrap().wait(leases::Wait::Forever);
        waiters.push(leases_tests::world::acquiring_with(request));
    }
    world.settle().await;
    let together = over_ten_seconds().await;
    assert!(together <= alone * 5, "{together} round trips of a hundred");
    for waiter in waiters {
        assert!(!waiter.is_finished());
        waiter.cancel().await;
    }
}

/// A handle that is dropped where no runtime is, is given back all the same.
#[test]
fn a_hold_can_be_dropped_outside_a_runtime() {
    let leases = Leases::memory();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let held = runtime.block_on(async { leases.lease("a").unwrap().acquire().await.unwrap() });
    drop(runtime);
    drop(held);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let again = runtime.block_on(async { leases.lease("a").unwrap().try_acquire().await.unwrap() });
    assert!(again.is_some());
}

/// The task that gives back ends with its runtime; the next runtime gets one of its own.
#[test]
fn what_gives_back_outlives_a_runtime() {
    let time = ManualClock::new();
    let backend = Arc::new(Slow::new(Arc::new(memory(&time)), 1));
    let world = World::in_process(backend, time, Door::Native);
    let ask = lease("a");
    let leases = world.leases();
    for _ in 0..3 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            drop(leases.lease("a").unwrap().try_acquire().await.unwrap().expect("free"));
            world.until_free(&ask).await;
        });
    }
}
