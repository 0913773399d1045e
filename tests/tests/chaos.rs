//! Holding while anything may fail at random, from seeds: at no moment do two believe to hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leases::{Backend, Lease, Leases, ManualClock};
use leases_tests::faults::{Fault, Faulty};
use leases_tests::world::memory;
use leases_tests::{Door, World, lease};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

const TTL: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(20);

/// One program: takes the lease, holds it for a while, kept alive or not, and gives it back or
/// drops it. What it holds is where the others' judge can look.
struct Program {
    held: Arc<std::sync::Mutex<Option<Lease>>>,
    ended: Arc<AtomicBool>,
}

impl Program {
    fn start(leases: Leases, time: ManualClock, seed: u64) -> Self {
        let program = Program { held: Arc::default(), ended: Arc::default() };
        let (place, ended) = (Arc::clone(&program.held), Arc::clone(&program.ended));
        tokio::spawn(async move {
            let mut rng = SmallRng::seed_from_u64(seed);
            while !ended.load(Ordering::Relaxed) {
                let request = leases.lease("a").expect("a name").ttl(TTL).wait(5 * TTL);
                let request = if rng.random() { request.keep_alive() } else { request };
                let Ok(lease) = request.acquire().await else { continue };
                *place.lock().expect("no panic") = Some(lease);
                let until = time.clock().now().after(TTL.mul_f64(rng.random_range(0.0..3.0)));
                time.clock().sleep_until(until).await;
                let lease = place.lock().expect("no panic").take();
                if let (Some(mut lease), true) = (lease, rng.random::<bool>()) {
                    let _ = lease.release().await;
                }
            }
        });
        program
    }

    fn believes_to_hold(&self) -> bool {
        self.held.lock().expect("no panic").as_ref().is_some_and(|lease| !lease.is_lost())
    }
}

#[tokio::test]
async fn at_no_moment_do_two_believe_to_hold() {
    let (mut held, mut free) = (0, 0);
    for seed in 0..60 {
        let time = ManualClock::new();
        let backend = Arc::new(Faulty::new(Arc::new(memory(&time)), time.clock()));
        let world =
            World::in_process(Arc::clone(&backend) as Arc<dyn Backend>, time.clone(), Door::Native);
        backend.random(seed, 4, 2 * TTL);
        let programs: Vec<Program> = (0..4)
            .map(|number| Program::start(world.leases(), time.clone(), 100 * seed + number))
            .collect();
        for _ in 0..500 {
            time.advance(STEP);
            world.settle().await;
            let holding = programs.iter().filter(|program| program.believes_to_hold()).count();
            assert!(holding <= 1, "seed {seed}: {holding} believe to hold");
            held += holding;
            free += 1 - holding;
        }
        backend.always(Fault::None);
        for program in &programs {
            program.ended.store(true, Ordering::Relaxed);
        }
        for _ in 0..1000 {
            time.advance(STEP);
            world.settle().await;
        }
        let waits = format!("seed {seed}: nothing stays behind");
        world.until(&waits, async || world.view(&lease("a")).await.holders.is_empty()).await;
        assert_eq!(world.view(&lease("a")).await.waiters.len(), 0, "seed {seed}");
    }
    assert!(held > 1000 && free > 1000, "both are seen: held {held}, free {free}");
}
