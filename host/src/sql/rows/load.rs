//! What is stored of a key, under its lock.

use super::link::{Dialect, Link};
use super::row::{Answers, Read, Row, strange};
use super::script::Arg;
use crate::clock::Timestamp;
use crate::error::Loss;
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::{Departure, Gap, Grant, KeyState, StoredKey, Ticket, Unseen};
use crate::sql::error::Failure;
use crate::sql::store::kind;
use crate::terms::Owner;

/// All that is stored of a key that is locked, at a time at which it was.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) now: Timestamp,
    /// What its row of slot 0 says; none where it is unknown.
    pub(super) is_plain: Option<bool>,
    /// Those that were read.
    pub(super) slots: Vec<Slot>,
    /// How many slots have rows, from the first one on, where not all were read.
    rows: u32,
    /// The holds that were not read, where not all were.
    unseen: Option<Unseen>,
    last_fence: u64,
    /// Those that were read, lapsed or not.
    pub(super) tickets: Vec<Waiter>,
    /// Whether any lapsed, read or not.
    pub(super) has_lapsed: bool,
    next_ticket: u64,
    /// Those that were not read, where not all were.
    gap: Option<Gap>,
    pub(super) departed: Vec<(i64, Departure)>,
    /// Those who left before they asked, and until when an ask of theirs that comes late is refused.
    pub(super) refused: Vec<(i64, HolderId, Timestamp)>,
}

/// A row of a slot: who holds it or, if nobody, who did.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) slot: u32,
    pub(super) grant: Option<Grant>,
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

/// Whose holds and tickets are read of a key. Holds that ended by themselves always are, and so is the
/// front of the line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reads<'a> {
    AllHolds,
    /// Others are counted.
    Of {
        holders: &'a [HolderId],
        owner: Option<&'a Owner>,
    },
}

/// How much of a line is read, from its front on: as much as most operations go through, and what is
/// tried next where one did not get by with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Front(u32);

impl Front {
    pub(super) const FIRST: Front = Front(4);

    pub(super) fn longer(self) -> Self {
        Front(self.0.saturating_mul(16))
    }
}

impl<D: Dialect> Link<'_, D> {
    /// Locks a key, in a transaction that it begins unless one is open, and reads what is stored.
    pub(super) async fn load(
        &mut self,
        key: &Key,
        reads: Reads<'_>,
        front: Front,
    ) -> Result<Stored, Failure> {
        let holders: Vec<_> = match reads {
            Reads::AllHolds => Vec::new(),
            Reads::Of { holders, .. } => {
                holders.iter().map(|one| one.as_bytes().as_slice()).collect()
            }
        };
        let owner = match reads {
            Reads::AllHolds => None,
            Reads::Of { owner, .. } => owner.map(|owner| owner.as_str().as_bytes()),
        };
        // Where somebody removed rows by hand, only all of them tell which slots are free.
        for all in [matches!(reads, Reads::AllHolds), true] {
            let mut script = self.in_transaction();
            let arguments = [
                Arg::Number(kind(key.kind).into()),
                Arg::Bytes(name(key)),
                Arg::List(&holders),
                Arg::MaybeBytes(owner),
                Arg::Number(all.into()),
                Arg::Number(front.0.into()),
            ];
            let first = script.add(&self.store.statements().load, &arguments);
            let reads = if all { Reads::AllHolds } else { reads };
            if let Some(stored) = stored(&self.run(script).await?, first, reads, front)? {
                return Ok(stored);
            }
        }
        Err(strange("key", key))
    }
}

pub(super) fn name(key: &Key) -> &[u8] {
    key.name.as_str().as_bytes()
}

/// What `load.sql` answers; none where slots without rows are among those with rows and not all rows
/// were read.
fn stored(answers: &Answers, first: usize, reads: Reads<'_>, front: Front) -> Read<Option<Stored>> {
    let counts = answers.one(first + 1)?;
    let (now, rows) = (counts.time(0)?, counts.small(1)?);
    let last_slot = counts.maybe_number(2)?;
    let unseen = match reads {
        Reads::AllHolds => None,
        Reads::Of { .. } if last_slot.map_or(0, |last| last + 1) != i64::from(rows) => {
            return Ok(None);
        }
        Reads::Of { .. } => Some(Unseen {
            count: counts.small(5)?,
            earliest_end: counts.maybe_time(6)?,
            free_slot: counts.maybe_small(4)?.unwrap_or(rows),
        }),
    };
    let slots = answers.rows(first + 2).iter().map(slot).collect::<Read<Vec<_>>>()?;
    let tickets = answers.rows(first + 3).iter().map(waiter).collect::<Read<Vec<_>>>()?;
    let last_number = counts.maybe_time(9)?.map(Timestamp::as_micros);
    let mut stored = Stored {
        is_plain: answers.first(first).map(|row| row.is_true(0)).transpose()?,
        now,
        // One that ended since the others were counted is among these.
        slots: slots.into_iter().filter(|slot| reads.has(slot, now)).collect(),
        rows,
        unseen,
        last_fence: counts.maybe_time(3)?.map_or(0, Timestamp::as_micros),
        gap: gap(counts, &tickets, reads, front)?,
        tickets,
        has_lapsed: counts.number(8)? > 0,
        next_ticket: last_number.map_or(0, |last| last + 1),
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
    Ok(Some(stored))
}

/// The tickets that were counted and not read, if there are any.
fn gap(counts: &Row, read: &[Waiter], reads: Reads<'_>, front: Front) -> Read<Option<Gap>> {
    let now = counts.time(0)?;
    let waits = |waiter: &&Waiter| waiter.ticket.lapses_at > now;
    let count = counts.small(7)?.saturating_sub(read.iter().filter(waits).count() as u32);
    if count == 0 {
        return Ok(None);
    }
    // One that lapsed is not where it joins again.
    let own = read.iter().position(|waiter| reads.is_of(waiter) && waits(&waiter));
    let before_own = match own {
        None => count,
        Some(own) => {
            let known = read.iter().take(own).filter(waits).count() as u32;
            counts.small(11)?.saturating_sub(known)
        }
    };
    Ok(Some(Gap {
        behind: read.iter().take(front.0 as usize).filter(waits).count(),
        count,
        before_own,
        none_lapses_before: counts.maybe_time(10)?.unwrap_or(now),
        was_reached: false,
    }))
}

impl Reads<'_> {
    /// Whether a ticket is one of those that were asked for by their holders.
    fn is_of(&self, waiter: &Waiter) -> bool {
        matches!(self, Reads::Of { holders, .. } if holders.contains(&waiter.ticket.holder))
    }

    fn has(&self, slot: &Slot, now: Timestamp) -> bool {
        let Reads::Of { holders, owner } = self else { return true };
        slot.slot == 0
            || slot.grant.as_ref().is_some_and(|grant| {
                let is_owners = owner.is_some() && grant.owner.as_ref() == *owner;
                grant.expires_at <= now || holders.contains(&grant.holder) || is_owners
            })
    }
}

fn slot(row: &Row) -> Read<Slot> {
    let (slot, ends_at) = (row.small(0)?, row.time(6)?);
    let Some(holder) = row.maybe_holder(1)? else {
        return Ok(Slot { slot, grant: None, ends_at });
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
    Ok(Slot { slot, grant: Some(grant), ends_at })
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
        let grants = self.slots.iter().filter_map(|slot| Some((slot.slot, slot.grant.clone()?)));
        let waiting = self.tickets.iter().filter(|waiter| waiter.ticket.lapses_at > self.now);
        KeyState::restored(StoredKey {
            last_fence: self.last_fence,
            grants: grants.collect(),
            unseen: self.unseen,
            tickets: waiting.map(|waiter| waiter.ticket.clone()).collect(),
            next_ticket: self.next_ticket,
            gap: self.gap,
            departed: self.departed.iter().map(|(_, departure)| departure.clone()).collect(),
        })
    }

    /// Whether nobody holds it or waits for it, and nothing else is known. Somebody may have removed
    /// the row of slot 0 by hand, and not those of others.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_plain.is_none() && self.slots.is_empty() && self.tickets.is_empty()
    }

    /// Whether a slot that was not read has a row.
    pub(super) fn has_row(&self, slot: u32) -> bool {
        self.unseen.is_some() && slot < self.rows
    }

    /// Whether an ask of this holder's comes late.
    pub(super) fn refuses(&self, holder: HolderId) -> bool {
        self.refused.iter().any(|(_, left, until)| *left == holder && *until > self.now)
    }
}
