//! Writing what a transition changed, and nothing else.

use super::load::{REFUSED, Slot, Stored, Waiter, loss_code, name};
use super::script::{Arg, Script, Statement};
use super::statements::Statements;
use crate::clock::Timestamp;
use crate::holder::{HolderId, HolderMap};
use crate::name::Key;
use crate::spec::{Departure, Grant, KeyState, Ticket};
use crate::sql::store::{LATE, kind};

/// What became of a key.
#[derive(Debug)]
pub(super) struct Changed<'a> {
    pub(super) key: &'a Key,
    pub(super) before: &'a Stored,
    pub(super) after: &'a KeyState,
    pub(super) calls: &'a Calls,
    /// Whose asks are refused from now on for a while, if anybody's.
    pub(super) refuse: Option<HolderId>,
}

/// Who was woken, and who has asked since.
#[derive(Debug, Default)]
pub(super) struct Calls(HolderMap<bool>);

impl Calls {
    /// This one has asked, or gave a sign of life.
    pub(super) fn asked(&mut self, holder: HolderId) {
        self.0.insert(holder, false);
    }

    /// These are to ask now.
    pub(super) fn woken(&mut self, holders: &[HolderId]) {
        self.0.extend(holders.iter().map(|holder| (*holder, true)));
    }
}

/// What a script is written with.
pub(super) struct Writer<'a> {
    pub(super) script: &'a mut Script,
    pub(super) statements: &'a Statements,
    /// Of this process.
    pub(super) inbox: &'a str,
}

impl Writer<'_> {
    /// Writes what differs.
    pub(super) fn write(&mut self, changed: &Changed<'_>) {
        self.write_slots(changed);
        self.write_line(changed);
        self.write_departed(changed);
    }

    fn add(&mut self, statement: fn(&Statements) -> &Statement, key: &Key, rest: &[Arg<'_>]) {
        let mut arguments = vec![Arg::Number(kind(key.kind).into()), Arg::Bytes(name(key))];
        arguments.extend_from_slice(rest);
        self.script.add(statement(self.statements), &arguments);
    }

    fn write_slots(&mut self, changed: &Changed<'_>) {
        let Changed { key, before, after, .. } = *changed;
        let now = before.now;
        let ended = |slot: &Slot| slot.grant.as_ref().is_some_and(|grant| grant.expires_at <= now);
        if before.slots.iter().any(ended) {
            self.add(|all| &all.drop_ended, key, &[time(now)]);
        }
        let is_plain = changed.is_plain();
        let mut has_first = before.is_plain.is_some();
        let mut rows = before.slots.iter().peekable();
        for (slot, grant) in after.grants() {
            while let Some(row) = rows.next_if(|row| row.slot < slot) {
                self.free(key, row, now);
            }
            match rows.next_if(|row| row.slot == slot) {
                Some(row) if row.grant.as_ref() == Some(grant) => {}
                Some(_) => self.add(|all| &all.set_slot, key, &granted(slot, grant)),
                None if before.has_row(slot) => {
                    self.add(|all| &all.set_slot, key, &granted(slot, grant));
                }
                None => {
                    has_first |= slot == 0;
                    let plain = Arg::Number(i64::from(slot > 0 || is_plain));
                    let arguments = [granted(slot, grant).as_slice(), &[plain]].concat();
                    self.add(|all| &all.add_slot, key, &arguments);
                }
            }
        }
        rows.for_each(|row| self.free(key, row, now));
        if !has_first {
            let plain = Arg::Number(is_plain.into());
            self.add(|all| &all.add_slot, key, &[EMPTY.as_slice(), &[plain]].concat());
        } else if before.is_plain.is_some_and(|was_plain| was_plain != is_plain) {
            self.add(|all| &all.set_plain, key, &[Arg::Number(is_plain.into())]);
        }
    }

    /// Nobody holds this slot any more, if somebody did.
    fn free(&mut self, key: &Key, row: &Slot, now: Timestamp) {
        // What ended by itself is gone by one statement for all.
        if row.grant.is_some() && row.ends_at > now {
            self.add(|all| &all.free_slot, key, &[Arg::Number(row.slot.into()), time(now)]);
        }
    }

    fn write_line(&mut self, changed: &Changed<'_>) {
        let Changed { key, before, after, calls, .. } = *changed;
        let now = before.now;
        let lapsed = |waiter: &Waiter| waiter.ticket.lapses_at <= now;
        if before.tickets.iter().any(lapsed) {
            self.add(|all| &all.drop_lapsed, key, &[time(now)]);
        }
        let mut rows = before.tickets.iter().peekable();
        for ticket in after.tickets() {
            while let Some(row) = rows.next_if(|row| row.ticket.number < ticket.number) {
                self.drop_ticket(key, row, now);
            }
            let row = rows.next_if(|row| row.ticket.number == ticket.number);
            let was_woken = row.is_some_and(|row| row.woken);
            let woken = calls.0.get(&ticket.holder).copied().unwrap_or(was_woken);
            match row {
                Some(row) if row.ticket == *ticket && was_woken == woken => {}
                Some(_) => self.add(|all| &all.set_ticket, key, &moved(ticket, woken)),
                None => self.add_ticket(key, ticket, woken),
            }
        }
        rows.for_each(|row| self.drop_ticket(key, row, now));
    }

    fn add_ticket(&mut self, key: &Key, ticket: &Ticket, woken: bool) {
        let [number, lapses_at, called_at, asks_at, woken] = moved(ticket, woken);
        let arguments = [
            number,
            Arg::Bytes(ticket.holder.as_bytes()),
            Arg::Number(ticket.limit.get().into()),
            Arg::MaybeBytes(ticket.owner.as_ref().map(|owner| owner.as_str().as_bytes())),
            Arg::MaybeBytes(ticket.note.as_ref().map(|note| note.as_str().as_bytes())),
            time(ticket.since),
            lapses_at,
            called_at,
            asks_at,
            Arg::Bytes(self.inbox.as_bytes()),
            woken,
        ];
        self.add(|all| &all.add_ticket, key, &arguments);
    }

    fn drop_ticket(&mut self, key: &Key, row: &Waiter, now: Timestamp) {
        // What lapsed is gone by one statement for all.
        if row.ticket.lapses_at > now {
            self.add(|all| &all.drop_ticket, key, &[Arg::Number(number(row.ticket.number))]);
        }
    }

    fn write_departed(&mut self, changed: &Changed<'_>) {
        let Changed { key, before, after, refuse, .. } = *changed;
        let now = before.now;
        let mut left = after.departed().peekable();
        let mut beyond = 0;
        for (number, departure) in &before.departed {
            // They go from the front, and those that are over go wherever they stand.
            if left.next_if_eq(&departure).is_none() && departure.until > now {
                beyond = *number;
            }
        }
        let new: Vec<&Departure> = left.collect();
        if new.is_empty() && refuse.is_none() {
            return;
        }
        self.add(|all| &all.drop_departed, key, &[time(now), Arg::Number(beyond)]);
        let departed = before.departed.iter().map(|(number, _)| *number);
        let refused = before.refused.iter().map(|(number, ..)| *number);
        let last = departed.chain(refused).max().unwrap_or_default();
        let until = now.after(LATE);
        let refuse = refuse.iter().map(|holder| (holder, REFUSED, until));
        let new = new.into_iter().map(|one| (&one.holder, loss_code(one.loss), one.until));
        for (number, (holder, loss, until)) in (last + 1..).zip(new.chain(refuse)) {
            let holder = Arg::Bytes(holder.as_bytes());
            let arguments = [Arg::Number(number), holder, Arg::Number(loss), time(until)];
            self.add(|all| &all.add_departed, key, &arguments);
        }
    }
}

impl Changed<'_> {
    /// Whether the key has no line now, and nobody whose late ask is refused.
    fn is_plain(&self) -> bool {
        let refuses = self.before.refused.iter().any(|(.., until)| *until > self.before.now);
        self.after.tickets().next().is_none() && !refuses && self.refuse.is_none()
    }
}

/// A slot that was never granted.
const EMPTY: [Arg<'static>; 8] = [
    Arg::Number(0),
    Arg::MaybeBytes(None),
    Arg::MaybeBytes(None),
    Arg::MaybeBytes(None),
    Arg::Number(0),
    Arg::Number(0),
    Arg::Number(0),
    Arg::MaybeNumber(None),
];

fn granted(slot: u32, grant: &Grant) -> [Arg<'_>; 8] {
    [
        Arg::Number(slot.into()),
        Arg::Bytes(grant.holder.as_bytes()),
        Arg::MaybeBytes(grant.owner.as_ref().map(|owner| owner.as_str().as_bytes())),
        Arg::MaybeBytes(grant.note.as_ref().map(|note| note.as_str().as_bytes())),
        Arg::Number(number(grant.fence.as_u64())),
        time(grant.since),
        time(grant.expires_at),
        Arg::MaybeNumber(grant.not_after.map(|end| number(end.as_micros()))),
    ]
}

fn moved(ticket: &Ticket, woken: bool) -> [Arg<'static>; 5] {
    [
        Arg::Number(number(ticket.number)),
        time(ticket.lapses_at),
        Arg::MaybeNumber(ticket.called_at.map(|called_at| number(called_at.as_micros()))),
        time(ticket.asks_at),
        Arg::Number(woken.into()),
    ]
}

fn time(time: Timestamp) -> Arg<'static> {
    Arg::Number(number(time.as_micros()))
}

/// Below 2^63: times are below 2^53, and numbers are counted.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
