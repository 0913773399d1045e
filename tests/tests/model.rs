//! Random lists of operations, with a clock that moves between them, on a backend and on the model
//! that is written for nothing but to be read.

use std::sync::Arc;
use std::time::Duration;

use leases::spec::{Answer, Ask, Mode};
use leases::{
    Backend, Extend, HolderId, Key, Kind, Limit, ManualClock, MaxHold, Name, Owner, Refresh, Ttl,
    TtlBounds,
};
use leases_tests::model::Model;
use leases_tests::world::memory;
use proptest::prelude::*;

/// Few keys, holders and owners, so that they meet.
const KEYS: [(Kind, &str); 3] =
    [(Kind::Lease, "a"), (Kind::Semaphore, "a"), (Kind::Semaphore, "b")];

#[derive(Debug, Clone)]
enum Step {
    Ask {
        key: usize,
        holder: u8,
        limit: u32,
        owner: Option<u8>,
        ttl: u64,
        max: Option<u64>,
        wait: bool,
    },
    Refresh {
        key: usize,
        holder: u8,
        ttl: u64,
    },
    Release {
        key: usize,
        holder: u8,
    },
    Leave {
        key: usize,
        holder: u8,
    },
    Revoke {
        key: usize,
        slot: Option<u32>,
    },
    Pass {
        millis: u64,
    },
}

fn step(holders: u8, limit_max: u32) -> impl Strategy<Value = Step> {
    let key = 0..KEYS.len();
    let owner = prop::option::weighted(0.2, 0..3_u8);
    let ask = (
        (key.clone(), 0..holders, 1..=limit_max, owner),
        (10..3000_u64, prop::option::weighted(0.2, 10..5000_u64), prop::bool::weighted(0.7)),
    );
    prop_oneof![
        6 => ask.prop_map(|((key, holder, limit, owner), (ttl, max, wait))| {
            Step::Ask { key, holder, limit, owner, ttl, max, wait }
        }),
        2 => (key.clone(), 0..holders, 10..3000_u64)
            .prop_map(|(key, holder, ttl)| Step::Refresh { key, holder, ttl }),
        3 => (key.clone(), 0..holders).prop_map(|(key, holder)| Step::Release { key, holder }),
        1 => (key.clone(), 0..holders).prop_map(|(key, holder)| Step::Leave { key, holder }),
        1 => (key, prop::option::of(0..limit_max))
            .prop_map(|(key, slot)| Step::Revoke { key, slot }),
        4 => (0..1500_u64).prop_map(|millis| Step::Pass { millis }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn memory_does_what_the_model_does(steps in prop::collection::vec(step(8, 4), 1..80)) {
        compare(&steps);
    }

    /// Enough slots that they are found through an index.
    #[test]
    fn memory_does_what_the_model_does_with_many_slots(
        steps in prop::collection::vec(step(60, 40), 100..300),
    ) {
        compare(&steps);
    }
}

fn compare(steps: &[Step]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let time = ManualClock::new();
    let pair = Pair { backend: Arc::new(memory(&time)), time, models: Default::default() };
    runtime.block_on(pair.run(steps));
}

struct Pair {
    backend: Arc<dyn Backend>,
    time: ManualClock,
    models: [Model; KEYS.len()],
}

impl Pair {
    async fn run(mut self, steps: &[Step]) {
        for step in steps {
            self.step(step).await;
            self.same_view().await;
        }
    }

    async fn step(&mut self, step: &Step) {
        let now = self.time.clock().timestamp();
        let (backend, models) = (&self.backend, &mut self.models);
        match *step {
            Step::Pass { millis } => self.time.advance(Duration::from_millis(millis)),
            Step::Release { key: at, holder } => {
                let released = backend.release(&key(at), id(holder)).await.unwrap();
                assert_eq!(released, models[at].release(id(holder), now));
            }
            Step::Leave { key: at, holder } => {
                backend.leave(&key(at), id(holder)).await.unwrap();
                models[at].leave(id(holder), now);
            }
            Step::Revoke { key: at, slot } => {
                let revoked = backend.revoke(&key(at), slot).await.unwrap();
                assert_eq!(revoked, models[at].revoke(slot, now));
            }
            Step::Refresh { key: at, holder, ttl: millis } => {
                let extend = Extend::Hold(ttl(millis));
                let batch = [Refresh { key: key(at), holder: id(holder), extend }];
                let answers = backend.refresh(&batch).await.unwrap();
                assert_eq!(answers, [models[at].refresh(id(holder), ttl(millis), now)]);
            }
            Step::Ask { key: at, .. } => {
                let ask = ask(step);
                let answer = backend.ask(&ask).await.unwrap();
                same_answer(answer, models[at].ask(&ask, now));
            }
        }
    }

    async fn same_view(&mut self) {
        let now = self.time.clock().timestamp();
        for (at, model) in self.models.iter_mut().enumerate() {
            let view = self.backend.inspect(&key(at)).await.unwrap();
            let holders: Vec<_> =
                view.holders.iter().map(|held| (held.slot, held.fence.as_u64())).collect();
            assert_eq!((holders, view.waiters.len()), model.view(now));
        }
    }
}

/// The same, but that a backend may tell a waiter to ask again before the exact moment.
fn same_answer(backend: Answer, model: Answer) {
    let near = |told: Duration, exact: Duration| {
        assert!(told > Duration::ZERO, "{backend:?} makes its waiter spin");
        assert!(told <= exact, "{backend:?} lets its waiter sleep past {model:?}");
    };
    match (backend, model) {
        (
            Answer::Waiting { position, retry_in },
            Answer::Waiting { position: place, retry_in: exact },
        ) => {
            assert_eq!(position, place);
            near(retry_in, exact);
        }
        (Answer::Busy { retry_in }, Answer::Busy { retry_in: exact }) => near(retry_in, exact),
        (backend, model) => assert_eq!(backend, model),
    }
}

fn key(at: usize) -> Key {
    let (kind, name) = KEYS[at];
    Key { kind, name: Name::new(name).unwrap() }
}

fn id(holder: u8) -> HolderId {
    HolderId::from_bytes([holder; 16])
}

fn ttl(millis: u64) -> Ttl {
    Ttl::new(Duration::from_millis(millis), TtlBounds::default()).unwrap()
}

fn ask(step: &Step) -> Ask {
    let Step::Ask { key: at, holder, limit, owner, ttl: millis, max, wait } = *step else {
        unreachable!("called for asks")
    };
    let max_hold = |millis| MaxHold::new(Duration::from_millis(millis), TtlBounds::default());
    let limit = if KEYS[at].0 == Kind::Lease { 1 } else { limit };
    Ask {
        key: key(at),
        limit: Limit::new(limit).unwrap(),
        holder: id(holder),
        owner: owner.map(|owner| Owner::new(format!("owner {owner}")).unwrap()),
        ttl: ttl(millis),
        max_hold: max.map(|millis| max_hold(millis).unwrap()),
        note: None,
        mode: match wait {
            true => Mode::Wait { patience: Duration::from_secs(3) },
            false => Mode::Once,
        },
    }
}
