//! Asking: without a lock where nothing is to be changed, in one statement where a lease is free, and
//! by the rules under the key's lock otherwise.

use std::time::Duration;

use super::link::{Dialect, Link};
use super::load::{Front, Reads, name};
use super::row::{Answers, Read};
use super::save::Calls;
use super::script::{Arg, Script};
use crate::name::Kind;
use crate::spec::{Answer, Ask, Change, Granted, Mode};
use crate::sql::error::Failure;
use crate::sql::store::{kind, micros};

/// What was seen of a key without a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// A lease that nobody knows of.
    New,
    /// A lease that nobody holds or waits for.
    Free,
    /// Others hold all of it, and nothing of them is to be changed.
    Full { retry_in: Duration },
    /// Anything else.
    Unclear,
}

impl<D: Dialect> Link<'_, D> {
    pub(super) async fn ask(&mut self, ask: &Ask) -> Result<Change<Answer>, Failure> {
        let seen = match (ask.key.kind, ask.mode) {
            (Kind::Lease, _) => self.look_at_lease(ask).await?,
            (Kind::Semaphore, Mode::Once) => self.look_at_semaphore(ask).await?,
            (Kind::Semaphore, Mode::Wait { .. }) => Seen::Unclear,
        };
        let answer = match seen {
            Seen::Full { retry_in } => Some(Answer::Busy { retry_in }),
            Seen::New | Seen::Free => self.take(ask, seen).await?.map(Answer::Granted),
            Seen::Unclear => None,
        };
        match answer {
            Some(answer) => Ok(Change { answer, wake: Vec::new() }),
            None => self.ask_locked(ask).await,
        }
    }

    async fn look_at_lease(&mut self, ask: &Ask) -> Result<Seen, Failure> {
        let mut script = self.script();
        let lease = script.add(&self.store.statements().look_lease, &[Arg::Bytes(name(&ask.key))]);
        // Who waits, or will, is not refused: nothing is read of a line that may be long.
        let line = (ask.mode == Mode::Once).then(|| self.look_at_line(&mut script, ask));
        let answers = self.run(script).await?;
        let Some(lease) = answers.first(lease) else { return Ok(Seen::New) };
        let (is_plain, holder) = (lease.is_true(0)?, lease.maybe_holder(1)?);
        let (ends_at, now) = (lease.time(3)?, lease.time(4)?);
        let holder = holder.filter(|_| ends_at > now);
        if is_plain && holder.is_none() {
            return Ok(Seen::Free);
        }
        let is_own = holder == Some(ask.holder)
            || ask.owner.is_some() && ask.owner == lease.owner(2)? && holder.is_some();
        let Some(line) = line.filter(|_| holder.is_some() && !is_own) else {
            return Ok(Seen::Unclear);
        };
        let retry_in = ends_at.since(now);
        let line = line_of(&answers, line)?.moves_in;
        Ok(Seen::Full { retry_in: line.map_or(retry_in, |moves_in| moves_in.min(retry_in)) })
    }

    async fn look_at_semaphore(&mut self, ask: &Ask) -> Result<Seen, Failure> {
        let mut script = self.script();
        let arguments = [
            Arg::Bytes(name(&ask.key)),
            Arg::Bytes(ask.holder.as_bytes()),
            Arg::MaybeBytes(ask.owner.as_ref().map(|owner| owner.as_str().as_bytes())),
        ];
        let held = script.add(&self.store.statements().look_semaphore, &arguments);
        let line = self.look_at_line(&mut script, ask);
        let answers = self.run(script).await?;
        let held = answers.one(held)?;
        let (live, has_own, now) = (held.small(0)?, held.is_true(2)?, held.time(3)?);
        let first_end = held.maybe_time(1)?.filter(|end| *end > now);
        let line = line_of(&answers, line)?;
        let is_admitted = live + line.waiters < ask.limit.get() && !line.is_blocked;
        let retry_in = first_end.map(|end| end.since(now));
        match retry_in {
            Some(retry_in) if !(has_own || line.has_own || line.has_moved || is_admitted) => {
                let moves_in = line.moves_in.unwrap_or(retry_in);
                Ok(Seen::Full { retry_in: moves_in.min(retry_in) })
            }
            _ => Ok(Seen::Unclear),
        }
    }

    fn look_at_line(&self, script: &mut Script, ask: &Ask) -> usize {
        let arguments = [
            Arg::Number(kind(ask.key.kind).into()),
            Arg::Bytes(name(&ask.key)),
            Arg::Bytes(ask.holder.as_bytes()),
            Arg::Number(micros(self.store.rules().claim_time)),
        ];
        script.add(&self.store.statements().look_line, &arguments)
    }

    /// Takes a lease that was free when it was seen. None where it is not by now: who took it is
    /// read back.
    async fn take(&mut self, ask: &Ask, seen: Seen) -> Result<Option<Granted>, Failure> {
        let ttl = ask.ttl.as_duration();
        let max_hold = ask.max_hold.map(|max_hold| max_hold.as_duration());
        let ends_in = max_hold.map_or(ttl, |max_hold| max_hold.min(ttl));
        let arguments = [
            Arg::Bytes(name(&ask.key)),
            Arg::Bytes(ask.holder.as_bytes()),
            Arg::MaybeBytes(ask.owner.as_ref().map(|owner| owner.as_str().as_bytes())),
            Arg::MaybeBytes(ask.note.as_ref().map(|note| note.as_str().as_bytes())),
            Arg::Number(micros(ends_in)),
            Arg::MaybeNumber(max_hold.map(micros)),
        ];
        let statements = self.store.statements();
        let take = if seen == Seen::New { &statements.take_new } else { &statements.take_free };
        let mut script = self.script();
        let taken = script.add(take, &arguments) + 1;
        let answers = self.apply(script).await?;
        let Some(row) = answers.first(taken) else { return Ok(None) };
        if row.maybe_holder(0)? != Some(ask.holder) {
            return Ok(None);
        }
        Ok(Some(ask.granted_as_asked(row.fence(1)?)))
    }

    async fn ask_locked(&mut self, ask: &Ask) -> Result<Change<Answer>, Failure> {
        let reads = Reads::Of { holders: &[ask.holder], owner: ask.owner.as_ref() };
        let mut front = Front::FIRST;
        let (before, after, change) = loop {
            let before = self.load(&ask.key, reads, front).await?;
            if before.refuses(ask.holder) {
                // It left before this ask of its came.
                self.commit_nothing().await?;
                let answer = Answer::Busy { retry_in: Duration::ZERO };
                return Ok(Change { answer, wake: Vec::new() });
            }
            let mut after = before.state();
            let change = after.ask(ask, before.now, self.store.rules());
            if !after.needs_more_of_line() {
                break (before, after, change);
            }
            front = front.longer();
        };
        let mut calls = Calls::default();
        calls.asked(ask.holder);
        calls.woken(&change.wake);
        self.save(&ask.key, (&before, &after), &calls, None).await?;
        Ok(change)
    }
}

/// What was seen of a line.
#[derive(Debug)]
struct Line {
    waiters: u32,
    has_moved: bool,
    is_blocked: bool,
    has_own: bool,
    moves_in: Option<Duration>,
}

fn line_of(answers: &Answers, place: usize) -> Read<Line> {
    let row = answers.one(place)?;
    let now = row.time(5)?;
    Ok(Line {
        waiters: row.small(0)?,
        has_moved: row.is_true(1)?,
        is_blocked: row.is_true(2)?,
        has_own: row.is_true(3)?,
        moves_in: row.maybe_time(4)?.map(|moves_at| moves_at.since(now)),
    })
}
