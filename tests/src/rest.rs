//! How it is known that everybody sleeps.

use std::sync::Arc;
use std::time::Duration;

use leases::spec::{Answer, Ask, Mode};
use leases::{Backend, HolderId, Key, Kind, Limit, Name, Ttl, TtlBounds};
use tokio::sync::Mutex;

use crate::counted::Counted;
use crate::setting::RestsBy;
use crate::world::in_time;

/// Longer than a barrier takes, by whatever clock.
const LONG: Duration = Duration::from_secs(60);

/// How it is known that everybody sleeps.
#[derive(Clone)]
pub(crate) struct Rest {
    counted: Arc<Counted>,
    by: RestsBy,
    /// One at a time: barriers are keys that only one uses.
    barriers: Arc<Mutex<()>>,
}

impl Rest {
    pub(crate) fn new(counted: Arc<Counted>, by: RestsBy) -> Self {
        Rest { counted, by, barriers: Arc::default() }
    }

    /// How many operations are in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.counted.in_flight()
    }

    /// Returns when no operation is in flight, every wake-up that was sent has come, and whoever
    /// could run has run.
    pub(crate) async fn reached(&self) {
        match &self.by {
            RestsBy::Turns => take_turns().await,
            RestsBy::Barriers(names) => {
                in_time("everybody sleeps", self.past_barriers(names)).await;
            }
        }
    }

    /// Lets others, and the runtime's I/O, go on before a condition is looked at again.
    pub(crate) async fn go_on(&self) {
        tokio::task::yield_now().await;
        if let RestsBy::Barriers(_) = self.by {
            // Leaves the processor to the server.
            tokio::time::sleep(Duration::from_micros(50)).await;
        }
    }

    async fn past_barriers(&self, names: &[String]) {
        let _alone = self.barriers.lock().await;
        loop {
            take_turns().await;
            let began = self.counted.began();
            self.counted.all_ended().await;
            for name in names {
                pass_barrier(&**self.counted.inner(), name).await;
            }
            take_turns().await;
            if self.counted.in_flight() == 0 && self.counted.began() == began {
                return;
            }
        }
    }
}

/// Lets every task that can run do so, for more turns than any of them takes. On the one thread of
/// a case, and where no operation does I/O, that leaves all of them asleep.
pub async fn take_turns() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// Returns when a wake-up has come that is sent now: those that were sent before, the same way,
/// have come then too.
async fn pass_barrier(backend: &dyn Backend, name: &str) {
    let (holding, waiting) = (ask(name, Mode::Once), ask(name, Mode::Wait { patience: LONG }));
    let key = &holding.key;
    let answer = backend.ask(&holding).await.expect("the backend answers");
    assert!(matches!(answer, Answer::Granted(_)), "{key} is a barrier's alone: {answer:?}");
    let watch = backend.watch(key, waiting.holder);
    let answer = backend.ask(&waiting).await.expect("the backend answers");
    assert!(matches!(answer, Answer::Waiting { .. }), "{key} is held: {answer:?}");
    let released = backend.release(key, holding.holder).await.expect("the backend answers");
    assert_eq!(released, Ok(()), "{key}");
    in_time("a wake-up comes", watch.woken()).await;
    backend.leave(key, waiting.holder).await.expect("the backend answers");
}

fn ask(name: &str, mode: Mode) -> Ask {
    Ask {
        key: Key { kind: Kind::Lease, name: Name::new(name).expect("a name") },
        limit: Limit::ONE,
        holder: HolderId::random(),
        owner: None,
        ttl: Ttl::new(LONG, TtlBounds::default()).expect("a ttl"),
        max_hold: None,
        note: None,
        mode,
    }
}
