//! The measures, by the crate `metrics`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram};

use super::call::Call;
use super::described::{self, Described};
use super::outcome::Outcome;
use crate::clock::Moment;
use crate::error::{Applied, BackendError, Error, Loss};
use crate::fence::Verdict;
use crate::name::Kind;

/// The measures of one handle. Each is registered once, with the recorder that is installed then.
#[derive(Clone)]
pub(crate) struct Measures(Arc<Registered>);

struct Registered {
    leases: OfKind,
    semaphores: OfKind,
    batches: ByOutcome,
    batch_size: Histogram,
    give_backs: ByOutcome,
    admitted: Counter,
    stale: Counter,
    not_admitted: Counter,
    calls: [OfCall; Call::ALL.len()],
}

struct OfKind {
    acquires: [Counter; Outcome::ALL.len()],
    waited: Histogram,
    waited_in_vain: Histogram,
    position: Histogram,
    waiters: Gauge,
    holds: Gauge,
    held_for: Histogram,
    ends: [Counter; REASONS.len()],
}

/// What went well, and what did not.
struct ByOutcome {
    done: Counter,
    failed: Counter,
}

struct OfCall {
    took: Histogram,
    not_done: Counter,
    perhaps_done: Counter,
}

/// Why holds end.
const REASONS: [(Loss, &str); 6] = [
    (Loss::Released, "released"),
    (Loss::Expired, "expired"),
    (Loss::Superseded, "superseded"),
    (Loss::Revoked, "revoked"),
    (Loss::MaxHold, "max-hold"),
    (Loss::Unconfirmed, "unconfirmed"),
];

impl Measures {
    /// Registers all of them.
    pub(crate) fn new() -> Self {
        described::all();
        let kinds = [Kind::Lease, Kind::Semaphore].map(OfKind::new);
        let [leases, semaphores] = kinds;
        let verdict = |verdict: &'static str| described::VERDICTS.counter(&[("verdict", verdict)]);
        Measures(Arc::new(Registered {
            leases,
            semaphores,
            batches: ByOutcome::new(&described::BATCHES, ["confirmed", "unconfirmed"]),
            batch_size: described::BATCH_SIZE.histogram(&[]),
            give_backs: ByOutcome::new(&described::GIVE_BACKS, ["done", "given-up"]),
            admitted: verdict("admitted"),
            stale: verdict("stale"),
            not_admitted: verdict("none"),
            calls: Call::ALL.map(OfCall::new),
        }))
    }
}

impl OfKind {
    fn new(kind: Kind) -> Self {
        let kind = ("kind", kind.as_str());
        let acquires = |it: Outcome| described::ACQUIRES.counter(&[kind, ("outcome", it.as_str())]);
        let waited = |outcome| described::WAITED.histogram(&[kind, ("outcome", outcome)]);
        OfKind {
            acquires: Outcome::ALL.map(acquires),
            waited: waited("granted"),
            waited_in_vain: waited("other"),
            position: described::POSITION.histogram(&[kind]),
            waiters: described::WAITERS.gauge(&[kind]),
            holds: described::HOLDS.gauge(&[kind]),
            held_for: described::HELD_FOR.histogram(&[kind]),
            ends: REASONS.map(|(_, reason)| described::ENDS.counter(&[kind, ("reason", reason)])),
        }
    }
}

impl ByOutcome {
    fn new(of: &Described, [done, failed]: [&'static str; 2]) -> Self {
        let counter = |outcome| of.counter(&[("outcome", outcome)]);
        ByOutcome { done: counter(done), failed: counter(failed) }
    }

    fn count(&self, done: bool) {
        if done { self.done.increment(1) } else { self.failed.increment(1) }
    }
}

impl OfCall {
    fn new(call: Call) -> Self {
        let operation = ("operation", call.as_str());
        let errors = |applied| described::ERRORS.counter(&[operation, ("applied", applied)]);
        OfCall {
            took: described::TOOK.histogram(&[operation]),
            not_done: errors("no"),
            perhaps_done: errors("unknown"),
        }
    }
}

impl Measures {
    /// Whether anything is.
    pub(crate) const ARE_TAKEN: bool = true;

    fn of(&self, kind: Kind) -> &OfKind {
        match kind {
            Kind::Lease => &self.0.leases,
            Kind::Semaphore => &self.0.semaphores,
        }
    }

    /// Somebody asks for a hold.
    pub(crate) fn asked(&self, kind: Kind) -> Asked {
        Asked { measures: self.clone(), kind, waits: false, ended: false }
    }

    /// Somebody was granted one.
    pub(crate) fn hold(&self, kind: Kind, since: Moment) -> OneHold {
        self.of(kind).holds.increment(1.0);
        OneHold { measures: self.clone(), kind, since, ended: false }
    }

    /// A plugin asked for what it may not use: a lease or a permit, or else a guard.
    pub(crate) fn denied(&self, kind: Option<Kind>) {
        match kind {
            Some(kind) => self.of(kind).count(Outcome::Denied),
            None => self.0.not_admitted.increment(1),
        }
    }

    /// The keeper sent so many refreshes and signs of life at once.
    pub(crate) fn batch(&self, size: usize, confirmed: bool) {
        self.0.batches.count(confirmed);
        self.0.batch_size.record(size as f64);
    }

    /// What was dropped is given back, or left to its ttl.
    pub(crate) fn given_back(&self, done: bool) {
        self.0.give_backs.count(done);
    }

    /// A guard was asked.
    pub(crate) fn verdict(&self, verdict: &Result<Verdict, Error>) {
        let counter = match verdict {
            Ok(Verdict::Admitted) => &self.0.admitted,
            Ok(Verdict::Stale(_)) => &self.0.stale,
            Err(_) => &self.0.not_admitted,
        };
        counter.increment(1);
    }

    /// A backend has answered, or failed to.
    pub(crate) fn called(
        &self,
        call: Call,
        took: impl FnOnce() -> Duration,
        error: Option<&BackendError>,
    ) {
        let Some(of) = self.0.calls.get(call as usize) else { return };
        of.took.record(took());
        match error.map(|error| error.applied) {
            None => {}
            Some(Applied::No) => of.not_done.increment(1),
            Some(Applied::Unknown) => of.perhaps_done.increment(1),
        }
    }
}

impl OfKind {
    fn count(&self, outcome: Outcome) {
        if let Some(counter) = self.acquires.get(outcome as usize) {
            counter.increment(1);
        }
    }
}

/// An ask, until it is granted or not; one that is dropped before was cancelled.
pub(crate) struct Asked {
    measures: Measures,
    kind: Kind,
    waits: bool,
    ended: bool,
}

impl Asked {
    /// It is in line, behind so many.
    pub(crate) fn in_line(&mut self, position: u32) {
        if !self.waits {
            self.waits = true;
            let of = self.measures.of(self.kind);
            of.waiters.increment(1.0);
            of.position.record(position);
        }
    }

    /// It is over. It has waited for as long as `waited` says, unless it never stood in line on a
    /// backend that answers at once.
    pub(crate) fn ended(&mut self, outcome: Outcome, waited: impl FnOnce(bool) -> Duration) {
        if self.ended {
            return;
        }
        self.ended = true;
        let of = self.measures.of(self.kind);
        of.count(outcome);
        let waits = if outcome == Outcome::Granted { &of.waited } else { &of.waited_in_vain };
        waits.record(waited(self.waits));
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let of = self.measures.of(self.kind);
        if !self.ended {
            of.count(Outcome::Cancelled);
        }
        if self.waits {
            of.waiters.decrement(1.0);
        }
    }
}

/// A hold, until it ends; one that is dropped before was not given back, as with its runtime.
pub(crate) struct OneHold {
    measures: Measures,
    kind: Kind,
    since: Moment,
    ended: bool,
}

impl OneHold {
    /// It is known to have ended, at this moment. What is told of it later is its handle's.
    pub(crate) fn ended(&mut self, reason: Loss, at: impl FnOnce() -> Moment) {
        if self.ended {
            return;
        }
        self.ended = true;
        let of = self.measures.of(self.kind);
        of.holds.decrement(1.0);
        of.held_for.record(at().since(self.since));
        let counter = REASONS.iter().zip(&of.ends).find(|((of, _), _)| *of == reason);
        if let Some((_, counter)) = counter {
            counter.increment(1);
        }
    }
}

impl Drop for OneHold {
    fn drop(&mut self) {
        if !self.ended {
            self.measures.of(self.kind).holds.decrement(1.0);
        }
    }
}

impl fmt::Debug for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Measures(..)")
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").field("waits", &self.waits).finish_non_exhaustive()
    }
}

impl fmt::Debug for OneHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneHold").field("ended", &self.ended).finish_non_exhaustive()
    }
}
