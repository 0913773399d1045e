//! A backend whose operations fail as they are told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leases::spec::{Answer, Ask, KeyView};
use leases::{
    Applied, Backend, BackendError, Changes, Clock, Cursor, Fence, Hearing, HolderId, Key, Loss,
    NamePattern, Page, Properties, Refresh, Refreshed, Reply, Target, Tell, Verdict, Watch,
};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

/// What happens to one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is applied and answered.
    None,
    /// It surely was not applied, and the caller learns it.
    Fail,
    /// The request is lost: not applied, and the caller can't know.
    LoseRequest,
    /// The reply is lost: applied, and the caller can't know.
    LoseReply,
    /// Nothing ever comes back, and nothing was applied.
    Hang,
    /// Applied at once; the reply comes so much later.
    DelayReply(Duration),
}

/// What the backend saw, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A refresh of this hold was sent.
    RefreshSent(HolderId),
    /// A release, or a leave, of this hold was answered.
    EndAnswered(HolderId),
}

/// A backend whose operations fail as they are told to, or at random from a seed.
#[derive(Debug)]
pub struct Faulty {
    inner: Mutex<Arc<dyn Backend>>,
    clock: Clock,
    plan: Mutex<Plan>,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
enum Plan {
    /// These, one operation each; then the last of them for ever.
    Listed(VecDeque<Fault>),
    /// Any of them, one operation in `one_in`.
    Random { rng: SmallRng, one_in: u32, longest: Duration },
}

#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event>,
    refreshes: u32,
}

impl Faulty {
    /// A backend without a fault, until it is told.
    pub fn new(inner: Arc<dyn Backend>, clock: Clock) -> Self {
        let plan = Mutex::new(Plan::Listed(VecDeque::from([Fault::None])));
        Faulty { inner: Mutex::new(inner), clock, plan, seen: Mutex::default() }
    }

    /// From now on every operation has this fault.
    pub fn always(&self, fault: Fault) {
        self.next(&[fault]);
    }

    /// The next operations have these faults, one each, and all later ones the last.
    pub fn next(&self, faults: &[Fault]) {
        *locked(&self.plan) = Plan::Listed(faults.iter().copied().collect());
    }

    /// From now on one operation in so many has a fault, drawn from this seed; delays are at most
    /// `longest`.
    pub fn random(&self, seed: u64, one_in: u32, longest: Duration) {
        let rng = SmallRng::seed_from_u64(seed);
        *locked(&self.plan) = Plan::Random { rng, one_in, longest };
    }

    /// Forgets everything, as a flushed server does.
    pub fn flush(&self, empty: Arc<dyn Backend>) {
        *locked(&self.inner) = empty;
    }

    /// How many of the listed operations are still to come.
    pub fn still_to_come(&self) -> usize {
        match &*locked(&self.plan) {
            Plan::Listed(faults) => faults.len() - 1,
            Plan::Random { .. } => 0,
        }
    }

    /// What it saw.
    pub fn events(&self) -> Vec<Event> {
        locked(&self.seen).events.clone()
    }

    /// How many round trips refreshed holds.
    pub fn refreshes(&self) -> u32 {
        locked(&self.seen).refreshes
    }

    fn inner(&self) -> Arc<dyn Backend> {
        Arc::clone(&locked(&self.inner))
    }

    fn fault(&self) -> Fault {
        match &mut *locked(&self.plan) {
            Plan::Listed(faults) if faults.len() > 1 => faults.pop_front().unwrap_or(Fault::None),
            Plan::Listed(faults) => faults.front().copied().unwrap_or(Fault::None),
            Plan::Random { rng, one_in, longest } => {
                if !rng.random_ratio(1, *one_in) {
                    return Fault::None;
                }
                let delay = longest.mul_f64(rng.random_range(0.0..1.0));
                let faults = [
                    Fault::Fail,
                    Fault::LoseRequest,
                    Fault::LoseReply,
                    Fault::Hang,
                    Fault::DelayReply(delay),
                ];
                faults[rng.random_range(0..faults.len())]
            }
        }
    }

    /// Runs an operation with the next fault.
    fn with_fault<'a, T, F>(
        &'a self,
        operation: impl FnOnce(Arc<dyn Backend>) -> F + Send + 'a,
    ) -> Reply<'a, T>
    where
        T: Send + 'a,
        F: Future<Output = Result<T, BackendError>> + Send + 'a,
    {
        Reply::new(async move {
            let (inner, fault) = (self.inner(), self.fault());
            match fault {
                Fault::None => operation(inner).await,
                Fault::Fail => Err(unconfirmed(Applied::No)),
                Fault::LoseRequest => Err(unconfirmed(Applied::Unknown)),
                Fault::LoseReply => {
                    operation(inner).await?;
                    Err(unconfirmed(Applied::Unknown))
                }
                Fault::Hang => std::future::pending().await,
                Fault::DelayReply(delay) => {
                    let reply = operation(inner).await;
                    self.clock.sleep_until(self.clock.now().after(delay)).await;
                    reply
                }
            }
        })
    }
}

fn unconfirmed(applied: Applied) -> BackendError {
    BackendError { applied, source: "a fault that the test asked for".into() }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for Faulty {
    fn properties(&self) -> Properties {
        Properties { at_once: false, ..self.inner().properties() }
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        self.with_fault(async move |inner: Arc<dyn Backend>| inner.ask(ask).await)
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        self.with_fault(async move |inner: Arc<dyn Backend>| {
            {
                let mut seen = locked(&self.seen);
                seen.refreshes += 1;
                seen.events.extend(batch.iter().map(|one| Event::RefreshSent(one.holder)));
            }
            inner.refresh(batch).await
        })
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        self.with_fault(async move |inner: Arc<dyn Backend>| {
            let released = inner.release(key, holder).await;
            locked(&self.seen).events.push(Event::EndAnswered(holder));
            released
        })
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.with_fault(async move |inner: Arc<dyn Backend>| {
            let left = inner.leave(key, holder).await;
            locked(&self.seen).events.push(Event::EndAnswered(holder));
            left
        })
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.with_fault(async move |inner: Arc<dyn Backend>| inner.revoke(key, slot).await)
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        Reply::new(async move { self.inner().inspect(key).await })
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        self.with_fault(async move |inner: Arc<dyn Backend>| inner.list(names, after).await)
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.with_fault(async move |inner: Arc<dyn Backend>| inner.admit(target, fence).await)
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.with_fault(async move |inner: Arc<dyn Backend>| inner.current(target).await)
    }

    fn watch(&self, key: &Key, holder: HolderId) -> Watch {
        self.inner().watch(key, holder)
    }

    /// What the backend tells without a fault comes without one.
    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.inner().on_revoked(tell)
    }

    fn changes(&self) -> Changes {
        self.inner().changes()
    }

    fn migrate(&self) -> Reply<'_, u32> {
        self.with_fault(async move |inner: Arc<dyn Backend>| inner.migrate().await)
    }
}
