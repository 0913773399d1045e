//! Taking a hold: ask, wait in line, be woken, ask again.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;

use super::held::{Deadline, Held};
use super::leases::Shared;
use super::request::Wait;
use crate::clock::Moment;
use crate::error::{Applied, BackendError, Error, ErrorKind, Operation, Quota};
use crate::spec::{Answer, Ask, Granted, Mode};
use crate::wake::Watch;

/// Takes what is asked for, or fails; nothing is left behind by a failure or a dropped future.
pub(super) async fn acquire(shared: &Arc<Shared>, ask: Ask, wait: Wait) -> Result<Held, Error> {
    shared.give_back.start();
    let (granted, deadline) = granted(shared, &ask, wait).await?;
    Ok(Held::new(shared, ask, &granted, deadline))
}

/// Asks until it is granted. What is granted has to be made a hold before anything is awaited.
async fn granted(
    shared: &Arc<Shared>,
    ask: &Ask,
    wait: Wait,
) -> Result<(Granted, Deadline), Error> {
    let mut sent = shared.clock.now();
    let until = wait.until(sent);
    let mut attempt = Attempt { shared, ask, until, may_hold: false };
    let mut watch = None;
    loop {
        match attempt.ask().await? {
            Answer::Granted(granted) => match attempt.deliver(&granted, sent) {
                Some(deadline) => return Ok((granted, deadline)),
                None => attempt.give_back_late(wait).await?,
            },
            Answer::Busy { .. } => return Err(attempt.refused(ErrorKind::NotAcquired)),
            Answer::LineFull => return Err(attempt.refused(ErrorKind::OverQuota(Quota::Line))),
            Answer::Waiting { retry_in, .. } => match &watch {
                // A wake before now found nobody listening: ask once more before sleeping.
                None => watch = Some(shared.backend.watch(&ask.key, ask.holder)),
                Some(watch) => attempt.sleep(watch, sent.after(retry_in)).await?,
            },
        }
        sent = shared.clock.now();
    }
}

/// An ask under way. Dropped while the backend may know of it, it leaves the line and gives back
/// a grant that was on its way.
struct Attempt<'a> {
    shared: &'a Shared,
    ask: &'a Ask,
    /// The end of the wait; none for one without a bound, and for a single attempt.
    until: Option<Moment>,
    /// Whether the backend may hold a ticket or a grant of this ask.
    may_hold: bool,
}

impl Attempt<'_> {
    /// Asks once. The wait bounds the backend's time too; an ask at its very end has the backend's
    /// own time.
    async fn ask(&mut self) -> Result<Answer, Error> {
        self.may_hold = true;
        let Shared { backend, clock, properties, .. } = self.shared;
        let asked = backend.ask(self.ask);
        let bound = self.until.filter(|until| !properties.at_once && clock.now() < *until);
        let answer = match bound {
            Some(until) => tokio::select! {
                biased;
                answer = asked => answer,
                () = clock.sleep_until(until) => return Err(self.error(ErrorKind::NotAcquired)),
            },
            None => asked.await,
        };
        answer.map_err(|error| self.unconfirmed(error))
    }

    /// The deadline of a grant; none if its reply came too late to leave anything of it. From then
    /// on the grant is the caller's to give back.
    fn deliver(&mut self, granted: &Granted, sent: Moment) -> Option<Deadline> {
        let deadline = Deadline::new(sent, self.ask.ttl, granted.ends_in, granted.end);
        // A reply that came at once can't have come too late: it needs no look at the clock.
        if !self.shared.properties.at_once && deadline.is_past(self.shared.clock.now()) {
            return None;
        }
        self.may_hold = false;
        Some(deadline)
    }

    /// Gives back a grant that came too late; an error once there is no time for another try.
    async fn give_back_late(&mut self, wait: Wait) -> Result<(), Error> {
        self.leave().await;
        let time_is_left = self.until.is_none_or(|until| self.shared.clock.now() < until);
        if wait.is_one_attempt() || !time_is_left {
            return Err(self.error(ErrorKind::NotAcquired));
        }
        Ok(())
    }

    /// Sleeps until there is a reason to ask again; an error once the wait has ended.
    async fn sleep(&mut self, watch: &Watch, retry_at: Moment) -> Result<(), Error> {
        let clock = &self.shared.clock;
        let ask_at = retry_at.min(clock.now().after(self.sign_of_life_in()));
        let sleep_until = self.until.map_or(ask_at, |until| until.min(ask_at));
        tokio::select! {
            biased;
            () = watch.woken() => return Ok(()),
            () = clock.sleep_until(sleep_until) => {}
        }
        // When something ahead could lapse at the very end of the wait, it is asked once more.
        if sleep_until < ask_at {
            self.leave().await;
            return Err(self.error(ErrorKind::NotAcquired));
        }
        Ok(())
    }

    /// A third of the ticket's patience, or a little less, so that waiters do not ask in step.
    fn sign_of_life_in(&self) -> Duration {
        let third = self.shared.properties.patience / 3;
        third.mul_f64(rand::rng().random_range(0.8..1.0))
    }

    async fn leave(&mut self) {
        match self.shared.backend.leave(&self.ask.key, self.ask.holder).await {
            Ok(()) => self.may_hold = false,
            Err(error) => tracing::debug!(key = %self.ask.key, ?error, "will be given back later"),
        }
    }

    /// The backend said no, so it knows nothing of this ask.
    fn refused(&mut self, kind: ErrorKind) -> Error {
        self.may_hold = false;
        self.error(kind)
    }

    fn unconfirmed(&mut self, error: BackendError) -> Error {
        if error.applied == Applied::No && self.ask.mode == Mode::Once {
            self.may_hold = false;
        }
        Error::backend(error, Operation::Acquire, Some(&self.ask.key))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, Operation::Acquire, Some(&self.ask.key))
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.may_hold {
            self.shared.give_back.give_back(&self.ask.key, self.ask.holder);
        }
    }
}
