//! What is kept, and when each is due.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::jittered;
use crate::backend::{Extend, Refresh, Refreshed};
use crate::client::vitals::{Refreshing, Vitals};
use crate::clock::Moment;
use crate::error::Applied;
use crate::holder::{HolderId, HolderMap};
use crate::name::Key;
use crate::terms::Ttl;

/// The most holds that are refreshed in one round trip.
const BATCH_MAX: usize = 1000;
/// The least pause after a refresh that was not confirmed.
const PAUSE_MIN: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
pub(super) struct Holds {
    pub(super) kept: HolderMap<Kept>,
    pub(super) due: BTreeSet<(Moment, HolderId)>,
    pub(super) signs: Vec<Sign>,
    pub(super) running: bool,
}

/// A waiter's sign of life on its way.
#[derive(Debug)]
pub(super) struct Sign {
    pub(super) refresh: Refresh,
    /// It goes out by then, alone if nothing else does.
    pub(super) by: Moment,
    pub(super) answer: oneshot::Sender<Refreshed>,
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) vitals: Arc<Vitals>,
    pub(super) state: State,
    /// How many refreshes in a row were not confirmed.
    pub(super) unconfirmed: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Refreshed at this moment, or a little before with others.
    Due(Moment),
    /// In the batch that is under way.
    Refreshing,
    /// In the batch that is under way, and given up by its handle.
    Stopping,
    /// Refreshed by its handle.
    ByHand,
}

impl Kept {
    pub(super) fn ttl(&self) -> Ttl {
        self.vitals.of.ttl
    }

    /// How long before it is due it may be taken along with others: what was once is due with them
    /// from then on. One that is tried again is not: its pause is no longer than that.
    fn early(&self) -> Duration {
        if self.unconfirmed == 0 { self.ttl().as_duration() / 6 } else { Duration::ZERO }
    }
}

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The holds', then the signs of life.
    pub(super) refreshes: Vec<Refresh>,
    pub(super) sent: Vec<Refreshing>,
    pub(super) signs: Vec<oneshot::Sender<Refreshed>>,
}

impl Holds {
    pub(super) fn set(&mut self, holder: HolderId, state: State) {
        if let Some(kept) = self.kept.get_mut(&holder) {
            kept.state = state;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.signs.is_empty()
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<Moment> {
        let due = self.due.first().map(|(due, _)| *due);
        let by = self.signs.first().map(|sign| sign.by);
        due.into_iter().chain(by).min()
    }

    /// Takes what is due, and what would be soon; and with it every sign of life. What was lost is
    /// kept no longer.
    pub(super) fn take_due(&mut self, now: Moment) -> Batch {
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
            let Some(kept) = self.kept.get_mut(&holder) else {
                self.due.pop_first();
                continue;
            };
            if due.since(now) > kept.early() {
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

    /// The task ended, with its runtime or by a panic, while a batch was under way: its holds are
    /// due. Answers those that their handles gave up meanwhile.
    pub(super) fn batch_was_dropped(&mut self, now: Moment) -> Vec<(Key, HolderId)> {
        let stopping = self.kept.extract_if(|_, kept| kept.state == State::Stopping);
        let given_up =
            stopping.map(|(holder, kept)| (kept.vitals.of.key.clone(), holder)).collect();
        for (holder, kept) in &mut self.kept {
            if kept.state == State::Refreshing {
                kept.state = State::Due(now);
                self.due.insert((now, *holder));
            }
        }
        given_up
    }

    /// Deals with what became of one hold's refresh, nothing if it was not confirmed; says whether
    /// its handle gave it up meanwhile.
    pub(super) fn answered(
        &mut self,
        holder: HolderId,
        sent: &Refreshing,
        answer: Option<Refreshed>,
        applied: Applied,
        now: Moment,
    ) -> bool {
        let Some(kept) = self.kept.get_mut(&holder) else { return false };
        match kept.state {
            State::Refreshing => {}
            State::Stopping => {
                self.kept.remove(&holder);
                return true;
            }
            // Another handle's, kept meanwhile.
            State::Due(_) | State::ByHand => return false,
        }
        let pause = match answer.filter(|answer| *answer != Refreshed::Unconfirmed) {
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
