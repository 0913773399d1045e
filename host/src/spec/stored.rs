//! A key's state as plain records: for backends that keep them as rows and run the transitions on
//! what they read back.

use super::KeyState;
use super::departed::Departed;
use super::grants::Grants;
use super::line::Line;

pub(crate) use super::departed::Departure;
pub(crate) use super::grants::{Grant, Unseen};
pub(crate) use super::line::Ticket;

/// All that is stored of a key.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredKey {
    /// The greatest fence that was granted.
    pub(crate) last_fence: u64,
    /// By slot. One that has ended since is found to have when a transition runs.
    pub(crate) grants: Vec<(u32, Grant)>,
    /// Those that are not among them, if any are not.
    pub(crate) unseen: Option<Unseen>,
    /// By number.
    pub(crate) tickets: Vec<Ticket>,
    /// In the order in which they went.
    pub(crate) departed: Vec<Departure>,
}

impl KeyState {
    /// The state that was stored. When it may be forgotten is to be told by what is stored: its
    /// last end is not among it.
    pub(crate) fn restored(stored: StoredKey) -> Self {
        let StoredKey { last_fence, grants, unseen, tickets, departed } = stored;
        KeyState {
            last_fence,
            grants: Grants::restored(grants, unseen),
            line: Line::restored(tickets),
            departed: Departed::restored(departed),
            ..KeyState::default()
        }
    }

    /// Who holds, by slot, of those that are not only counted.
    pub(crate) fn grants(&self) -> impl Iterator<Item = (u32, &Grant)> {
        self.grants.iter()
    }

    /// Who waits, in line.
    pub(crate) fn tickets(&self) -> impl Iterator<Item = &Ticket> {
        self.line.iter()
    }

    /// Who was replaced or ended, in the order in which they went.
    pub(crate) fn departed(&self) -> impl Iterator<Item = &Departure> {
        self.departed.iter()
    }
}
