//! Refreshing: all leases of a batch that nobody waits for in two requests, what is left key by key.

use std::collections::BTreeMap;
use std::time::Duration;

use super::link::{Dialect, Link};
use super::row::{Read, Row};
use super::save::Calls;
use super::script::Arg;
use crate::backend::{Extend, Refresh, Refreshed};
use crate::clock::Timestamp;
use crate::error::Loss;
use crate::holder::HolderId;
use crate::name::{Key, Kind, Name};
use crate::spec::{Change, End};
use crate::sql::error::Failure;

/// How many leases are locked at once.
const LEASES_MAX: usize = 1000;

/// What is asked of one key, in the order in which it was: of which place of the batch, and what.
#[derive(Debug)]
struct OfKey<'a> {
    key: &'a Key,
    asked: Vec<(usize, &'a Refresh)>,
}

/// The answers, by their places.
type Refreshes = Vec<Option<Refreshed>>;

/// A lease whose row is locked.
#[derive(Debug)]
struct Locked {
    is_plain: bool,
    holder: Option<HolderId>,
    ends_at: Timestamp,
    not_after: Option<Timestamp>,
}

impl<D: Dialect> Link<'_, D> {
    pub(super) async fn refresh<'b>(
        &mut self,
        batch: &'b [Refresh],
    ) -> Result<Change<Vec<Refreshed>>, Failure> {
        let mut answers: Refreshes = vec![None; batch.len()];
        let (leases, mut rest) = sorted(batch);
        for some in leases.chunks(LEASES_MAX) {
            rest.extend(self.extend_plain(some, &mut answers).await?);
        }
        // In one order for all: by the bytes of their names.
        let order = |of: &OfKey<'b>| (&of.key.name, of.key.kind);
        rest.sort_unstable_by(|one, other| order(one).cmp(&order(other)));
        let mut wake = Vec::new();
        for of in &rest {
            wake.extend(self.extend_all(of, &mut answers).await?);
        }
        if self.is_in_transaction() {
            self.commit_nothing().await?;
        }
        let answer = answers.into_iter().collect::<Option<_>>();
        let answer = answer.ok_or_else(|| Failure::Answer("an answer less".to_owned()))?;
        Ok(Change { answer, wake })
    }

    /// Extends the holds of leases, in the order of their names, that nobody waits for and that are
    /// held; answers the others.
    async fn extend_plain<'b>(
        &mut self,
        leases: &[(&'b Key, usize, &'b Refresh)],
        answers: &mut Refreshes,
    ) -> Result<Vec<OfKey<'b>>, Failure> {
        let names: Vec<&[u8]> =
            leases.iter().map(|(key, ..)| key.name.as_str().as_bytes()).collect();
        let mut script = self.in_transaction();
        let first = script.add(&self.store.statements().lock_leases, &[Arg::List(&names)]);
        let found = self.run(script).await?;
        let now = found.one(first + 1)?.time(0)?;
        let mut rows = found.rows(first).iter().peekable();
        let (mut rest, mut ends) = (Vec::new(), BTreeMap::<Duration, Vec<&[u8]>>::new());
        for (key, place, refresh) in leases {
            let name = key.name.as_str().as_bytes();
            let of = || OfKey { key, asked: vec![(*place, *refresh)] };
            let row = match rows.peek() {
                Some(row) if row.bytes(0)? == name => rows.next(),
                _ => None,
            };
            let answer = match row.map(locked).transpose()? {
                None => Some(Refreshed::Lost(Loss::Expired)),
                Some(locked) => locked.extended(refresh, now),
            };
            match answer {
                None => rest.push(of()),
                Some(Refreshed::Held { .. }) => {
                    ends.entry(refresh.extend.lasts()).or_default().push(name)
                }
                Some(_) => {}
            }
            if let (Some(place), Some(answer)) = (answers.get_mut(*place), answer) {
                *place = Some(answer);
            }
        }
        let mut script = self.script();
        for (lasts, names) in &ends {
            let end = i64::try_from(now.after(*lasts).as_micros()).unwrap_or(i64::MAX);
            let arguments = [Arg::Number(end), Arg::List(names)];
            script.add(&self.store.statements().extend_leases, &arguments);
        }
        if D::LOCKS_KEYS {
            self.commit(script).await?;
        } else if !script.is_empty() {
            self.run(script).await?;
        }
        Ok(rest)
    }

    /// Does what is asked of one key by the rules.
    async fn extend_all(
        &mut self,
        of: &OfKey<'_>,
        answers: &mut Refreshes,
    ) -> Result<Vec<HolderId>, Failure> {
        let before = self.load(of.key).await?;
        let (mut after, now) = (before.state(), before.now);
        let mut wake = Vec::new();
        let mut calls = Calls::default();
        for (place, Refresh { holder, extend, .. }) in &of.asked {
            let rules = self.store.rules();
            let change = match (before.is_plain, *extend) {
                (None, extend) => Change { answer: unknown(extend), wake: Vec::new() },
                (_, Extend::Hold(ttl)) => after.refresh(*holder, ttl, now, rules),
                (_, Extend::Ticket { patience }) => {
                    calls.asked(*holder);
                    after.sign_of_life(*holder, patience, now, rules)
                }
            };
            calls.woken(&change.wake);
            wake.extend(change.wake);
            if let Some(place) = answers.get_mut(*place) {
                *place = Some(change.answer);
            }
        }
        let mut script = self.script();
        if before.is_plain.is_some() {
            self.write(&mut script, of.key, (&before, &after), &calls, None);
        }
        if D::LOCKS_KEYS {
            self.commit(script).await?;
        } else if !script.is_empty() {
            self.run(script).await?;
        }
        Ok(wake)
    }
}

/// Leases of which nothing is asked but that one hold be extended, by name; and all else, by key.
fn sorted(batch: &[Refresh]) -> (Vec<(&Key, usize, &Refresh)>, Vec<OfKey<'_>>) {
    let mut keys = BTreeMap::<(&Name, Kind), OfKey<'_>>::new();
    for (place, refresh) in batch.iter().enumerate() {
        let key = &refresh.key;
        let of = keys.entry((&key.name, key.kind));
        of.or_insert_with(|| OfKey { key, asked: Vec::new() }).asked.push((place, refresh));
    }
    let (mut leases, mut rest) = (Vec::new(), Vec::new());
    for of in keys.into_values() {
        match *of.asked {
            [(place, refresh)]
                if of.key.kind == Kind::Lease && matches!(refresh.extend, Extend::Hold(_)) =>
            {
                leases.push((of.key, place, refresh));
            }
            _ => rest.push(of),
        }
    }
    (leases, rest)
}

fn locked(row: &Row) -> Read<Locked> {
    Ok(Locked {
        is_plain: row.is_true(1)?,
        holder: row.maybe_holder(2)?,
        ends_at: row.time(3)?,
        not_after: row.maybe_time(4)?,
    })
}

impl Locked {
    /// Until when it is held after this refresh; none where it takes the rules to tell.
    fn extended(&self, refresh: &Refresh, now: Timestamp) -> Option<Refreshed> {
        if !self.is_plain || self.holder != Some(refresh.holder) || self.ends_at <= now {
            return None;
        }
        let end = now.after(refresh.extend.lasts());
        let bounded = self.not_after.filter(|not_after| *not_after <= end);
        let ends_in = bounded.unwrap_or(end).since(now);
        let end = if bounded.is_some() { End::MaxHold } else { End::Ttl };
        Some(Refreshed::Held { ends_in, end })
    }
}

/// What is answered about a key that nobody knows of.
fn unknown(extend: Extend) -> Refreshed {
    match extend {
        Extend::Hold(_) => Refreshed::Lost(Loss::Expired),
        Extend::Ticket { .. } => Refreshed::NotInLine,
    }
}
