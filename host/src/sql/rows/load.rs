//! What is stored of a key, under its lock.

use super::link::{Dialect, Link};
use super::row::{Answers, Read, Row, strange};
use super::script::Arg;
use crate::clock::Timestamp;
use crate::error::Loss;
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::{Departure, Grant, KeyState, StoredKey, Ticket};
use crate::sql::error::Failure;
use crate::sql::store::kind;

/// All that is stored of a key that is locked, at a time at which it was.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) now: Timestamp,
    /// Whether it has its row of slot 0, and what that says of the line; none where it is unknown.
    pub(super) is_plain: Option<bool>,
    pub(super) slots: Vec<Slot>,
    pub(super) tickets: Vec<Waiter>,
    pub(super) departed: Vec<(i64, Departure)>,
    /// Those who left before they asked, and until when an ask of theirs that comes late is refused.
    pub(super) refused: Vec<(i64, HolderId, Timestamp)>,
}

/// A row of a slot: who holds it or, if nobody, who did.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) slot: u32,
    pub(super) grant: Option<Grant>,
    /// Of its latest grant.
    pub(super) last_fence: u64,
    /// When that ends, or ended.
    pub(super) ends_at: Timestamp,
}

/// A row of the line.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) ticket: Ticket,
    /// Told to ask now, and has not asked since.
    pub(super) woken: bool,
}

/// As the tables number it: left before it asked.
pub(super) const REFUSED: i64 = 3;

impl<D: Dialect> Link<'_, D> {
    /// Locks a key, in a transaction that it begins unless one is open, and reads what is stored.
    pub(super) async fn load(&mut self, key: &Key) -> Result<Stored, Failure> {
        let mut script = self.in_transaction();
        let arguments = [Arg::Number(kind(key.kind).into()), Arg::Bytes(name(key))];
        let first = script.add(&self.store.statements().load, &arguments);
        stored(&self.run(script).await?, first)
    }
}

pub(super) fn name(key: &Key) -> &[u8] {
    key.name.as_str().as_bytes()
}

/// What `load.sql` answers.
fn stored(answers: &Answers, first: usize) -> Read<Stored> {
    let [slots, tickets] = [first + 2, first + 3].map(|place| answers.rows(place));
    let mut stored = Stored {
        is_plain: answers.first(first).map(|row| row.is_true(0)).transpose()?,
        now: answers.one(first + 1)?.time(0)?,
        slots: slots.iter().map(slot).collect::<Read<_>>()?,
        tickets: tickets.iter().map(waiter).collect::<Read<_>>()?,
        departed: Vec::new(),
        refused: Vec::new(),
    };
    for row in answers.rows(first + 4) {
        let (number, holder, until) = (row.number(0)?, row.holder(1)?, row.time(3)?);
        match row.number(2)? {
            REFUSED => stored.refused.push((number, holder, until)),
            code => {
                let departure = Departure { holder, loss: loss(code)?, until };
                stored.departed.push((number, departure));
            }
        }
    }
    Ok(stored)
}

fn slot(row: &Row) -> Read<Slot> {
    let (slot, ends_at) = (row.small(0)?, row.time(6)?);
    let last_fence = u64::try_from(row.number(4)?).unwrap_or_default();
    let Some(holder) = row.maybe_holder(1)? else {
        return Ok(Slot { slot, grant: None, last_fence, ends_at });
    };
    let grant = Grant {
        holder,
        owner: row.owner(2)?,
        note: row.note(3)?,
        fence: row.fence(4)?,
        since: row.time(5)?,
        expires_at: ends_at,
        not_after: row.maybe_time(7)?,
    };
    Ok(Slot { slot, grant: Some(grant), last_fence, ends_at })
}

fn waiter(row: &Row) -> Read<Waiter> {
    let ticket = Ticket {
        holder: row.holder(1)?,
        limit: row.limit(2)?,
        owner: row.owner(3)?,
        note: row.note(4)?,
        since: row.time(5)?,
        lapses_at: row.time(6)?,
        called_at: row.maybe_time(7)?,
        asks_at: row.time(8)?,
        number: row.time(0)?.as_micros(),
    };
    Ok(Waiter { ticket, woken: row.is_true(9)? })
}

/// As the tables number them.
pub(super) fn loss_code(loss: Loss) -> i64 {
    match loss {
        Loss::Superseded => 1,
        _ => 2,
    }
}

fn loss(code: i64) -> Read<Loss> {
    match code {
        1 => Ok(Loss::Superseded),
        2 => Ok(Loss::Revoked),
        code => Err(strange("loss", code)),
    }
}

impl Stored {
    /// The state of the key.
    pub(super) fn state(&self) -> KeyState {
        let last_fence = self.slots.iter().map(|slot| slot.last_fence).max().unwrap_or_default();
        let grants = self.slots.iter().filter_map(|slot| Some((slot.slot, slot.grant.clone()?)));
        KeyState::restored(StoredKey {
            last_fence,
            grants: grants.collect(),
            tickets: self.tickets.iter().map(|waiter| waiter.ticket.clone()).collect(),
            departed: self.departed.iter().map(|(_, departure)| departure.clone()).collect(),
        })
    }

    /// Whether an ask of this holder's comes late.
    pub(super) fn refuses(&self, holder: HolderId) -> bool {
        self.refused.iter().any(|(_, left, until)| *left == holder && *until > self.now)
    }
}
