//! A part of the memory backend's records, behind one lock.

use std::collections::VecDeque;
use std::time::Duration;

use hashbrown::HashTable;

use crate::clock::Timestamp;
use crate::fence::Target;
use crate::name::Key;
use crate::spec::{GuardState, KeyState};

/// How many records that are due are looked at in one operation.
const LOOKED_AT_MAX: usize = 32;

/// How many operations of one shard it takes until another one is tidied too.
const TIDIES_EVERY: usize = 8;

/// Below this many entries a map keeps its room.
const SHRINK_FROM: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Shard {
    pub(super) keys: Records<Key, KeyState>,
    pub(super) guards: Records<Target, GuardState>,
    operations: usize,
}

impl Shard {
    /// Forgets what is due here, a few at a time.
    pub(super) fn forget_due(&mut self, now: Timestamp, retention: Duration) {
        self.keys.forget_due(now, retention);
        self.guards.forget_due(now, retention);
    }

    /// Counts an operation; answers the shard that is to be tidied after this one, if it is one's
    /// turn: what nobody uses any more stands also where nobody comes by.
    pub(super) fn tidies(&mut self) -> Option<usize> {
        self.operations = self.operations.wrapping_add(1);
        self.operations.is_multiple_of(TIDIES_EVERY).then_some(self.operations / TIDIES_EVERY)
    }
}

/// A key and its hash, which is taken once for each operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hashed<'a, K> {
    pub(super) key: &'a K,
    pub(super) hash: u64,
}

/// Records by key, each with one turn in a queue at which it is looked at and, when it is due,
/// forgotten.
#[derive(Debug)]
pub(super) struct Records<K, S> {
    records: HashTable<Record<K, S>>,
    turns: VecDeque<Turn<K>>,
}

#[derive(Debug)]
struct Record<K, S> {
    hash: u64,
    key: K,
    state: S,
}

#[derive(Debug)]
struct Turn<K> {
    at: Timestamp,
    hash: u64,
    key: K,
}

/// What is forgotten after some time.
pub(super) trait Forgotten {
    /// When this may be forgotten; none while it is in use.
    fn due(&mut self, now: Timestamp, retention: Duration) -> Option<Timestamp>;
}

impl Forgotten for KeyState {
    fn due(&mut self, now: Timestamp, retention: Duration) -> Option<Timestamp> {
        self.idle_until(now, retention)
    }
}

impl Forgotten for GuardState {
    fn due(&mut self, _now: Timestamp, retention: Duration) -> Option<Timestamp> {
        Some(self.last_admit().after(retention))
    }
}

impl<K, S> Default for Records<K, S> {
    fn default() -> Self {
        Records { records: HashTable::new(), turns: VecDeque::new() }
    }
}

impl<K: Clone + Eq, S: Forgotten> Records<K, S> {
    pub(super) fn get_mut(&mut self, Hashed { key, hash }: Hashed<'_, K>) -> Option<&mut S> {
        self.records.find_mut(hash, |record| record.key == *key).map(|record| &mut record.state)
    }

    pub(super) fn get_or_insert(
        &mut self,
        Hashed { key, hash }: Hashed<'_, K>,
        now: Timestamp,
        retention: Duration,
        new: impl FnOnce() -> S,
    ) -> &mut S {
        let entry = self.records.entry(hash, |record| record.key == *key, |record| record.hash);
        let entry = entry.or_insert_with(|| {
            self.turns.push_back(Turn { at: now.after(retention), hash, key: key.clone() });
            Record { hash, key: key.clone(), state: new() }
        });
        &mut entry.into_mut().state
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &S)> {
        self.records.iter().map(|record| (&record.key, &record.state))
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    fn forget_due(&mut self, now: Timestamp, retention: Duration) {
        let before = self.records.len();
        for _ in 0..LOOKED_AT_MAX {
            if self.turns.front().is_none_or(|turn| turn.at > now) {
                break;
            }
            let Some(turn) = self.turns.pop_front() else { break };
            let is_its = |record: &Record<K, S>| record.key == turn.key;
            let Ok(mut record) = self.records.find_entry(turn.hash, is_its) else { continue };
            let at = match record.get_mut().state.due(now, retention) {
                Some(due) if due <= now => {
                    record.remove();
                    continue;
                }
                Some(due) => due,
                None => now.after(retention),
            };
            self.turns.push_back(Turn { at, ..turn });
        }
        if self.records.len() < before {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        let room = self.records.capacity();
        if room > SHRINK_FROM && self.records.len() < room / 4 {
            self.records.shrink_to_fit(|record| record.hash);
            self.turns.shrink_to_fit();
        }
    }
}
