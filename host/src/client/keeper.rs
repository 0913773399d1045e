//! Refreshing what is kept alive: one task, one round trip for all that is due.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::RngExt as _;
use tokio::sync::Notify;

use super::leases::Shared;
use super::vitals::{Refreshing, Vitals};
use crate::backend::Refresh;
use crate::clock::Moment;
use crate::error::Applied;
use crate::holder::HolderId;
use crate::name::Key;
use crate::terms::Ttl;

/// The most holds that are refreshed in one round trip.
const BATCH_MAX: usize = 1000;
/// The least pause after a refresh that was not confirmed.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// Refreshes kept holds at a third of their ttl, until they are stopped or lost.
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
    running: bool,
}

#[derive(Debug)]
struct Kept {
    key: Key,
    ttl: Ttl,
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

/// What is under way.
#[derive(Debug, Default)]
struct Batch {
    refreshes: Vec<Refresh>,
    sent: Vec<Refreshing>,
}

impl Keeper {
    /// Keeps a hold. Called where a runtime is at hand; a task that ended with its runtime is
    /// replaced.
    pub(super) fn keep(
        &self,
        shared: &Arc<Shared>,
        key: Key,
        holder: HolderId,
        ttl: Ttl,
        vitals: Arc<Vitals>,
    ) {
        let due = shared.clock.now().after(jittered(ttl.as_duration() / 3));
        let mut holds = self.holds();
        let is_earliest = holds.due.first().is_none_or(|(first, _)| due < *first);
        holds.due.insert((due, holder));
        let state = State::Due(due);
        holds.kept.insert(holder, Kept { key, ttl, vitals, state, unconfirmed: 0 });
        if !holds.running {
            holds.running = true;
            tokio::spawn(keep_all(Running(Arc::clone(shared))));
        } else if is_earliest {
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
        if holds.kept.is_empty() {
            self.earlier.notify_one(); // The task has nothing to sleep for.
        }
    }

    fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holds {
    /// Takes what is due, and what would be soon. What was lost is kept no longer.
    fn take_due(&mut self, now: Moment) -> Batch {
        let mut batch = Batch::default();
        while batch.refreshes.len() < BATCH_MAX {
            let Some(&(due, holder)) = self.due.first() else { break };
            let Some(kept) = self.kept.get_mut(&holder) else { break };
            // Up to a twelfth of its ttl early: what was taken at about one time stays together.
            if due.since(now) > kept.ttl.as_duration() / 12 {
                break;
            }
            self.due.pop_first();
            match kept.vitals.begin_refresh(kept.ttl) {
                Ok(refreshing) => {
                    kept.state = State::Refreshing;
                    let (key, ttl) = (kept.key.clone(), kept.ttl);
                    batch.refreshes.push(Refresh { key, holder, ttl });
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
            if holds.kept.is_empty() {
                holds.running = false;
                return;
            }
            holds.take_due(shared.clock.now())
        };
        if batch.refreshes.is_empty() {
            sleep_until_due(shared).await;
        } else {
            refresh(shared, &batch).await;
        }
    }
}

async fn sleep_until_due(shared: &Shared) {
    let earlier = shared.keeper.earlier.notified();
    let first = shared.keeper.holds().due.first().map(|(due, _)| *due);
    match first {
        None => {}
        Some(due) => tokio::select! {
            () = earlier => {}
            () = shared.clock.sleep_until(due) => {}
        },
    }
}

/// Sends one batch and deals with its answer.
async fn refresh(shared: &Shared, batch: &Batch) {
    let sent = shared.clock.now();
    let shortest = batch.refreshes.iter().map(|refresh| refresh.ttl.as_duration()).min();
    // Longer than this nobody waits for an answer: the shortest hold wants another try.
    let until = sent.after(shortest.unwrap_or_default() / 6);
    let answered = tokio::select! {
        biased;
        answered = shared.backend.refresh(&batch.refreshes) => answered,
        () = shared.clock.sleep_until(until) => Ok(Vec::new()),
    };
    let (mut answers, applied) = match answered {
        Ok(answers) => (answers.into_iter(), Applied::Unknown),
        Err(error) => {
            tracing::debug!(holds = batch.sent.len(), ?error, "a refresh was not confirmed");
            (Vec::new().into_iter(), error.applied)
        }
    };
    let mut given_up = Vec::new();
    {
        let now = shared.clock.now();
        let mut holds = shared.keeper.holds();
        for (refresh, sent) in batch.refreshes.iter().zip(&batch.sent) {
            let (holder, answer) = (refresh.holder, answers.next());
            let Some(kept) = holds.kept.get_mut(&holder) else { continue };
            if kept.state == State::Stopping {
                holds.kept.remove(&holder);
                given_up.push((&refresh.key, holder));
                continue;
            }
            let next = match answer {
                Some(answer) => {
                    kept.unconfirmed = 0;
                    kept.vitals.answered(sent, answer).is_ok().then_some(kept.ttl.as_duration() / 3)
                }
                None => {
                    kept.vitals.unconfirmed(sent, applied);
                    kept.unconfirmed += 1;
                    Some(pause(kept))
                }
            };
            match next {
                Some(pause) => {
                    let due = now.after(jittered(pause));
                    kept.state = State::Due(due);
                    holds.due.insert((due, holder));
                }
                None => drop(holds.kept.remove(&holder)),
            }
        }
    }
    shared.keeper.batch_ended.notify_waiters();
    for (key, holder) in given_up {
        shared.give_back.give_back(key, holder);
    }
}

/// Twice as long after each refresh that was not confirmed, up to a sixth of the ttl.
fn pause(kept: &Kept) -> Duration {
    let longest = kept.ttl.as_duration() / 6;
    let shortest = (longest / 32).max(PAUSE_MIN);
    (shortest * (1 << kept.unconfirmed.min(10))).min(longest)
}

/// A little less, so that programs that began together do not go on together.
fn jittered(duration: Duration) -> Duration {
    duration.mul_f64(rand::rng().random_range(0.9..1.0))
}
