//! A backend at the end of a network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use leases::spec::{Answer, Ask, Change, GuardState, KeyState, KeyView, Rules};
use leases::{
    Applied, Backend, BackendError, Changes, Clock, Cursor, Extend, Fence, Hearing, HolderId, Key,
    Loss, NamePattern, Page, Properties, Refresh, Refreshed, Reply, Target, Tell, Timestamp,
    Verdict, Wakes, Watch,
};
use rand::RngExt as _;
use tokio::sync::oneshot;

/// The longest that anything travels.
const TRAVEL_MAX: Duration = Duration::from_micros(300);

/// A server in threads of its own, at the end of ways that take some real time each: requests
/// travel one way, answers another, and wake-ups a third.
///
/// Whatever travels one way arrives in the order in which it was sent. An operation is sent when its
/// reply is polled first, and is applied from then on even if the reply is dropped.
#[derive(Debug)]
pub struct Remote {
    server: Arc<Mutex<Server>>,
    requests: Way,
    answers: Way,
    sent_wakes: Way,
    wakes: Wakes,
}

/// What the server knows.
#[derive(Debug)]
struct Server {
    clock: Clock,
    rules: Rules,
    keys: HashMap<Key, KeyState>,
    guards: HashMap<Target, GuardState>,
}

/// A way on which what is sent arrives in order, each after some time.
#[derive(Debug, Clone)]
struct Way(mpsc::Sender<Arrival>);

/// What happens when it arrives.
type Arrival = Box<dyn FnOnce() + Send>;

impl Way {
    fn new() -> Self {
        let (way, arrivals) = mpsc::channel::<Arrival>();
        // It ends with the last of its senders.
        thread::spawn(move || {
            for arrival in arrivals {
                let micros = rand::rng().random_range(0..=TRAVEL_MAX.as_micros() as u64);
                thread::sleep(Duration::from_micros(micros));
                arrival();
            }
        });
        Way(way)
    }

    fn send(&self, arrival: impl FnOnce() + Send + 'static) {
        self.0.send(Box::new(arrival)).expect("it is open while it has a sender");
    }
}

impl Remote {
    /// A server that nothing is held on, by this clock.
    pub fn new(clock: Clock) -> Self {
        let (rules, keys, guards, wakes) = Default::default();
        let server = Arc::new(Mutex::new(Server { clock, rules, keys, guards }));
        let [requests, answers, sent_wakes] = std::array::from_fn(|_| Way::new());
        Remote { server, requests, answers, sent_wakes, wakes }
    }

    /// Sends an operation when the reply is polled first.
    fn send<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Server, Timestamp) -> Change<T> + Send + 'static,
    ) -> Reply<'_, T> {
        Reply::new(async move {
            let (answer, answered) = oneshot::channel();
            let (server, wakes) = (Arc::clone(&self.server), self.wakes.clone());
            let (answers, sent_wakes) = (self.answers.clone(), self.sent_wakes.clone());
            self.requests.send(move || {
                let Change { answer: answer_, wake } = {
                    let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
                    let now = server.clock.timestamp();
                    operation(&mut server, now)
                };
                sent_wakes.send(move || wakes.wake(&wake));
                // Who dropped the reply is not there to hear it.
                answers.send(move || drop(answer.send(answer_)));
            });
            answered
                .await
                .map_err(|gone| BackendError { applied: Applied::Unknown, source: gone.into() })
        })
    }
}

impl Server {
    fn key(&mut self, key: Key) -> &mut KeyState {
        self.keys.entry(key).or_default()
    }

    fn refresh(&mut self, batch: Vec<Refresh>, now: Timestamp) -> Change<Vec<Refreshed>> {
        let (mut answers, mut wakes) = (Vec::new(), Vec::new());
        let rules = self.rules;
        for Refresh { key, holder, extend } in batch {
            let state = self.key(key);
            let Change { answer, wake } = match extend {
                Extend::Hold(ttl) => state.refresh(holder, ttl, now, &rules),
                Extend::Ticket { patience } => state.sign_of_life(holder, patience, now, &rules),
            };
            answers.push(answer);
            wakes.extend(wake);
        }
        Change { answer: answers, wake: wakes }
    }

    fn admit(&mut self, target: Target, fence: Fence, now: Timestamp) -> Verdict {
        self.guards.entry(target).or_insert(GuardState::first(fence, now)).admit(fence, now)
    }
}

/// An answer that concerns nobody else.
fn told<T>(answer: T) -> Change<T> {
    Change { answer, wake: Vec::new() }
}

impl Backend for Remote {
    fn properties(&self) -> Properties {
        Properties { patience: Duration::from_secs(3), at_once: false }
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        let ask = ask.clone();
        self.send(move |server, now| {
            let rules = server.rules;
            server.key(ask.key.clone()).ask(&ask, now, &rules)
        })
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        let batch = batch.to_vec();
        self.send(move |server, now| server.refresh(batch, now))
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        let key = key.clone();
        self.send(move |server, now| {
            let rules = server.rules;
            server.key(key).release(holder, now, &rules)
        })
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        let key = key.clone();
        self.send(move |server, now| {
            let rules = server.rules;
            server.key(key).leave(holder, now, &rules)
        })
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        let key = key.clone();
        let revoked = self.send(move |server, now| {
            let rules = server.rules;
            server.key(key).revoke(slot, now, &rules)
        });
        Reply::new(async move {
            let revoked = revoked.await?;
            self.wakes.revoked(&revoked);
            Ok(revoked.len() as u32)
        })
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        let key = key.clone();
        self.send(move |server, now| told(server.key(key).view(now)))
    }

    fn list<'a>(&'a self, names: &'a NamePattern, _after: Option<&'a Cursor>) -> Reply<'a, Page> {
        let names = names.clone();
        self.send(move |server, now| {
            let named = |key: &Key| names.matches(key.name.as_str());
            let used = server.keys.iter().filter(|(key, state)| named(key) && state.in_use(now));
            told(Page { keys: used.map(|(key, _)| key.clone()).collect(), next: None })
        })
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        let target = target.clone();
        self.send(move |server, now| told(server.admit(target, fence, now)))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        let target = target.clone();
        self.send(move |server, _| told(server.guards.get(&target).map(GuardState::current)))
    }

    fn watch(&self, _key: &Key, holder: HolderId) -> Watch {
        self.wakes.watch(holder)
    }

    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.wakes.on_revoked(tell)
    }

    fn changes(&self) -> Changes {
        Changes::default()
    }

    fn migrate(&self) -> Reply<'_, u32> {
        Reply::answered(0)
    }
}
