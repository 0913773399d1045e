//! A part of the memory backend's records, behind one lock.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::fence::Target;
use crate::name::Key;
use crate::spec::{GuardState, KeyState};

/// How many records that are due are looked at in one operation.
const LOOKED_AT_MAX: usize = 32;

/// Below this many entries a map keeps its room.
const SHRINK_FROM: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Shard {
    pub(super) keys: Records<Key, KeyState>,
    pub(super) guards: Records<Target, GuardState>,
}

/// Records by key, each with one turn in a queue at which it is looked at and, when it is due,
/// forgotten.
#[derive(Debug)]
pub(super) struct Records<K, S> {
    states: HashMap<K, S>,
    turns: VecDeque<(Timestamp, K)>,
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
        Records { states: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<K: Clone + Eq + Hash, S: Forgotten> Records<K, S> {
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut S> {
        self.states.get_mut(key)
    }

    pub(super) fn get_or_insert(
        &mut self,
        key: &K,
        now: Timestamp,
        retention: Duration,
        new: impl FnOnce() -> S,
    ) -> &mut S {
        // Two look-ups for a new key, one for a known one: known ones are the many.
        if !self.states.contains_key(key) {
            self.turns.push_back((now.after(retention), key.clone()));
        }
        self.states.entry(key.clone()).or_insert_with(new)
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Forgets what is due, a few at a time.
    pub(super) fn forget_due(&mut self, now: Timestamp, retention: Duration) {
        for _ in 0..LOOKED_AT_MAX {
            match self.turns.front() {
                Some((turn, _)) if *turn <= now => {}
                _ => return,
            }
            let Some((_, key)) = self.turns.pop_front() else { return };
            let due = self.states.get_mut(&key).map(|state| state.due(now, retention));
            match due {
                Some(Some(due)) if due <= now => drop(self.states.remove(&key)),
                Some(Some(due)) => self.turns.push_back((due, key)),
                Some(None) => self.turns.push_back((now.after(retention), key)),
                None => {}
            }
        }
        self.shrink();
    }

    fn shrink(&mut self) {
        if self.states.capacity() > SHRINK_FROM && self.states.len() < self.states.capacity() / 4 {
            self.states.shrink_to_fit();
            self.turns.shrink_to_fit();
        }
    }
}
