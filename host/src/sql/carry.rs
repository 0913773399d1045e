//! Carrying an operation to its end, whoever waits for it, and one after the other for a holder.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::attempt::Attempt;
use super::error::Failure;
use super::store::{Doing, LATE, Store};
use crate::error::Applied;
use crate::holder::{HolderId, HolderMap};
use crate::wake::Wakes;

/// The first pause before another try; it doubles.
const PAUSE_MIN: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// Carries operations to their end.
///
/// A connection on which a statement was given up is of no use until the database has answered, and
/// what was given up may yet be carried out, after what is sent over another. So no operation is
/// given up: it goes on by itself, within the request timeout, and what comes later about the same
/// holder waits for it.
#[derive(Debug)]
pub(super) struct Carrier {
    store: Arc<dyn Store>,
    wakes: Wakes,
    timeout: Duration,
    flights: Arc<Mutex<Flights>>,
}

#[derive(Debug, Default)]
struct Flights {
    number: u64,
    /// The last operation of each holder that has one under way.
    last: HolderMap<Flight>,
    /// Those that others wait for, by their numbers.
    followed: HashMap<u64, Flight>,
    /// Asks whose end is not known, since when: they may be carried out yet.
    doubtful: HolderMap<Instant>,
}

/// An operation under way.
#[derive(Debug)]
struct Flight {
    number: u64,
    /// Dropped with it: what comes later about the same holder waits for that.
    next: Option<oneshot::Sender<()>>,
}

/// An operation, on what it is about.
pub(super) type Work<Input, T> = for<'a> fn(&'a dyn Store, &'a Input, &'a Attempt) -> Doing<'a, T>;

/// Whether an operation may be sent once more when a connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It answers the same when it is carried out twice.
    Freely,
    /// The second time it would deny what the first did.
    Never,
}

/// What an operation means to the order of those of its holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It needs no order.
    Any,
    /// An ask of this holder.
    Asks(HolderId),
    /// It ends all that this holder asked for.
    Ends(HolderId),
}

impl Carrier {
    pub(super) fn new(store: Arc<dyn Store>, wakes: Wakes, timeout: Duration) -> Self {
        Carrier { store, wakes, timeout, flights: Arc::default() }
    }

    /// Carries out an operation, tells whom it concerns, and returns when it has ended. Dropped
    /// before it was polled, nothing is sent; after that, it goes on.
    ///
    /// Called where a runtime is at hand.
    pub(super) async fn carry<Input, T, A>(
        &self,
        (role, repeat): (Role, Repeat),
        input: Input,
        work: Work<Input, T>,
        then: fn(&Wakes, T) -> A,
    ) -> Result<A, Failure>
    where
        Input: Send + Sync + 'static,
        T: Send + 'static,
        A: Send + 'static,
    {
        let (before, mut landing) = self.take_off(role);
        let Carrier { store, wakes, timeout, .. } = self;
        let (store, wakes, timeout) = (Arc::clone(store), wakes.clone(), *timeout);
        let flight = tokio::spawn(async move {
            let deadline = Instant::now() + timeout;
            if let Some(before) = before
                && timeout_at(deadline, before).await.is_err()
            {
                landing.note(false, false);
                return Err(Failure::NotConnected { within: timeout, last: None });
            }
            let may_come_late = landing.may_come_late();
            let tries = Tries { deadline, timeout, repeat, may_come_late };
            let (result, is_doubtful) = tries.run(&*store, &input, work).await;
            landing.note(is_doubtful, result.is_ok());
            if is_doubtful {
                wakes.wake_all(); // It may have let somebody in.
            }
            result.map(|answer| then(&wakes, answer))
        });
        flight.await.unwrap_or(Err(Failure::Abandoned))
    }

    /// Takes a place behind the last operation of the same holder, which ends when what is answered
    /// here does.
    fn take_off(&self, role: Role) -> (Option<oneshot::Receiver<()>>, Landing) {
        let flights = Arc::clone(&self.flights);
        let mut all = locked(&flights);
        all.number += 1;
        let number = all.number;
        let before = role.holder().and_then(|holder| {
            let mut before = all.last.insert(holder, Flight { number, next: None })?;
            let (next, ended) = oneshot::channel();
            before.next = Some(next);
            all.followed.insert(before.number, before);
            Some(ended)
        });
        drop(all);
        (before, Landing { flights, role, number, is_noted: false })
    }
}

impl Role {
    fn holder(self) -> Option<HolderId> {
        match self {
            Role::Any => None,
            Role::Asks(holder) | Role::Ends(holder) => Some(holder),
        }
    }
}

/// What remains to be done when an operation has ended, or its task was dropped.
struct Landing {
    flights: Arc<Mutex<Flights>>,
    role: Role,
    number: u64,
    /// Whether it is known how it ended.
    is_noted: bool,
}

impl Landing {
    /// Whether an ask of this holder may yet be carried out.
    fn may_come_late(&self) -> bool {
        let Role::Ends(holder) = self.role else { return false };
        locked(&self.flights).doubtful.contains_key(&holder)
    }

    /// Notes whether an ask may yet be carried out, or that what may be is refused from now on.
    fn note(&mut self, is_doubtful: bool, is_confirmed: bool) {
        self.is_noted = true;
        let mut flights = locked(&self.flights);
        match self.role {
            Role::Asks(holder) if is_doubtful => {
                let now = Instant::now();
                flights.doubtful.retain(|_, since| now.duration_since(*since) < LATE);
                flights.doubtful.insert(holder, now);
            }
            Role::Ends(holder) if is_confirmed => drop(flights.doubtful.remove(&holder)),
            _ => {}
        }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        let Some(holder) = self.role.holder() else { return };
        if !self.is_noted {
            self.note(true, false); // Its runtime ended, with it on its way perhaps.
        }
        let mut flights = locked(&self.flights);
        if flights.last.get(&holder).is_some_and(|flight| flight.number == self.number) {
            flights.last.remove(&holder);
        } else {
            flights.followed.remove(&self.number);
        }
    }
}

fn locked(flights: &Mutex<Flights>) -> MutexGuard<'_, Flights> {
    flights.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tries of one operation.
struct Tries {
    deadline: Instant,
    timeout: Duration,
    repeat: Repeat,
    may_come_late: bool,
}

impl Tries {
    /// Tries until it is done, or can't be, or the time is over. Says too whether a try that was
    /// not answered may be carried out yet.
    async fn run<Input, T>(
        self,
        store: &dyn Store,
        input: &Input,
        work: Work<Input, T>,
    ) -> (Result<T, Failure>, bool) {
        let Tries { deadline, timeout: within, repeat, may_come_late } = self;
        let mut is_doubtful = false;
        let mut last = None;
        let mut pause = PAUSE_MIN;
        loop {
            let attempt = Attempt::new(may_come_late);
            let tried = timeout_at(deadline, work(store, input, &attempt)).await;
            let failure = match tried {
                Ok(Ok(answer)) => return (Ok(answer), is_doubtful),
                Ok(Err(failure)) => failure,
                Err(_) => {
                    is_doubtful |= attempt.was_sent();
                    return (Err(out_of_time(within, is_doubtful, last)), is_doubtful);
                }
            };
            let may_be_applied = failure.applied() == Applied::Unknown;
            is_doubtful |= may_be_applied;
            if !failure.is_passing() || may_be_applied && repeat == Repeat::Never {
                return (Err(failure), is_doubtful);
            }
            last = Some(Box::new(failure));
            if timeout_at(deadline, tokio::time::sleep(jittered(pause))).await.is_err() {
                return (Err(out_of_time(within, is_doubtful, last)), is_doubtful);
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

fn out_of_time(within: Duration, is_doubtful: bool, last: Option<Box<Failure>>) -> Failure {
    match is_doubtful {
        true => Failure::NoAnswer { within, last },
        false => Failure::NotConnected { within, last },
    }
}

/// So that those who met do not meet again.
fn jittered(pause: Duration) -> Duration {
    use rand::RngExt as _;
    pause.mul_f64(rand::rng().random_range(0.5..1.0))
}
