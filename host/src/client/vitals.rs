//! Whether a hold still is one: what its handle, its keeper and whoever waits for its loss share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::hand_over::HandOver;
use crate::backend::Refreshed;
use crate::clock::{Clock, Moment};
use crate::error::{Applied, Loss};
use crate::spec::End;
use crate::terms::Ttl;

/// A hold, its local deadline, and why it is gone when it is.
#[derive(Debug)]
pub(crate) struct Vitals {
    pub(super) of: HandOver,
    clock: Clock,
    life: Mutex<Life>,
    /// Told of whatever may have brought the loss nearer.
    changed: Notify,
}

#[derive(Debug, Clone, Copy)]
struct Life {
    deadline: Deadline,
    /// Why it is gone, once that is known; at the deadline it is without.
    gone: Option<Loss>,
    /// Whether somebody has waited for its loss.
    watched: bool,
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
    pub(super) fn new(of: HandOver, clock: Clock, deadline: Deadline) -> Arc<Self> {
        let life = Mutex::new(Life { deadline, gone: None, watched: false });
        Arc::new(Vitals { of, clock, life, changed: Notify::new() })
    }

    /// How long the hold surely still lasts.
    pub(crate) fn remaining(&self) -> Duration {
        let life = *self.life();
        match life.gone {
            None => life.deadline.at.since(self.clock.now()),
            Some(_) => Duration::ZERO,
        }
    }

    /// Why it is gone, if it is.
    pub(crate) fn loss(&self) -> Option<Loss> {
        self.loss_at(self.clock.now())
    }

    /// Why it was gone at some moment, if it was.
    pub(crate) fn loss_at(&self, now: Moment) -> Option<Loss> {
        self.life().loss(now)
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
                (life.loss(self.clock.now()), life.deadline.at)
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
    pub(crate) fn begin_refresh(&self, ttl: Ttl) -> Result<Refreshing, Loss> {
        let mut life = self.life();
        let sent = self.clock.now();
        if let Some(loss) = life.loss(sent) {
            return Err(loss);
        }
        let before = life.deadline;
        let if_applied = Deadline::new(sent, ttl, ttl.as_duration(), End::Ttl);
        let loss = if before.loss == Loss::MaxHold { before.loss } else { Loss::Unconfirmed };
        life.deadline = Deadline { at: before.at.min(if_applied.at), loss };
        drop(life);
        if if_applied.at < before.at {
            self.changed.notify_waiters();
        }
        Ok(Refreshing { sent, ttl, before })
    }

    /// A refresh was answered. What was lost meanwhile stays lost.
    pub(crate) fn answered(&self, refreshing: &Refreshing, answer: Refreshed) -> Result<(), Loss> {
        let mut life = self.life();
        if let Some(loss) = life.loss(self.clock.now()) {
            return Err(loss);
        }
        match answer {
            Refreshed::Held { ends_in, end } => {
                life.deadline = Deadline::new(refreshing.sent, refreshing.ttl, ends_in, end);
                if life.deadline.is_past(self.clock.now()) {
                    life.deadline.loss = Loss::Unconfirmed;
                    drop(life);
                    self.changed.notify_waiters();
                    return Err(Loss::Unconfirmed);
                }
                Ok(())
            }
            other => {
                let loss = match other {
                    Refreshed::Lost(loss) => loss,
                    _ => Loss::Unconfirmed, // What is answered for a ticket confirms no hold.
                };
                life.gone = Some(loss);
                drop(life);
                self.changed.notify_waiters();
                Err(loss)
            }
        }
    }

    /// A refresh was not confirmed.
    pub(crate) fn unconfirmed(&self, refreshing: &Refreshing, applied: Applied) {
        if applied == Applied::No {
            self.life().deadline.at = refreshing.before.at;
        }
    }

    /// It is gone, for this reason unless another is known; answers the one that was.
    pub(crate) fn end(&self, loss: Loss) -> Option<Loss> {
        let (known, watched) = {
            let mut life = self.life();
            let known = life.gone;
            life.gone = known.or(Some(loss));
            (known, life.watched)
        };
        if known.is_none() && watched {
            self.changed.notify_waiters();
        }
        known
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Life {
    fn loss(&self, now: Moment) -> Option<Loss> {
        self.gone.or_else(|| self.deadline.is_past(now).then_some(self.deadline.loss))
    }
}
