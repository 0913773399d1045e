//! Refreshing: all holds of a batch for which nobody waits in two requests, what is left key by key.

use std::collections::BTreeMap;

use super::link::{Dialect, Link};
use super::load::Reads;
use super::save::Calls;
use super::script::Script;
use crate::backend::{Extend, Refresh, Refreshed};
use crate::error::Loss;
use crate::holder::HolderId;
use crate::name::{Key, Kind, Name};
use crate::spec::Change;
use crate::sql::error::Failure;

/// How many keys are locked at once.
const KEYS_MAX: usize = 1000;

/// What is asked of one key, in the order in which it was: for which place of the batch, and what.
#[derive(Debug)]
pub(super) struct OfKey<'a> {
    pub(super) key: &'a Key,
    pub(super) asked: Vec<(usize, &'a Refresh)>,
}

/// The answers, by their places.
#[derive(Debug)]
pub(super) struct Refreshes(Vec<Option<Refreshed>>);

impl Refreshes {
    pub(super) fn answer(&mut self, place: usize, answer: Refreshed) {
        if let Some(place) = self.0.get_mut(place) {
            *place = Some(answer);
        }
    }
}

impl<D: Dialect> Link<'_, D> {
    pub(super) async fn refresh(
        &mut self,
        batch: &[Refresh],
    ) -> Result<Change<Vec<Refreshed>>, Failure> {
        let mut answers = Refreshes(vec![None; batch.len()]);
        let is_hold = |(_, one): &(usize, &Refresh)| matches!(one.extend, Extend::Hold(_));
        let (holds, mut rest): (Vec<_>, Vec<_>) =
            by_key(batch).partition(|of| of.asked.iter().all(is_hold));
        let mut holds = holds.into_iter().peekable();
        while holds.peek().is_some() {
            let some = holds.by_ref().take(KEYS_MAX).collect();
            rest.extend(self.extend_plain(some, &mut answers).await?);
        }
        let mut wake = Vec::new();
        for of in rest {
            wake.extend(self.extend_all(&of, &mut answers).await?);
        }
        if self.is_in_transaction() {
            self.commit_nothing().await?;
        }
        let answer = answers.0.into_iter().collect::<Option<_>>();
        let answer = answer.ok_or_else(|| Failure::Answer("an answer less".to_owned()))?;
        Ok(Change { answer, wake })
    }

    /// Does what is asked of one key by the rules.
    async fn extend_all(
        &mut self,
        of: &OfKey<'_>,
        answers: &mut Refreshes,
    ) -> Result<Vec<HolderId>, Failure> {
        let holders: Vec<_> = of.asked.iter().map(|(_, one)| one.holder).collect();
        let before = self.load(of.key, Reads::Of { holders: &holders, owner: None }).await?;
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
            answers.answer(*place, change.answer);
        }
        let mut script = self.script();
        if before.is_plain.is_some() {
            self.write(&mut script, of.key, (&before, &after), &calls, None);
        }
        self.go_on(script).await?;
        Ok(wake)
    }

    /// Writes, and ends the transaction where keys are locked one by one.
    pub(super) async fn go_on(&mut self, script: Script) -> Result<(), Failure> {
        if D::LOCKS_KEYS {
            self.commit(script).await?;
        } else if !script.is_empty() {
            self.run(script).await?;
        }
        Ok(())
    }
}

/// In one order for all: by the bytes of their names.
fn by_key(batch: &[Refresh]) -> impl Iterator<Item = OfKey<'_>> {
    let mut keys = BTreeMap::<(&Name, Kind), OfKey<'_>>::new();
    for (place, refresh) in batch.iter().enumerate() {
        let key = &refresh.key;
        let of = keys.entry((&key.name, key.kind));
        of.or_insert_with(|| OfKey { key, asked: Vec::new() }).asked.push((place, refresh));
    }
    keys.into_values()
}

/// What is answered about a key that nobody knows of.
pub(super) fn unknown(extend: Extend) -> Refreshed {
    match extend {
        Extend::Hold(_) => Refreshed::Lost(Loss::Expired),
        Extend::Ticket { .. } => Refreshed::NotInLine,
    }
}
