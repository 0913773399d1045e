//! Taking a hold: ask, wait in line, be woken, ask again.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;

use super::claims::{Claims, GivenBack};
use super::held::Held;
use super::leases::Shared;
use super::live::Entry;
use super::request::Wait;
use super::vitals::Deadline;
use crate::backend::Refreshed;
use crate::clock::{Clock, Moment};
use crate::error::{Applied, BackendError, Error, ErrorKind, Loss, Operation, Quota};
use crate::holder::HolderId;
use crate::measures::Asked;
use crate::name::Key;
use crate::policy::Place;
use crate::spec::{Answer, Ask, Granted, Mode, Rules};
use crate::wake::Watch;

/// Takes what is asked for, or fails; nothing is left behind by a failure or a dropped future.
pub(super) async fn acquire(
    shared: &Arc<Shared>,
    mut ask: Ask,
    (began, wait): (Moment, Wait),
    place: Option<Arc<Place>>,
    asked: &mut Asked,
) -> Result<Held, Error> {
    shared.give_back.start();
    let granted = granted(shared, &mut ask, (began, wait), place.as_ref(), asked).await?;
    let (granted, sent, deadline) = granted;
    if let Some(place) = &place {
        place.granted();
    }
    let held = Held::new(shared, ask, &granted, (sent, deadline), place);
    // Now it is listed: what ends from here on is ended by who ends it.
    match ended(shared, held.place(), held.key()) {
        Some(error) => Err(error),
        None => Ok(held),
    }
}

/// Why an ask is over, whatever the backend says, once it is: its handle was closed, or everything
/// of its plugin was revoked.
fn ended(shared: &Shared, place: Option<&Place>, key: &Key) -> Option<Error> {
    if shared.live.is_closed() {
        return Some(Error::closed(Operation::Acquire, key));
    }
    let revoked = place.is_some_and(Place::is_revoked);
    let kind = ErrorKind::Lost(Loss::Revoked);
    revoked.then(|| Error::new(kind, Operation::Acquire, Some(key)))
}

/// Asks until it is granted. What is granted has to be made a hold before anything is awaited.
async fn granted(
    shared: &Arc<Shared>,
    ask: &mut Ask,
    (began, wait): (Moment, Wait),
    place: Option<&Arc<Place>>,
    asked: &mut Asked,
) -> Result<(Granted, Moment, Deadline), Error> {
    let mut sent = began;
    let until = wait.until(began);
    let mut attempt = Attempt { shared, ask, until, place, may_hold: false, is_listed: false };
    let mut watch = None;
    loop {
        match attempt.ask().await? {
            None => {
                watch = None;
                attempt.begin_anew();
            }
            Some(Answer::Granted(granted)) => match attempt.deliver(&granted, sent) {
                Some(deadline) => return Ok((granted, sent, deadline)),
                None => {
                    attempt.give_back_late(wait).await?;
                    watch = None;
                }
            },
            Some(Answer::Busy { .. }) => return Err(attempt.refused(ErrorKind::NotAcquired)),
            Some(Answer::LineFull) => {
                return Err(attempt.refused(ErrorKind::OverQuota(Quota::Line)));
            }
            Some(Answer::Waiting { position, retry_in }) => {
                asked.in_line(position);
                match &watch {
                    // A wake before now found nobody listening: ask once more before sleeping.
                    None => watch = Some(attempt.listen()),
                    Some(watch) => attempt.sleep(watch, sent.after(retry_in)).await?,
                }
            }
        }
        sent = shared.clock.now();
    }
}

/// An ask under way. Dropped while the backend may know of it, it leaves the line and gives back
/// a grant that was on its way.
struct Attempt<'a> {
    shared: &'a Arc<Shared>,
    ask: &'a mut Ask,
    /// The end of the wait; none for one without a bound, and for a single attempt.
    until: Option<Moment>,
    /// Counts it, where it is a plugin's.
    place: Option<&'a Arc<Place>>,
    /// Whether the backend may hold a ticket or a grant of this ask.
    may_hold: bool,
    /// Whether it is listed among what a close has to end.
    is_listed: bool,
}

impl Attempt<'_> {
    /// Asks once. The wait bounds the backend's time too; an ask at its very end has the backend's
    /// own time. None: the answer was not picked up in time, and what it granted is given back.
    async fn ask(&mut self) -> Result<Option<Answer>, Error> {
        let Shared { backend, clock, properties, .. } = &**self.shared;
        if let Some(error) = ended(self.shared, self.place.map(Arc::as_ref), &self.ask.key) {
            return Err(error);
        }
        self.may_hold = true;
        if properties.at_once {
            let asked = backend.ask(self.ask).await;
            return asked.map(Some).map_err(|error| self.unconfirmed(error));
        }
        self.list();
        let Ask { key, holder, .. } = &*self.ask;
        let asked = Claims::watch(self.shared, key, *holder, backend.ask(self.ask));
        let bound = self.until.filter(|until| clock.now() < *until);
        let answer = tokio::select! {
            biased;
            // First: what was ended is not asked for any more, and given back by who ended it.
            error = self.over() => return Err(error),
            answer = asked => answer,
            () = sleep_until(clock, bound) => return Err(self.error(ErrorKind::NotAcquired)),
        };
        match answer {
            Ok(answer) => answer.map(Some).map_err(|error| self.unconfirmed(error)),
            Err(GivenBack) => Ok(None),
        }
    }

    /// Returns when the ask is over, whatever the backend says.
    async fn over(&self) -> Error {
        let Attempt { shared, ask, place, .. } = self;
        loop {
            tokio::select! {
                biased;
                () = shared.live.closed() => {}
                () = revoked(*place) => {}
            }
            if let Some(error) = ended(shared, place.map(Arc::as_ref), &ask.key) {
                return error;
            }
        }
    }

    /// Is listed among what a close has to end.
    fn list(&mut self) {
        if !self.is_listed {
            let Ask { key, holder, .. } = &*self.ask;
            self.shared.live.add(*holder, Entry::Ask(key.clone(), self.place.cloned()));
            self.is_listed = true;
        }
    }

    /// Listens for wake-ups.
    fn listen(&mut self) -> Watch {
        self.list();
        self.shared.backend.watch(&self.ask.key, self.ask.holder)
    }

    /// What was asked so far is being given back: this is another ask from now on.
    fn begin_anew(&mut self) {
        self.ask.holder = HolderId::random();
        (self.may_hold, self.is_listed) = (false, false);
    }

    /// The deadline of a grant; none if its reply came too late to leave anything of it. From then
    /// on the grant is the caller's to give back.
    fn deliver(&mut self, granted: &Granted, sent: Moment) -> Option<Deadline> {
        let deadline = Deadline::new(sent, self.ask.ttl, granted.ends_in, granted.end);
        // A reply that came at once can't have come too late: it needs no look at the clock.
        if !self.shared.properties.at_once && deadline.is_past(self.shared.clock.now()) {
            return None;
        }
        // It stays listed: the hold takes the ask's place there.
        (self.may_hold, self.is_listed) = (false, false);
        Some(deadline)
    }

    /// Gives back a grant that came too late; an error once there is no time for another try. That
    /// is another ask: a leave that was not confirmed may yet come, and end what it finds.
    async fn give_back_late(&mut self, wait: Wait) -> Result<(), Error> {
        self.leave().await;
        let time_is_left = self.until.is_none_or(|until| self.shared.clock.now() < until);
        if wait.is_one_attempt() || !time_is_left {
            return Err(self.error(ErrorKind::NotAcquired));
        }
        self.let_go();
        self.begin_anew();
        Ok(())
    }

    /// Sleeps until there is a reason to ask again; an error once the wait has ended.
    async fn sleep(&mut self, watch: &Watch, mut retry_at: Moment) -> Result<(), Error> {
        let clock = &self.shared.clock;
        loop {
            let sign_at = clock.now().after(self.sign_of_life_in());
            let look_at = retry_at.min(sign_at);
            let sleep_until = self.until.map_or(look_at, |until| until.min(look_at));
            tokio::select! {
                biased;
                _ = self.over() => return Ok(()),
                () = watch.woken() => return Ok(()),
                () = clock.sleep_until(sleep_until) => {}
            }
            if sleep_until < look_at {
                self.leave().await;
                return Err(self.error(ErrorKind::NotAcquired));
            }
            // At once an ask costs no more than a sign of life. And when something ahead could
            // lapse at the very end of the wait, it is asked once more.
            if self.shared.properties.at_once || retry_at <= clock.now() {
                return Ok(());
            }
            match self.sign_of_life(watch, retry_at).await {
                Some(again_at) => retry_at = again_at,
                None => return Ok(()),
            }
        }
    }

    /// Tells the backend that this waiter is alive, with what else its keeper has to tell. Answers
    /// when to ask again; none if that is now.
    async fn sign_of_life(&self, watch: &Watch, retry_at: Moment) -> Option<Moment> {
        let Shared { clock, keeper, .. } = &**self.shared;
        let sent = clock.now();
        let answer = keeper.sign_of_life(self.shared, &self.ask.key, self.ask.holder);
        let end = self.until.map_or(retry_at, |until| until.min(retry_at));
        tokio::select! {
            biased;
            _ = self.over() => None,
            () = watch.woken() => None,
            answer = answer => match answer {
                Ok(Refreshed::InLine { retry_in }) => Some(sent.after(retry_in)),
                _ => None,
            },
            () = clock.sleep_until(end) => Some(retry_at),
        }
    }

    /// When the next sign of life is due: within a third of the ticket's patience, and in time to
    /// see, before a claim time is over, that somebody in front was called and stays silent. On its
    /// way, and while the keeper gathers others, time goes by. A little less than that, so that
    /// waiters do not go in step.
    fn sign_of_life_in(&self) -> Duration {
        let Shared { properties, .. } = &**self.shared;
        let claim_time = Rules::default().claim_time;
        let in_time = if properties.at_once { claim_time } else { claim_time * 3 / 4 };
        let longest = in_time.min(properties.patience / 3);
        longest.mul_f64(rand::rng().random_range(0.8..1.0))
    }

    /// What the backend may have of this ask is given back.
    fn let_go(&self) {
        if self.may_hold {
            let Ask { key, holder, .. } = &*self.ask;
            self.shared.give_back.give_back_counted(key, *holder, self.place);
        } else if self.is_listed {
            self.shared.live.remove(self.ask.holder);
        }
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
        self.let_go();
    }
}

/// Returns at a moment, if there is one.
async fn sleep_until(clock: &Clock, end: Option<Moment>) {
    match end {
        Some(end) => clock.sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// Returns when everything of an ask's plugin is revoked.
async fn revoked(place: Option<&Arc<Place>>) {
    match place {
        Some(place) => place.revoked().await,
        None => std::future::pending().await,
    }
}
