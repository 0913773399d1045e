//! What an operator sees of a key.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::fence::Fence;
use crate::terms::{Limit, Note, Owner};

use super::KeyState;

/// Who holds a key and who waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyView {
    /// By slot.
    pub holders: Vec<HolderView>,
    /// By place in line.
    pub waiters: Vec<WaiterView>,
}

/// One hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderView {
    /// Which place.
    pub slot: u32,
    /// The number of the grant.
    pub fence: Fence,
    /// Who holds, if it said.
    pub owner: Option<Owner>,
    /// For people.
    pub note: Option<Note>,
    /// How long it has held.
    pub held_for: Duration,
    /// When it ends unless it is refreshed.
    pub ends_in: Duration,
}

/// One waiter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaiterView {
    /// The limit under which it waits.
    pub limit: Limit,
    /// Who waits, if it said.
    pub owner: Option<Owner>,
    /// For people.
    pub note: Option<Note>,
    /// How long it has waited.
    pub waited_for: Duration,
}

impl KeyView {
    /// Whether nobody holds and nobody waits.
    pub fn is_empty(&self) -> bool {
        self.holders.is_empty() && self.waiters.is_empty()
    }
}

impl KeyState {
    /// Whether anybody holds or waits, without those who lapsed by `now`.
    pub fn in_use(&self, now: Timestamp) -> bool {
        self.grants.iter().any(|(_, grant)| grant.expires_at > now)
            || self.line.iter().any(|ticket| ticket.lapses_at > now)
    }

    /// Shows who holds and who waits, without those who lapsed by `now`.
    pub fn view(&self, now: Timestamp) -> KeyView {
        let live = self.grants.iter().filter(|(_, grant)| grant.expires_at > now);
        let holders = live.map(|(slot, grant)| HolderView {
            slot,
            fence: grant.fence,
            owner: grant.owner.clone(),
            note: grant.note.clone(),
            held_for: now.since(grant.since),
            ends_in: grant.expires_at.since(now),
        });
        let waiting = self.line.iter().filter(|ticket| ticket.lapses_at > now);
        let waiters = waiting.map(|ticket| WaiterView {
            limit: ticket.limit,
            owner: ticket.owner.clone(),
            note: ticket.note.clone(),
            waited_for: now.since(ticket.since),
        });
        KeyView { holders: holders.collect(), waiters: waiters.collect() }
    }
}
