//! Refreshing what is kept alive, and telling that waiters are: one task, one round trip for all
//! that is due.

mod holds;
mod task;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::RngExt as _;
use tokio::sync::{Notify, oneshot};

use super::hand_over::HandOver;
use super::leases::Shared;
use super::vitals::Vitals;
use crate::backend::{Extend, Refresh, Refreshed};
use crate::clock::Moment;
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::Rules;
use crate::terms::Ttl;

use holds::{Holds, Kept, Sign, State};

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

/// A kept hold's refresh by hand: the keeper leaves it alone meanwhile.
#[derive(Debug)]
pub(super) struct ByHand<'a> {
    shared: &'a Shared,
    holder: HolderId,
    /// How long the hold may last then: it is due again in time.
    ttl: Ttl,
}

impl Keeper {
    /// Keeps a hold. Called where a runtime is at hand; a task that ended with its runtime is
    /// replaced.
    pub(super) fn keep(&self, shared: &Arc<Shared>, vitals: Arc<Vitals>) {
        let HandOver { holder, ttl, .. } = vitals.of;
        let due = shared.clock.now().after(jittered(ttl.as_duration() / 3));
        let mut holds = self.holds();
        let earliest = holds.next();
        if let Some(State::Due(due)) = holds.kept.get(&holder).map(|kept| kept.state) {
            holds.due.remove(&(due, holder)); // Another handle's, attached to the same hold.
        }
        holds.due.insert((due, holder));
        let state = State::Due(due);
        holds.kept.insert(holder, Kept { vitals, state, unconfirmed: 0 });
        self.run(shared, &mut holds, earliest, due);
    }

    /// Has the backend told that a waiter is alive, with all others within a fifth of the claim
    /// time; answers what it said, or nothing when it did not confirm.
    pub(super) fn sign_of_life(
        &self,
        shared: &Arc<Shared>,
        key: &Key,
        holder: HolderId,
    ) -> oneshot::Receiver<Refreshed> {
        let (answer, answered) = oneshot::channel();
        let patience = shared.properties.patience;
        let by = shared.clock.now().after(Rules::default().claim_time / 5);
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
            task::start(shared);
        } else if earliest.is_none_or(|earliest| due < earliest) {
            self.earlier.notify_one();
        }
    }

    /// Leaves a kept hold to its handle, which refreshes it; returns when no refresh of the
    /// keeper's own is under way.
    pub(super) async fn by_hand<'a>(
        &self,
        shared: &'a Shared,
        holder: HolderId,
        ttl: Ttl,
    ) -> ByHand<'a> {
        let leave = |holds: &mut Holds, state| {
            if let Some(State::Due(due)) = state {
                holds.due.remove(&(due, holder));
                holds.set(holder, State::ByHand);
            }
        };
        self.when_not_refreshing(holder, leave).await;
        ByHand { shared, holder, ttl }
    }

    /// Stops refreshing a hold, and returns when no refresh of it is under way.
    ///
    /// # Cancellation
    /// It may be kept still; who drops the hold then asks [`stops_later`](Self::stops_later).
    pub(super) async fn stop(&self, holder: HolderId) {
        let stop = |holds: &mut Holds, state| {
            // One that was given up before, the keeper gives back.
            if state != Some(State::Stopping) {
                self.remove(holds, holder);
            }
        };
        self.when_not_refreshing(holder, stop).await;
    }

    /// Acts on a hold as soon as no refresh of it is under way.
    async fn when_not_refreshing(&self, holder: HolderId, act: impl Fn(&mut Holds, Option<State>)) {
        loop {
            let ended = self.batch_ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            {
                let mut holds = self.holds();
                let state = holds.kept.get(&holder).map(|kept| kept.state);
                if state != Some(State::Refreshing) {
                    return act(&mut holds, state);
                }
            }
            ended.await;
        }
    }

    /// Stops refreshing a hold whose handle was dropped; says whether a refresh of it is under way,
    /// after which the keeper gives it back.
    pub(super) fn stops_later(&self, holder: HolderId) -> bool {
        let mut holds = self.holds();
        match holds.kept.get_mut(&holder) {
            Some(kept) if matches!(kept.state, State::Refreshing | State::Stopping) => {
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

impl Drop for ByHand<'_> {
    fn drop(&mut self) {
        let keeper = &self.shared.keeper;
        let mut holds = keeper.holds();
        let kept = holds.kept.get(&self.holder).filter(|kept| kept.state == State::ByHand);
        let Some(ttl) = kept.map(|kept| kept.ttl().min(self.ttl)) else { return };
        let due = self.shared.clock.now().after(jittered(ttl.as_duration() / 3));
        holds.set(self.holder, State::Due(due));
        holds.due.insert((due, self.holder));
        keeper.earlier.notify_one();
    }
}

/// A little less, so that programs that began together do not go on together.
fn jittered(duration: Duration) -> Duration {
    duration.mul_f64(rand::rng().random_range(0.9..1.0))
}
