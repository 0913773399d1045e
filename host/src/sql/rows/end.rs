//! Ending: release, leave, revoke; and what all do that change a key by the rules.

use super::link::{Dialect, Link};
use super::load::{Front, Reads, Stored, name};
use super::save::{Calls, Changed, Writer};
use super::script::{Arg, Script};
use crate::clock::Timestamp;
use crate::error::Loss;
use crate::holder::HolderId;
use crate::name::{Key, Kind};
use crate::spec::{Change, KeyState, Rules};
use crate::sql::error::Failure;
use crate::sql::store::Holding;

/// What was found of a lease that was to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Nobody knows of it.
    Unknown,
    /// Nobody waits for it; it was ended if it was this holder's.
    Plain { was_live: bool },
    /// Anything else; it is as it was.
    Other,
}

impl<D: Dialect> Link<'_, D> {
    pub(super) async fn release(
        &mut self,
        of: &Holding,
    ) -> Result<Change<Result<(), Loss>>, Failure> {
        let done = |answer| Ok(Change { answer, wake: Vec::new() });
        match self.end_plain(of).await? {
            Found::Unknown => return done(Err(Loss::Expired)),
            Found::Plain { was_live: true } => return done(Ok(())),
            Found::Plain { was_live: false } | Found::Other => {}
        }
        let release =
            |state: &mut KeyState, now, rules: &Rules| state.release(of.holder, now, rules);
        let change = self.change(&of.key, of.reads(), self.refuse(of), release).await?;
        Ok(change.unwrap_or(Change { answer: Err(Loss::Expired), wake: Vec::new() }))
    }

    pub(super) async fn leave(&mut self, of: &Holding) -> Result<Change<()>, Failure> {
        if self.end_plain(of).await? == Found::Other {
            let leave =
                |state: &mut KeyState, now, rules: &Rules| state.leave(of.holder, now, rules);
            if let Some(change) = self.change(&of.key, of.reads(), self.refuse(of), leave).await? {
                return Ok(change);
            }
        }
        Ok(Change { answer: (), wake: Vec::new() })
    }

    pub(super) async fn revoke(
        &mut self,
        key: &Key,
        slot: Option<u32>,
    ) -> Result<Change<Vec<HolderId>>, Failure> {
        let revoke = |state: &mut KeyState, now, rules: &Rules| state.revoke(slot, now, rules);
        let change = self.change(key, Reads::AllHolds, None, revoke).await?;
        Ok(change.unwrap_or(Change { answer: Vec::new(), wake: Vec::new() }))
    }

    /// Whose asks are refused from now on: this holder's, if one of them may yet come.
    fn refuse(&self, of: &Holding) -> Option<HolderId> {
        self.attempt.may_come_late.then_some(of.holder)
    }

    /// Ends a lease's grant if it is this holder's, where there is no line.
    async fn end_plain(&mut self, of: &Holding) -> Result<Found, Failure> {
        if of.key.kind != Kind::Lease || self.attempt.may_come_late {
            return Ok(Found::Other);
        }
        let mut script = self.in_transaction();
        let arguments = [Arg::Bytes(name(&of.key)), Arg::Bytes(of.holder.as_bytes())];
        let first = script.add(&self.store.statements().end_plain, &arguments);
        let answers = self.commit(script).await?;
        let Some(row) = answers.first(first) else { return Ok(Found::Unknown) };
        let now = answers.one(first + 1)?.time(0)?;
        let was_live = row.maybe_holder(1)? == Some(of.holder) && row.time(2)? > now;
        Ok(if row.is_true(0)? { Found::Plain { was_live } } else { Found::Other })
    }

    /// Changes a key that is known by the rules, under its lock. One that is not known is only made
    /// where asks are to be refused.
    async fn change<T: Send>(
        &mut self,
        key: &Key,
        reads: Reads<'_>,
        refuse: Option<HolderId>,
        by: impl Fn(&mut KeyState, Timestamp, &Rules) -> Change<T> + Send,
    ) -> Result<Option<Change<T>>, Failure> {
        let mut front = Front::FIRST;
        let (before, after, change) = loop {
            let before = self.load(key, reads, front).await?;
            if before.is_unknown() && refuse.is_none() {
                self.commit_nothing().await?;
                return Ok(None);
            }
            let mut after = before.state();
            let change = by(&mut after, before.now, self.store.rules());
            if !after.needs_more_of_line() {
                break (before, after, change);
            }
            front = front.longer();
        };
        let mut calls = Calls::default();
        calls.woken(&change.wake);
        self.save(key, (&before, &after), &calls, refuse).await?;
        Ok(Some(change))
    }

    /// Writes what differs, and ends the transaction.
    pub(super) async fn save(
        &mut self,
        key: &Key,
        states: (&Stored, &KeyState),
        calls: &Calls,
        refuse: Option<HolderId>,
    ) -> Result<(), Failure> {
        let mut script = self.in_transaction();
        self.write(&mut script, key, states, calls, refuse);
        self.commit(script).await?;
        Ok(())
    }

    pub(super) fn write(
        &self,
        script: &mut Script,
        key: &Key,
        (before, after): (&Stored, &KeyState),
        calls: &Calls,
        refuse: Option<HolderId>,
    ) {
        let (statements, inbox) = (self.store.statements(), self.store.inbox());
        let changed = Changed { key, before, after, calls, refuse };
        Writer { script, statements, inbox }.write(&changed);
    }

    pub(super) async fn commit_nothing(&mut self) -> Result<(), Failure> {
        let script = self.script();
        self.commit(script).await?;
        Ok(())
    }
}

impl Holding {
    /// What is read to end it.
    fn reads(&self) -> Reads<'_> {
        Reads::Of { holders: std::slice::from_ref(&self.holder), owner: None }
    }
}
