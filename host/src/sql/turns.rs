//! One after the other: those of this process who wait for one key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::name::Key;

/// Whoever has it locked asks.
pub(super) type Turn = tokio::sync::Mutex<()>;

/// The turns of the keys that are being asked for.
///
/// Several that are called together ask in the order in which they were called. Over several
/// connections a later one, of a greater limit, could take a place before an earlier one, which then
/// finds too many. It is also one connection that a key takes from the pool, and not all: who is let
/// in waits for the key's lock anyway.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<Key, Weak<Turn>>>);

impl Turns {
    /// The turn of a key.
    pub(super) fn of(&self, key: &Key) -> Arc<Turn> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        if turns.len().is_power_of_two() {
            turns.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(Turn::new(()));
        turns.insert(key.clone(), Arc::downgrade(&turn));
        turn
    }
}
