//! A backend beside the model, operation by operation.

use std::sync::Arc;
use std::time::Duration;

use leases::spec::{Answer, Ask, Mode};
use leases::{
    Backend, HolderId, Key, Limit, ManualClock, MaxHold, Name, Note, Owner, Refresh, Refreshed,
    Timestamp, Ttl, TtlBounds,
};

use crate::model::Model;
use crate::steps::{Asked, Extend, Extended, KEYS, Step, ms};

/// Does these steps on a backend whose clock is `time`, and on the model; panics where they differ.
///
/// Its names are its own: one backend serves any number of lists, one after the other.
pub async fn compare(backend: Arc<dyn Backend>, time: &ManualClock, steps: &[Step]) {
    let list: u64 = rand::random();
    let key = |(kind, name)| Key {
        kind,
        name: Name::new(format!("{name}-{list:016x}")).expect("a name"),
    };
    let mut pair =
        Pair { backend, time: time.clone(), keys: KEYS.map(key), models: Default::default() };
    for step in steps {
        pair.step(step).await;
        pair.same_view(step).await;
    }
}

struct Pair {
    backend: Arc<dyn Backend>,
    time: ManualClock,
    keys: [Key; KEYS.len()],
    models: [Model; KEYS.len()],
}

impl Pair {
    fn now(&self) -> Timestamp {
        self.time.clock().timestamp()
    }

    async fn step(&mut self, step: &Step) {
        let now = self.now();
        let Pair { backend, keys, models, time } = self;
        match step {
            Step::Pass { millis } => time.advance(ms(*millis)),
            Step::Release { key, holder } => {
                let released = backend.release(&keys[*key], id(*holder)).await;
                let model = models[*key].release(id(*holder), now);
                assert_eq!(released.expect("an answer"), model, "{step:?}");
            }
            Step::Leave { key, holder } => {
                backend.leave(&keys[*key], id(*holder)).await.expect("an answer");
                models[*key].leave(id(*holder), now);
            }
            Step::Revoke { key, slot } => {
                let revoked = backend.revoke(&keys[*key], *slot).await;
                let model = models[*key].revoke(*slot, now);
                assert_eq!(revoked.expect("an answer"), model, "{step:?}");
            }
            Step::Refresh { batch } => self.refresh(batch, now).await,
            Step::Ask(asked) => {
                let ask = ask(&keys[asked.key], asked);
                let answer = backend.ask(&ask).await.expect("an answer");
                same_answer(answer, models[asked.key].ask(&ask, now));
            }
        }
    }

    async fn refresh(&mut self, batch: &[Extended], now: Timestamp) {
        let refresh = |Extended { key, holder, extend }: &Extended| Refresh {
            key: self.keys[*key].clone(),
            holder: id(*holder),
            extend: match *extend {
                Extend::Hold { ttl: millis } => leases::Extend::Hold(ttl(millis)),
                Extend::Ticket { patience } => leases::Extend::Ticket { patience: ms(patience) },
            },
        };
        let refreshes: Vec<Refresh> = batch.iter().map(refresh).collect();
        let answers = self.backend.refresh(&refreshes).await.expect("an answer");
        assert_eq!(answers.len(), batch.len());
        for (answer, Extended { key, holder, extend }) in answers.into_iter().zip(batch) {
            let model = &mut self.models[*key];
            let exact = match *extend {
                Extend::Hold { ttl: millis } => model.refresh(id(*holder), ttl(millis), now),
                Extend::Ticket { patience } => model.sign_of_life(id(*holder), ms(patience), now),
            };
            same_refreshed(answer, exact);
        }
    }

    async fn same_view(&self, step: &Step) {
        let now = self.now();
        for (key, model) in self.keys.iter().zip(&self.models) {
            let view = self.backend.inspect(key).await.expect("an answer");
            assert_eq!(view, model.view(now), "{key}, after {step:?}");
        }
    }
}

fn same_answer(backend: Answer, model: Answer) {
    match (backend, model) {
        (
            Answer::Waiting { position, retry_in },
            Answer::Waiting { position: place, retry_in: exact },
        ) => {
            assert_eq!(position, place);
            in_time(retry_in, exact);
        }
        (Answer::Busy { retry_in }, Answer::Busy { retry_in: exact }) => in_time(retry_in, exact),
        (backend, model) => assert_eq!(backend, model),
    }
}

fn same_refreshed(backend: Refreshed, model: Refreshed) {
    match (backend, model) {
        (Refreshed::InLine { retry_in }, Refreshed::InLine { retry_in: exact })
            if !exact.is_zero() =>
        {
            in_time(retry_in, exact);
        }
        (backend, model) => assert_eq!(backend, model),
    }
}

/// A backend may tell a waiter to ask again before the exact moment.
fn in_time(told: Duration, exact: Duration) {
    assert!(told > Duration::ZERO, "its waiter spins, and has {exact:?}");
    assert!(told <= exact, "its waiter sleeps for {told:?}, past {exact:?}");
}

fn id(holder: u8) -> HolderId {
    HolderId::from_bytes([holder; 16])
}

fn ttl(millis: u64) -> Ttl {
    Ttl::new(ms(millis), TtlBounds::default()).expect("a ttl")
}

fn ask(key: &Key, asked: &Asked) -> Ask {
    let Asked { holder, limit, owner, ttl: millis, max_hold, patience, .. } = *asked;
    let max_hold = max_hold.map(|millis| MaxHold::new(ms(millis), TtlBounds::default()));
    // A view shows no holder: it is told by its note, but where there is none.
    let note = (holder % 4 != 3).then(|| Note::new(format!("holder {holder}")));
    Ask {
        key: key.clone(),
        limit: Limit::new(limit).expect("a limit"),
        holder: id(holder),
        owner: owner.map(|owner| Owner::new(format!("owner {owner}")).expect("an owner")),
        ttl: ttl(millis),
        max_hold: max_hold.map(|max_hold| max_hold.expect("a max-hold")),
        note: note.map(|note| note.expect("a note")),
        mode: patience.map_or(Mode::Once, |millis| Mode::Wait { patience: ms(millis) }),
    }
}
