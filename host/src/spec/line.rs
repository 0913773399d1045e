//! The waiters of a key, first come first served.

use std::collections::VecDeque;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::holder::{HolderId, HolderMap};
use crate::terms::{Limit, Note, Owner};

use super::Rules;

/// A waiter's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) holder: HolderId,
    pub(crate) limit: Limit,
    pub(crate) owner: Option<Owner>,
    pub(crate) note: Option<Note>,
    pub(crate) since: Timestamp,
    pub(crate) lapses_at: Timestamp,
    /// When it could be admitted and was told so; forgotten when it asks.
    pub(crate) called_at: Option<Timestamp>,
    /// When it was last told to ask again.
    pub(crate) asks_at: Timestamp,
    /// Its number in the line: places are found by it, as tickets in front come and go.
    pub(crate) number: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    tickets: VecDeque<Ticket>,
    numbers: HolderMap<u64>,
    next_number: u64,
    /// No ticket lapses before this: a sign of life moves a lapse on and leaves it where it was.
    none_lapses_before_us: u64,
    /// Whether a ticket's lapse was moved on since that bound was exact.
    moved_on: bool,
    /// Who was called when, oldest first; one that has asked or gone since is still in it.
    calls: VecDeque<(Timestamp, u64)>,
}

impl Ticket {
    pub(crate) fn new(
        holder: HolderId,
        limit: Limit,
        owner: Option<Owner>,
        note: Option<Note>,
        now: Timestamp,
    ) -> Self {
        let (since, lapses_at, asks_at, called_at, number) = (now, now, now, None, 0);
        Ticket { holder, limit, owner, note, since, lapses_at, called_at, asks_at, number }
    }

    /// When it stops holding up others, if it was called.
    fn claim_end(&self, rules: &Rules) -> Option<Timestamp> {
        self.called_at.map(|called| called.after(rules.claim_time))
    }

    /// Whether it was called and has not asked for the claim time: nobody waits for it any more.
    fn is_passed_over(&self, now: Timestamp, rules: &Rules) -> bool {
        self.claim_end(rules).is_some_and(|end| end <= now)
    }
}

impl Line {
    /// The line of these tickets, by their numbers.
    #[cfg(any(feature = "sqlite", feature = "mysql"))]
    pub(crate) fn restored(tickets: Vec<Ticket>) -> Self {
        let mut calls: Vec<_> =
            tickets.iter().filter_map(|ticket| Some((ticket.called_at?, ticket.number))).collect();
        calls.sort_unstable();
        let mut line = Line {
            numbers: tickets.iter().map(|ticket| (ticket.holder, ticket.number)).collect(),
            next_number: tickets.last().map_or(0, |last| last.number + 1),
            calls: calls.into(),
            tickets: tickets.into(),
            ..Line::default()
        };
        line.bound_lapses();
        line
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tickets.is_empty()
    }

    pub(crate) fn len(&self) -> u32 {
        self.tickets.len() as u32
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ticket> {
        self.tickets.iter()
    }

    /// The waiters of an owner.
    pub(crate) fn of_owner(&self, owner: &Owner) -> impl Iterator<Item = HolderId> {
        let owned = self.tickets.iter().filter(|ticket| ticket.owner.as_ref() == Some(owner));
        owned.map(|ticket| ticket.holder)
    }

    /// How many tickets are in front of this holder's; none if it has no ticket.
    pub(crate) fn position(&self, holder: HolderId) -> Option<usize> {
        let number = self.numbers.get(&holder)?;
        self.tickets.binary_search_by_key(number, |ticket| ticket.number).ok()
    }

    /// Rule 4: whether an ask behind the first `in_front` tickets is admitted under `limit`, with
    /// `live` holders.
    pub(crate) fn admits(
        &self,
        in_front: usize,
        live: u32,
        limit: Limit,
        now: Timestamp,
        rules: &Rules,
    ) -> bool {
        let mut taken = live;
        for ticket in self.tickets.iter().take(in_front) {
            if taken >= limit.get() {
                return false;
            }
            if !ticket.is_passed_over(now, rules) {
                if taken >= ticket.limit.get() {
                    return false;
                }
                taken += 1;
            }
        }
        taken < limit.get()
    }

    /// Joins the line at its end; answers how many are in front.
    pub(crate) fn join(&mut self, mut ticket: Ticket, patience: Duration, now: Timestamp) -> usize {
        ticket.number = self.next_number;
        self.next_number += 1;
        self.numbers.insert(ticket.holder, ticket.number);
        self.tickets.push_back(ticket);
        let position = self.tickets.len() - 1;
        self.stay(position, patience, now);
        position
    }

    /// A sign of life of the ticket at `position`.
    pub(crate) fn stay(&mut self, position: usize, patience: Duration, now: Timestamp) {
        let alone = self.tickets.len() == 1;
        if let Some(ticket) = self.tickets.get_mut(position) {
            ticket.lapses_at = now.after(patience);
            ticket.called_at = None;
            self.moved_on = true;
            let lapse_us = ticket.lapses_at.as_micros();
            let bound = if alone { lapse_us } else { self.none_lapses_before_us.min(lapse_us) };
            self.none_lapses_before_us = bound;
        }
    }

    pub(crate) fn remove(&mut self, holder: HolderId) -> bool {
        let Some(position) = self.position(holder) else { return false };
        self.numbers.remove(&holder);
        let removed = self.tickets.remove(position).is_some();
        if self.tickets.is_empty() {
            self.calls.clear();
        }
        removed
    }

    pub(crate) fn drop_lapsed(&mut self, now: Timestamp) {
        if self.tickets.is_empty() || now.as_micros() < self.none_lapses_before_us {
            return;
        }
        self.tickets.retain(|ticket| ticket.lapses_at > now);
        if self.tickets.len() < self.numbers.len() {
            self.numbers = self.tickets.iter().map(|t| (t.holder, t.number)).collect();
        }
        self.bound_lapses();
    }

    /// The ticket at `position` was told to ask again then.
    pub(crate) fn told(&mut self, position: usize, asks_at: Timestamp) {
        if let Some(ticket) = self.tickets.get_mut(position) {
            ticket.asks_at = asks_at;
        }
    }

    /// Whether the ticket at `position` could be admitted, was told so, and has not asked.
    pub(crate) fn is_called(&self, position: usize) -> bool {
        self.tickets.get(position).is_some_and(|ticket| ticket.called_at.is_some())
    }

    /// The first who was not called, if it would sleep past `end`. It will ask then, and when it is
    /// admitted call those behind it.
    pub(crate) fn first_to_sleep_past(&mut self, end: Timestamp) -> Option<HolderId> {
        let first = self.tickets.iter_mut().find(|ticket| ticket.called_at.is_none())?;
        if first.asks_at <= end {
            return None;
        }
        first.asks_at = end;
        Some(first.holder)
    }

    /// Calls, in order, those who can be admitted beside `live` holders, up to the first who can't;
    /// answers those who were not called before. The first of these is called as of `since`.
    pub(crate) fn call(
        &mut self,
        live: u32,
        since: Timestamp,
        now: Timestamp,
        rules: &Rules,
    ) -> Vec<HolderId> {
        let mut called = Vec::new();
        let mut taken = live;
        for ticket in &mut self.tickets {
            if ticket.is_passed_over(now, rules) {
                continue;
            }
            if taken >= ticket.limit.get() {
                break;
            }
            if ticket.called_at.is_none() {
                let called_at = if called.is_empty() { since } else { now };
                ticket.called_at = Some(called_at);
                self.calls.push_back((called_at, ticket.number));
                called.push(ticket.holder);
            }
            if !ticket.is_passed_over(now, rules) {
                taken += 1;
            }
        }
        if !called.is_empty() {
            self.earliest_claim_end(now, rules); // Forgets the calls that are over.
        }
        called
    }

    /// No later than the earliest moment at which a ticket lapses or stops holding up others.
    pub(crate) fn earliest_lapse(&mut self, now: Timestamp, rules: &Rules) -> Option<Timestamp> {
        if self.tickets.is_empty() {
            return None;
        }
        let lapse = Timestamp::from_micros(self.none_lapses_before_us);
        Some(self.earliest_claim_end(now, rules).map_or(lapse, |end| end.min(lapse)))
    }

    fn earliest_claim_end(&mut self, now: Timestamp, rules: &Rules) -> Option<Timestamp> {
        while let Some(&(called_at, number)) = self.calls.front() {
            let position = self.tickets.binary_search_by_key(&number, |ticket| ticket.number);
            let ticket = position.ok().and_then(|position| self.tickets.get(position));
            let claim_end = called_at.after(rules.claim_time);
            let stands = ticket.is_some_and(|ticket| ticket.called_at == Some(called_at));
            if stands && claim_end > now {
                return Some(claim_end);
            }
            self.calls.pop_front();
        }
        None
    }

    /// Looks at every ticket again when the bound on lapses comes nearer than those of living
    /// waiters do: a line in which all are alive is then asked about no lapse.
    pub(crate) fn look_for_lapses(&mut self, patience: Duration, now: Timestamp) {
        let bound = Timestamp::from_micros(self.none_lapses_before_us);
        if self.moved_on && bound < now.after(patience / 2) {
            self.bound_lapses();
        }
    }

    fn bound_lapses(&mut self) {
        let earliest = self.tickets.iter().map(|ticket| ticket.lapses_at.as_micros()).min();
        self.none_lapses_before_us = earliest.unwrap_or_default();
        self.moved_on = false;
    }
}
