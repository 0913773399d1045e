//! Refreshing what is kept alive, and telling that waiters are: one task, one round trip for all
//! that is due.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::RngExt as _;
use tokio::sync::{Notify, oneshot};

use super::hand_over::HandOver;
use super::leases::Shared;
use super::vitals::{Refreshing, Vitals};
use crate::backend::{Extend, Refresh, Refreshed};
use crate::clock::Moment;
use crate::error::Applied;
use crate::holder::HolderId;
use crate::name::Key;
use crate::terms::Ttl;

/// The most holds that are refreshed in one round trip.
const BATCH_MAX: usize = 1000;
/// The least pause after a refresh that was not confirmed.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// Refreshes kept holds at a third of their ttl, until they are stopped or lost, and carries the
/// waiters' signs of life with them.
///
/// A refresh that was not confirmed says nothing: it is tried again, after longer and longer
/// pauses, until the hold's own deadline.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    holds: Mutex<Holds>,
    /// Told of a hold that is due before all others, and of the last one's end.
    earlier: Notify,
    /// Told of every batch that ended.
    batch_ended: Notify,
}

#[derive(Debug, Default)]
struct Holds {
    kept: HashMap<HolderId, Kept>,
    due: BTreeSet<(Moment, HolderId)>,
    signs: Vec<Sign>,
    running: bool,
}

/// A waiter's sign of life on its way.
#[derive(Debug)]
struct Sign {
    refresh: Refresh,
    /// It goes out by then, alone if nothing else does.
    by: Moment,
    answer: oneshot::Sender<Refreshed>,
}

#[derive(Debug)]
struct Kept {
    vitals: Arc<Vitals>,
    state: State,
    /// How many refreshes in a row were not confirmed.
    unconfirmed: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Refreshed at this moment, or a little before with others.
    Due(Moment),
    /// In the batch that is under way.
    Refreshing,
    /// In the batch that is under way, and given up by its handle.
    Stopping,
}

impl Kept {
    fn ttl(&self) -> Ttl {
        self.vitals.of.ttl
    }
}

/// What is under way.
#[derive(Debug, Default)]
struct Batch {
    /// The holds', then the signs of life.
    refreshes: Vec<Refresh>,
    sent: Vec<Refreshing>,
    signs: Vec<oneshot::Sender<Refreshed>>,
}

impl Keeper {
    /// Keeps a hold. Called where a runtime is at hand; a task that ended with its runtime is
    /// replaced.
    pub(super) fn keep(&self, shared: &Arc<Shared>, vitals: Arc<Vitals>) {
        let HandOver { holder, ttl, .. } = vitals.of;
        let due = shared.clock.now().after(jittered(ttl.as_duration() / 3));
        let mut holds = self.holds();
        let earliest = holds.next();
        holds.due.insert((due, holder));
        let state = State::Due(due);
        holds.kept.insert(holder, Kept { vitals, state, unconfirmed: 0 });
        self.run(shared, &mut holds, earliest, due);
    }

    /// Has the backend told that a waiter is alive, within a quarter of the time that a ticket may
    /// be silent for; answers what it said, or nothing when it did not confirm.
    pub(super) fn sign_of_life(
        &self,
        shared: &Arc<Shared>,
        key: &Key,
        holder: HolderId,
    ) -> oneshot::Receiver<Refreshed> {
        let (answer, answered) = oneshot::channel();
        let patience = shared.properties.patience;
        let by = shared.clock.now().after(patience / 12);
        let refresh = Refresh { key: key.clone(), holder, extend: Extend::Ticket { patience } };
        let mut holds = self.holds();
        let earliest = holds.next();
        holds.signs.push(Sign { refresh, by, answer });
        self.run(shared, &mut holds, earliest, by);
        answered
    }

    /// Makes sure that the task runs, and knows of something due before `earliest`.
    fn run(&self, shared: &Arc<Shared>, holds: &mut Holds, earliest: Option<Moment>, due: Moment) {
        if !holds.running {
            holds.running = true;
            tokio::spawn(keep_all(Running(Arc::clone(shared))));
        } else if earliest.is_none_or(|earliest| due < earliest) {
            self.earlier.notify_one();
        }
    }

    /// Stops refreshing a hold, and returns when no refresh of it is under way.
    ///
    /// # Cancellation
    /// It is stopped all the same; who drops the hold then asks [`stops_later`](Self::stops_later).
    pub(super) async fn stop(&self, holder: HolderId) {
        loop {
            let ended = self.batch_ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            let refreshing = {
                let mut holds = self.holds();
                let state = holds.kept.get(&holder).map(|kept| kept.state);
                let refreshing = state == Some(State::Refreshing);
                if !refreshing {
                    self.remove(&mut holds, holder);
                }
                refreshing
            };
            if !refreshing {
                return;
            }
            ended.await;
        }
    }

    /// Stops refreshing a hold whose handle was dropped; says whether a refresh of it is under way,
    /// after which the keeper gives it back.
    pub(super) fn stops_later(&self, holder: HolderId) -> bool {
        let mut holds = self.holds();
        match holds.kept.get_mut(&holder) {
            Some(kept) if kept.state == State::Refreshing => {
                kept.state = State::Stopping;
                true
            }
            _ => {
                self.remove(&mut holds, holder);
                false
            }
        }
    }

    fn remove(&self, holds: &mut Holds, holder: HolderId) {
        let Some(kept) = holds.kept.remove(&holder) else { return };
        if let State::Due(due) = kept.state {
            holds.due.remove(&(due, holder));
        }
        if holds.is_empty() {
            self.earlier.notify_one(); // The task has nothing to sleep for.
        }
    }

    fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holds {
    fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.signs.is_empty()
    }

    /// When something is due next.
    fn next(&self) -> Option<Moment> {
        let due = self.due.first().map(|(due, _)| *due);
        let by = self.signs.first().map(|sign| sign.by);
        due.into_iter().chain(by).min()
    }

    /// Takes what is due, and what would be soon; and with it every sign of life. What was lost is
    /// kept no longer.
    fn take_due(&mut self, now: Moment) -> Batch {
        let mut batch = self.take_due_holds(now);
        let signs_are_due = self.signs.first().is_some_and(|sign| sign.by <= now);
        if signs_are_due || !batch.refreshes.is_empty() {
            let room = BATCH_MAX.saturating_sub(batch.refreshes.len()).min(self.signs.len());
            for Sign { refresh, answer, .. } in self.signs.drain(..room) {
                batch.refreshes.push(refresh);
                batch.signs.push(answer);
            }
        }
        batch
    }

    fn take_due_holds(&mut self, now: Moment) -> Batch {
        let mut batch = Batch::default();
        while batch.refreshes.len() < BATCH_MAX {
            let Some(&(due, holder)) = self.due.first() else { break };
            let Some(kept) = self.kept.get_mut(&holder) else { break };
            // Up to a twelfth of its ttl early: what was taken at about one time stays together.
            if due.since(now) > kept.ttl().as_duration() / 12 {
                break;
            }
            self.due.pop_first();
            match kept.vitals.begin_refresh(kept.ttl()) {
                Ok(refreshing) => {
                    kept.state = State::Refreshing;
                    let key = kept.vitals.of.key.clone();
                    let extend = Extend::Hold(kept.ttl());
                    batch.refreshes.push(Refresh { key, holder, extend });
                    batch.sent.push(refreshing);
                }
                Err(_) => drop(self.kept.remove(&holder)),
            }
        }
        batch
    }
}

/// The task's hold on the keeper: however the task ends, the keeper knows that it has.
struct Running(Arc<Shared>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.keeper.holds().running = false;
    }
}

/// Refreshes until nothing is kept any more.
async fn keep_all(running: Running) {
    let shared = &running.0;
    let keeper = &shared.keeper;
    loop {
        let batch = {
            let mut holds = keeper.holds();
            if holds.is_empty() {
                holds.running = false;
                return;
            }
            holds.take_due(shared.clock.now())
        };
        if batch.refreshes.is_empty() {
            sleep_until_due(shared).await;
        } else {
            refresh(shared, batch).await;
        }
    }
}

async fn sleep_until_due(shared: &Shared) {
    let earlier = shared.keeper.earlier.notified();
    let Some(next) = shared.keeper.holds().next() else { return };
    tokio::select! {
        () = earlier => {}
        () = shared.clock.sleep_until(next) => {}
    }
}

/// Sends one batch and deals with its answer.
async fn refresh(shared: &Shared, batch: Batch) {
    let answered = tokio::select! {
        biased;
        answered = shared.backend.refresh(&batch.refreshes) => answered,
        () = shared.clock.sleep_until(waited_for_until(shared, &batch)) => Ok(Vec::new()),
    };
    let (answers, applied) = answered.map_or_else(
        |error| {
            tracing::debug!(batch = batch.refreshes.len(), ?error, "a refresh was not confirmed");
            (Vec::new(), error.applied)
        },
        |answers| (answers, Applied::Unknown),
    );
    let mut answers = answers.into_iter();
    let given_up = {
        let now = shared.clock.now();
        let mut holds = shared.keeper.holds();
        let sent = batch.refreshes.iter().zip(&batch.sent);
        let over = |(refresh, sent): (&Refresh, &Refreshing)| {
            let given_up = holds.answered(refresh.holder, sent, answers.next(), applied, now);
            given_up.then(|| (refresh.key.clone(), refresh.holder))
        };
        sent.filter_map(over).collect::<Vec<_>>()
    };
    shared.keeper.batch_ended.notify_waiters();
    for (key, holder) in given_up {
        shared.give_back.give_back(&key, holder);
    }
    for (sign, answer) in batch.signs.into_iter().zip(answers) {
        let _ = sign.send(answer); // A waiter that no longer listens is gone.
    }
}

/// How long an answer is waited for: the shortest hold, or ticket, wants another try.
fn waited_for_until(shared: &Shared, batch: &Batch) -> Moment {
    let lasts = |refresh: &Refresh| match refresh.extend {
        Extend::Hold(ttl) => ttl.as_duration(),
        Extend::Ticket { patience } => patience,
    };
    let shortest = batch.refreshes.iter().map(lasts).min().unwrap_or_default();
    shared.clock.now().after(shortest / 6)
}

impl Holds {
    /// Deals with what became of one hold's refresh, nothing if it was not confirmed; says whether
    /// its handle gave it up meanwhile.
    fn answered(
        &mut self,
        holder: HolderId,
        sent: &Refreshing,
        answer: Option<Refreshed>,
        applied: Applied,
        now: Moment,
    ) -> bool {
        let Some(kept) = self.kept.get_mut(&holder) else { return false };
        if kept.state == State::Stopping {
            self.kept.remove(&holder);
            return true;
        }
        let pause = match answer {
            Some(answer) => {
                kept.unconfirmed = 0;
                let held = kept.vitals.answered(sent, answer).is_ok();
                held.then_some(kept.ttl().as_duration() / 3)
            }
            None => {
                kept.vitals.unconfirmed(sent, applied);
                kept.unconfirmed += 1;
                Some(pause(kept))
            }
        };
        if let Some(pause) = pause {
            let due = now.after(jittered(pause));
            kept.state = State::Due(due);
            self.due.insert((due, holder));
        } else {
            self.kept.remove(&holder);
        }
        false
    }
}

/// Twice as long after each refresh that was not confirmed, up to a sixth of the ttl.
fn pause(kept: &Kept) -> Duration {
    let longest = kept.ttl().as_duration() / 6;
    let shortest = (longest / 32).max(PAUSE_MIN);
    (shortest * (1 << kept.unconfirmed.min(10))).min(longest)
}

/// A little less, so that programs that began together do not go on together.
fn jittered(duration: Duration) -> Duration {
    duration.mul_f64(rand::rng().random_range(0.9..1.0))
}
