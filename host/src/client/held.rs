//! What a lease and a permit have in common.

use std::sync::Arc;
use std::time::Duration;

use super::hand_over::HandOver;
use super::leases::Shared;
use super::live::Entry;
use super::vitals::{Deadline, Vitals};
use crate::backend::{Extend, Refresh};
use crate::clock::Moment;
use crate::error::{BackendError, Error, ErrorKind, Loss, Operation};
use crate::fence::Fence;
use crate::measures::Measures;
use crate::name::Key;
use crate::policy::Place;
use crate::spec::{Ask, Granted};
use crate::terms::{Ttl, TtlBounds};

/// A hold. It is given back when dropped.
#[derive(Debug)]
pub struct Held {
    shared: Arc<Shared>,
    vitals: Arc<Vitals>,
    /// Counts it, where it is a plugin's: as long as there is this handle or something to give back,
    /// and no longer for whoever waits for its loss.
    place: Option<Arc<Place>>,
    kept: bool,
    /// Whether this handle has nothing left to give back.
    over: bool,
}

impl Held {
    /// A hold of what was granted.
    pub(super) fn new(
        shared: &Arc<Shared>,
        ask: Ask,
        granted: &Granted,
        (since, deadline): (Moment, Deadline),
        place: Option<Arc<Place>>,
    ) -> Self {
        let Ask { key, holder, owner, ttl, .. } = ask;
        let Granted { slot, fence, .. } = *granted;
        let of = HandOver { key, holder, owner, slot, fence, ttl };
        Held::attached(shared, Vitals::new(shared, of, since, deadline), place)
    }

    /// A hold that the backend has confirmed.
    pub(super) fn attached(
        shared: &Arc<Shared>,
        vitals: Arc<Vitals>,
        place: Option<Arc<Place>>,
    ) -> Self {
        shared.live.add(vitals.of.holder, Entry::Hold(Arc::clone(&vitals), place.clone()));
        Held { shared: Arc::clone(shared), vitals, place, kept: false, over: false }
    }

    fn of(&self) -> &HandOver {
        &self.vitals.of
    }

    /// Ends this handle and keeps the hold; answers what carries it on.
    pub(super) async fn detach(mut self) -> Result<String, Error> {
        self.stop_keeping().await;
        if let Some(loss) = self.loss() {
            return Err(self.error(ErrorKind::Lost(loss), Operation::Release));
        }
        self.vitals.end(Loss::Released);
        self.shared.live.remove(self.of().holder);
        self.over = true;
        Ok(self.of().to_text())
    }

    async fn stop_keeping(&mut self) {
        if self.kept {
            self.shared.keeper.stop(self.of().holder).await;
            self.kept = false;
        }
    }

    /// Has the keeper refresh it for as long as its handle lives.
    pub(super) fn keep_alive(mut self) -> Self {
        if !self.kept {
            self.kept = true;
            self.shared.keeper.keep(&self.shared, Arc::clone(&self.vitals));
        }
        self
    }

    pub(crate) fn key(&self) -> &Key {
        &self.of().key
    }

    /// What counts it, where it is a plugin's.
    pub(super) fn place(&self) -> Option<&Place> {
        self.place.as_deref()
    }

    /// The name as it was asked for.
    pub(crate) fn name(&self) -> &str {
        let name = &self.of().key.name;
        let place = self.place.as_ref();
        place.map_or(name.as_str(), |place| place.allowed().seen(name))
    }

    pub(crate) fn owner(&self) -> Option<&str> {
        let owner = self.of().owner.as_ref()?;
        let place = self.place.as_ref();
        Some(place.map_or(owner.as_str(), |place| place.allowed().seen_owner(owner)))
    }

    pub(crate) fn slot(&self) -> u32 {
        self.of().slot
    }

    pub(crate) fn fence(&self) -> Fence {
        self.of().fence
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.vitals.remaining()
    }

    pub(crate) fn loss(&self) -> Option<Loss> {
        self.vitals.loss()
    }

    /// Resolves when the hold is lost, with the reason; it may outlive the handle.
    pub(crate) fn lost(&self) -> impl Future<Output = Loss> + Send + use<> {
        let vitals = Arc::clone(&self.vitals);
        async move { vitals.lost().await }
    }

    /// Extends the hold by `ttl` from now, or by its own. What was lost stays lost.
    pub(crate) async fn refresh(&mut self, ttl: Option<Duration>) -> Result<Duration, Error> {
        let ttl = match ttl {
            None => self.of().ttl,
            Some(ttl) => Ttl::new(ttl, self.ttl_bounds())
                .map_err(|invalid| self.error(ErrorKind::Invalid(invalid), Operation::Refresh))?,
        };
        if let Some(place) = &self.place {
            let refused = |quota| self.error(ErrorKind::OverQuota(quota), Operation::Refresh);
            place.allowed().take_call(self.shared.clock.now()).map_err(refused)?;
        }
        let by_hand = match self.kept {
            true => Some(self.shared.keeper.by_hand(&self.shared, self.of().holder, ttl).await),
            false => None,
        };
        let extend = Extend::Hold(ttl);
        let batch = [Refresh { key: self.of().key.clone(), holder: self.of().holder, extend }];
        let refreshing = self.vitals.begin_refresh(ttl).map_err(|loss| self.lost_error(loss))?;
        let answer = self.shared.backend.refresh(&batch).await;
        let answered = match answer.map(|answers| answers.into_iter().next()) {
            Ok(Some(answer)) => {
                let confirmed = self.vitals.answered(&refreshing, answer);
                confirmed.map(|()| self.remaining()).map_err(|loss| self.lost_error(loss))
            }
            Ok(None) => Err(self.error(ErrorKind::Internal, Operation::Refresh)),
            Err(error) => {
                self.vitals.unconfirmed(&refreshing, error.applied);
                Err(self.unconfirmed(error, Operation::Refresh))
            }
        };
        drop(by_hand);
        answered
    }

    fn ttl_bounds(&self) -> TtlBounds {
        let bounds = self.shared.ttl_bounds;
        let place = self.place.as_ref();
        place.map_or(bounds, |place| place.allowed().ttls(bounds))
    }

    /// Gives the hold back; says whether it was still this one's. May be tried again after an
    /// error. From its begin on nothing refreshes the hold any more.
    pub(crate) async fn release(&mut self) -> Result<bool, Error> {
        self.stop_keeping().await;
        if self.vitals.gone().is_some() {
            return Ok(false);
        }
        let Shared { backend, clock, properties, .. } = &*self.shared;
        // A reply that comes at once comes at the moment that it was asked for.
        let asked = (!properties.at_once).then(|| clock.now());
        let released = backend.release(&self.of().key, self.of().holder).await;
        let released = released.map_err(|error| self.unconfirmed(error, Operation::Release))?;
        self.vitals.end(match released {
            Ok(()) => Loss::Released,
            // What the handle has told by then stays what it tells.
            Err(loss) => {
                let asked = asked.unwrap_or_else(|| self.shared.clock.now());
                self.vitals.loss_at(asked).unwrap_or(loss)
            }
        });
        self.shared.live.remove(self.of().holder);
        self.over = true;
        Ok(released.is_ok())
    }

    pub(super) fn lost_error(&self, loss: Loss) -> Error {
        self.error(ErrorKind::Lost(loss), Operation::Refresh)
    }

    fn unconfirmed(&self, error: BackendError, operation: Operation) -> Error {
        Error::backend(error, operation, Some(&self.of().key))
    }

    fn error(&self, kind: ErrorKind, operation: Operation) -> Error {
        Error::new(kind, operation, Some(&self.of().key))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        if Measures::ARE_TAKEN {
            self.vitals.loss(); // A deadline that nobody saw pass is a loss, and no release.
        }
        let gone = self.vitals.end(Loss::Released);
        if self.kept && self.shared.keeper.stops_later(self.of().holder) {
            return; // A refresh of it is under way: the keeper gives it back after that.
        }
        if gone.is_some() {
            self.shared.live.remove_hold(self.of().holder);
        } else {
            self.shared.give_back.give_back(&self.of().key, self.of().holder);
        }
    }
}
