//! Whether a hold still is one: what its handle, its keeper and whoever waits for its loss share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::hand_over::HandOver;
use super::leases::Shared;
use crate::backend::Refreshed;
use crate::clock::{Clock, Moment};
use crate::error::{Applied, Loss};
use crate::measures::OneHold;
use crate::spec::End;
use crate::terms::Ttl;

/// A hold, its local deadline, and why it is gone when it is.
#[derive(Debug)]
pub(crate) struct Vitals {
    pub(super) of: HandOver,
    clock: Clock,
    life: Mutex<Life>,
    /// The deadline, or zero once it is gone: read without the lock.
    until_nanos: AtomicU64,
    /// Told of whatever may have brought the loss nearer.
    changed: Notify,
}

#[derive(Debug)]
struct Life {
    deadline: Deadline,
    /// Why it is gone, once that is known; at the deadline it is without.
    gone: Option<Loss>,
    /// Whether somebody has waited for its loss.
    watched: bool,
    /// Whether its end was seen by anybody.
    seen: bool,
    measured: OneHold,
}

/// When a hold ends by this side's clock, and why it would.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Moment,
    loss: Loss,
}

/// A refresh that was sent and not yet answered.
#[derive(Debug)]
pub(crate) struct Refreshing {
    sent: Moment,
    ttl: Ttl,
    before: Deadline,
}

impl Deadline {
    /// The deadline of a hold whose request was sent at `sent`.
    pub(crate) fn new(sent: Moment, ttl: Ttl, ends_in: Duration, end: End) -> Self {
        let at = sent.after(ends_in.saturating_sub(ttl.margin().min(ends_in / 10)));
        let loss = match end {
            End::Ttl => Loss::Expired,
            End::MaxHold => Loss::MaxHold,
        };
        Deadline { at, loss }
    }

    pub(crate) fn is_past(&self, now: Moment) -> bool {
        self.at <= now
    }
}

impl Vitals {
    /// A hold that was granted at `since`, or a little later.
    pub(super) fn new(
        shared: &Shared,
        of: HandOver,
        since: Moment,
        deadline: Deadline,
    ) -> Arc<Self> {
        let (clock, measured) = (shared.clock.clone(), shared.measures.hold(of.key.kind, since));
        let life = Life { deadline, gone: None, watched: false, seen: false, measured };
        let (until_nanos, life) = (AtomicU64::new(life.until_nanos()), Mutex::new(life));
        Arc::new(Vitals { of, clock, life, until_nanos, changed: Notify::new() })
    }

    /// How long the hold surely still lasts.
    pub(crate) fn remaining(&self) -> Duration {
        Moment::from_nanos(self.until_nanos.load(Ordering::Acquire)).since(self.clock.now())
    }

    /// Why it is gone, if it is.
    pub(crate) fn loss(&self) -> Option<Loss> {
        self.loss_at(self.clock.now())
    }

    /// Why it was gone at some moment, if it was.
    pub(crate) fn loss_at(&self, now: Moment) -> Option<Loss> {
        let mut life = self.life();
        let loss = life.loss(now);
        self.see_end(&mut life, loss);
        loss
    }

    /// Why the backend no longer has it, if that is known.
    pub(crate) fn gone(&self) -> Option<Loss> {
        self.life().gone
    }

    /// Returns when it is gone, by the local deadline whatever else happens.
    pub(crate) async fn lost(&self) -> Loss {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let (loss, deadline) = {
                let mut life = self.life();
                life.watched = true;
                let loss = life.loss(self.clock.now());
                self.see_end(&mut life, loss);
                (loss, life.deadline.at)
            };
            if let Some(loss) = loss {
                return loss;
            }
            tokio::select! {
                () = changed => {}
                () = self.clock.sleep_until(deadline) => {}
            }
        }
    }

    /// A refresh is about to be sent. Until it is answered it may have been applied or not: the
    /// hold counts on no more than the nearer of the two ends. What is lost is not refreshed.
    ///
    /// One at a time: of two the answers could come in another order than they were applied in.
    pub(crate) fn begin_refresh(&self, ttl: Ttl) -> Result<Refreshing, Loss> {
        self.change(|life, sent| {
            if let Some(loss) = life.loss(sent) {
                return Err(loss);
            }
            let before = life.deadline;
            let if_applied = Deadline::new(sent, ttl, ttl.as_duration(), End::Ttl);
            let loss = if before.loss == Loss::MaxHold { before.loss } else { Loss::Unconfirmed };
            life.deadline = Deadline { at: before.at.min(if_applied.at), loss };
            Ok(Refreshing { sent, ttl, before })
        })
    }

    /// A refresh was answered. What was lost meanwhile stays lost.
    pub(crate) fn answered(&self, refreshing: &Refreshing, answer: Refreshed) -> Result<(), Loss> {
        self.change(|life, now| {
            if let Some(loss) = life.loss(now) {
                return Err(loss);
            }
            match answer {
                Refreshed::Held { ends_in, end } => {
                    let Refreshing { sent, ttl, .. } = *refreshing;
                    life.deadline = Deadline::new(sent, ttl, ends_in, end);
                    if life.deadline.is_past(now) {
                        life.deadline.loss = Loss::Unconfirmed;
                    }
                }
                Refreshed::Lost(loss) => life.gone = Some(loss),
                Refreshed::Unconfirmed => {}
                // What is answered for a ticket confirms no hold.
                Refreshed::InLine { .. } | Refreshed::NotInLine => {
                    life.gone = Some(Loss::Unconfirmed);
                }
            }
            life.loss(now).map_or(Ok(()), Err)
        })
    }

    /// A refresh was not confirmed.
    pub(crate) fn unconfirmed(&self, refreshing: &Refreshing, applied: Applied) {
        if applied == Applied::No {
            self.change(|life, _| life.deadline.at = refreshing.before.at);
        }
    }

    /// It is gone, for this reason unless another is known; answers the one that was.
    pub(crate) fn end(&self, loss: Loss) -> Option<Loss> {
        let mut life = self.life();
        let known = life.gone;
        life.gone = known.or(Some(loss));
        let gone = life.gone;
        self.see_end(&mut life, gone);
        self.publish(life);
        known
    }

    fn change<T>(&self, change: impl FnOnce(&mut Life, Moment) -> T) -> T {
        let mut life = self.life();
        let now = self.clock.now();
        let answer = change(&mut life, now);
        let loss = life.loss(now);
        self.see_end(&mut life, loss);
        self.publish(life);
        answer
    }

    /// Its end, if it is one, is measured and logged the first time that anybody sees it.
    fn see_end(&self, life: &mut Life, end: Option<Loss>) {
        let Some(reason) = end else { return };
        if std::mem::replace(&mut life.seen, true) {
            return;
        }
        let deadline = life.deadline.at;
        life.measured.ended(reason, || self.clock.now().min(deadline));
        if reason != Loss::Released {
            tracing::info!(key = %self.of.key, reason = %reason, "lost");
        }
    }

    /// Makes a change seen by who looks without the lock, and told to who waits for the loss.
    fn publish(&self, life: MutexGuard<'_, Life>) {
        let until_nanos = life.until_nanos();
        let before = self.until_nanos.swap(until_nanos, Ordering::AcqRel);
        let tell = life.watched && until_nanos < before;
        drop(life);
        if tell {
            self.changed.notify_waiters();
        }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Life {
    fn until_nanos(&self) -> u64 {
        self.gone.map_or(self.deadline.at.as_nanos(), |_| 0)
    }

    fn loss(&self, now: Moment) -> Option<Loss> {
        self.gone.or_else(|| self.deadline.is_past(now).then_some(self.deadline.loss))
    }
}
