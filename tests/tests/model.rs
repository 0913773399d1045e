//! Random lists of operations, with a clock that moves between them, on a backend and on the model
//! that is written for nothing but to be read.

use std::sync::Arc;

use leases::{Backend, ManualClock};
use leases_tests::compare::compare;
use leases_tests::faults::Remote;
use leases_tests::steps::{Asked, Extend, Extended, KEYS, Mix, Step, step};
use leases_tests::world::memory;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Runtime;

const FEW: Mix = Mix { keys: 0..KEYS.len(), holders: 8, limit_max: 4, pass_max: 1500 };

/// Enough slots that they are found through an index.
const MANY: Mix = Mix { holders: 60, limit_max: 40, ..FEW };

/// One line, of different limits, that is left alone for so long that calls are missed.
const MISSED: Mix = Mix { keys: 1..2, holders: 6, limit_max: 3, pass_max: 2500 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn memory_does_what_the_model_does(steps in prop::collection::vec(step(&FEW), 1..80)) {
        on_memory(&steps);
    }

    #[test]
    fn memory_does_what_the_model_does_with_many_slots(
        steps in prop::collection::vec(step(&MANY), 100..300),
    ) {
        on_memory(&steps);
    }
}

proptest! {
    // It takes some luck to miss a call, and then to ask in time for what it hinders.
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn memory_does_what_the_model_does_where_calls_are_missed(
        steps in prop::collection::vec(step(&MISSED), 1..80),
    ) {
        on_memory(&steps);
    }
}

fn on_memory(steps: &[Step]) {
    let time = ManualClock::new();
    runtime().block_on(compare(Arc::new(memory(&time)), &time, steps));
}

/// One server for many lists, one after the other.
#[test]
fn a_server_does_what_the_model_does() {
    let (runtime, time) = (runtime(), ManualClock::new());
    let server: Arc<dyn Backend> = Arc::new(Remote::new(time.clock()));
    let mut runner = TestRunner::new(ProptestConfig::with_cases(16));
    let lists = prop::collection::vec(step(&FEW), 1..80);
    let compared = runner.run(&lists, |steps| {
        runtime.block_on(compare(Arc::clone(&server), &time, &steps));
        Ok(())
    });
    compared.unwrap();
}

/// Lists that told a backend of rules since mended from the model.
#[test]
fn memory_does_what_the_model_does_where_it_once_did_not() {
    let once = |holder| asks(holder, Asked { patience: None, ..ASKED });
    let waits = |holder| asks(holder, ASKED);
    let missed = Step::Pass { millis: 1010 };
    let alive = Extended { key: 1, holder: 1, extend: Extend::Ticket { patience: 3000 } };
    // The head's call is dated when the hold ended, and not when that was found.
    on_memory(&[once(0), waits(1), once(1), missed.clone(), once(2)]);
    on_memory(&[once(1), waits(0), waits(2), missed.clone(), once(3)]);
    // A sign of life is one for a call that was missed too.
    on_memory(&[once(0), waits(1), missed.clone(), Step::Refresh { batch: vec![alive] }, once(2)]);
    // Who could not be admitted when a hold ended was not called then.
    for end in [
        Step::Release { key: 1, holder: 1 },
        Step::Leave { key: 1, holder: 1 },
        Step::Revoke { key: 1, slot: Some(1) },
    ] {
        let of_two = |holder, ttl| asks(holder, Asked { limit: 2, ttl, patience: None, ..ASKED });
        let holds = [of_two(0, 10), of_two(1, 3000), waits(2)];
        on_memory(&[&holds[..], &[missed.clone(), end, once(3)]].concat());
    }
}

const ASKED: Asked = Asked {
    key: 1,
    holder: 0,
    limit: 1,
    owner: None,
    ttl: 10,
    max_hold: None,
    patience: Some(3000),
};

fn asks(holder: u8, asked: Asked) -> Step {
    Step::Ask(Asked { holder, ..asked })
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}
