//! What a lease and a permit have in common: a hold and its local deadline.

use std::sync::Arc;
use std::time::Duration;

use super::leases::Shared;
use crate::backend::{Refresh, Refreshed};
use crate::clock::Moment;
use crate::error::{Applied, BackendError, Error, ErrorKind, Loss, Operation};
use crate::fence::Fence;
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::{Ask, End, Granted};
use crate::terms::{Owner, Ttl};

/// A hold. It is given back when dropped.
#[derive(Debug)]
pub struct Held {
    shared: Arc<Shared>,
    key: Key,
    holder: HolderId,
    owner: Option<Owner>,
    slot: u32,
    fence: Fence,
    ttl: Ttl,
    deadline: Deadline,
    /// Why the backend no longer has it; none while it may.
    gone: Option<Loss>,
}

/// When a hold ends by this side's clock, and why it would.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    at: Moment,
    loss: Loss,
}

impl Deadline {
    /// The deadline of a hold whose request was sent at `sent`.
    pub(super) fn new(sent: Moment, ttl: Ttl, ends_in: Duration, end: End) -> Self {
        let at = sent.after(ends_in.saturating_sub(ttl.margin().min(ends_in / 10)));
        let loss = match end {
            End::Ttl => Loss::Expired,
            End::MaxHold => Loss::MaxHold,
        };
        Deadline { at, loss }
    }

    pub(super) fn is_past(&self, now: Moment) -> bool {
        self.at <= now
    }
}

impl Held {
    /// A hold of what was granted.
    pub(super) fn new(
        shared: &Arc<Shared>,
        ask: Ask,
        granted: &Granted,
        deadline: Deadline,
    ) -> Self {
        Held {
            shared: Arc::clone(shared),
            key: ask.key,
            holder: ask.holder,
            owner: ask.owner,
            slot: granted.slot,
            fence: granted.fence,
            ttl: ask.ttl,
            deadline,
            gone: None,
        }
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn owner(&self) -> Option<&str> {
        self.owner.as_ref().map(Owner::as_str)
    }

    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence
    }

    pub(crate) fn remaining(&self) -> Duration {
        match self.gone {
            None => self.deadline.at.since(self.shared.clock.now()),
            Some(_) => Duration::ZERO,
        }
    }

    pub(crate) fn lost(&self) -> Option<Loss> {
        self.gone.or_else(|| self.remaining().is_zero().then_some(self.deadline.loss))
    }

    /// Extends the hold by `ttl` from now, or by its own. What was lost stays lost.
    pub(crate) async fn refresh(&mut self, ttl: Option<Duration>) -> Result<Duration, Error> {
        let ttl = match ttl {
            None => self.ttl,
            Some(ttl) => Ttl::new(ttl, self.shared.ttl_bounds)
                .map_err(|invalid| self.error(ErrorKind::Invalid(invalid), Operation::Refresh))?,
        };
        if let Some(loss) = self.lost() {
            return Err(self.lost_error(loss));
        }
        let sent = self.shared.clock.now();
        let before = self.begin_refresh(sent, ttl);
        let batch = [Refresh { key: self.key.clone(), holder: self.holder, ttl }];
        let answer = self.shared.backend.refresh(&batch).await;
        match answer.map(|answers| answers.into_iter().next()) {
            Ok(Some(Refreshed::Held { ends_in, end })) => {
                self.deadline = Deadline::new(sent, ttl, ends_in, end);
                let remaining = self.remaining();
                if !remaining.is_zero() {
                    return Ok(remaining);
                }
                // Confirmed too late to leave anything. What is told now is told from now on.
                self.deadline.loss = loss_unless_confirmed(self.deadline.loss);
                Err(self.lost_error(self.deadline.loss))
            }
            Ok(Some(Refreshed::Lost(loss))) => {
                self.gone = Some(loss);
                Err(self.lost_error(loss))
            }
            Ok(None) => Err(self.error(ErrorKind::Internal, Operation::Refresh)),
            Err(error) => {
                if error.applied == Applied::No {
                    self.deadline.at = before.at;
                }
                Err(self.unconfirmed(error, Operation::Refresh))
            }
        }
    }

    /// Until it is confirmed a refresh may have been applied or not, also when this future is
    /// dropped: the hold counts on no more than the nearer of the two ends.
    fn begin_refresh(&mut self, sent: Moment, ttl: Ttl) -> Deadline {
        let before = self.deadline;
        let if_applied = Deadline::new(sent, ttl, ttl.as_duration(), End::Ttl);
        let loss = loss_unless_confirmed(before.loss);
        self.deadline = Deadline { at: before.at.min(if_applied.at), loss };
        before
    }

    /// Gives the hold back; says whether it was still this one's. May be tried again after an
    /// error.
    pub(crate) async fn release(&mut self) -> Result<bool, Error> {
        if self.gone.is_some() {
            return Ok(false);
        }
        let told = self.lost();
        let released = self.shared.backend.release(&self.key, self.holder).await;
        let held = released.map_err(|error| self.unconfirmed(error, Operation::Release))?;
        self.gone = Some(match told {
            _ if held => Loss::Released,
            Some(loss) => loss,
            None => self.why_gone().await,
        });
        Ok(held)
    }

    /// Why the backend has ended the hold: it says so to one that would refresh it.
    async fn why_gone(&self) -> Loss {
        let batch = [Refresh { key: self.key.clone(), holder: self.holder, ttl: self.ttl }];
        match self.shared.backend.refresh(&batch).await.as_deref() {
            Ok([Refreshed::Lost(loss)]) => *loss,
            _ => Loss::Expired,
        }
    }

    fn lost_error(&self, loss: Loss) -> Error {
        self.error(ErrorKind::Lost(loss), Operation::Refresh)
    }

    fn unconfirmed(&self, error: BackendError, operation: Operation) -> Error {
        Error::backend(error, operation, Some(&self.key))
    }

    fn error(&self, kind: ErrorKind, operation: Operation) -> Error {
        Error::new(kind, operation, Some(&self.key))
    }
}

/// Why a hold is lost at its deadline when a refresh was sent and not confirmed in time.
fn loss_unless_confirmed(loss: Loss) -> Loss {
    if loss == Loss::MaxHold { loss } else { Loss::Unconfirmed }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.gone.is_none() {
            self.shared.give_back.give_back(&self.key, self.holder);
        }
    }
}
