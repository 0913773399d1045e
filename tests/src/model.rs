//! The rules once more, written for nothing but to be read: no index, no bound kept beside what it
//! bounds. Backends are compared with it, operation by operation.
//!
//! Every operation first does what time alone does, then changes what it changes, and then calls
//! who can be admitted by that.

use std::time::Duration;

use leases::spec::{Answer, Ask, End, Granted, HolderView, KeyView, Mode, Rules, WaiterView};
use leases::{Fence, HolderId, Loss, Refreshed, Timestamp, Ttl};

/// What is known of one key.
#[derive(Debug, Clone, Default)]
pub struct Model {
    last_fence: u64,
    grants: Vec<Grant>,
    line: Vec<Ticket>,
    departed: Vec<(HolderId, Loss, Timestamp)>,
}

#[derive(Debug, Clone)]
struct Grant {
    ask: Ask,
    slot: u32,
    fence: Fence,
    since: Timestamp,
    end: Timestamp,
    not_after: Option<Timestamp>,
}

#[derive(Debug, Clone)]
struct Ticket {
    ask: Ask,
    since: Timestamp,
    lapse: Timestamp,
    called: Option<Timestamp>,
}

impl Ticket {
    fn claim_end(&self) -> Option<Timestamp> {
        self.called.map(|called| called.after(Rules::default().claim_time))
    }

    fn is_passed_over(&self, now: Timestamp) -> bool {
        self.claim_end().is_some_and(|end| end <= now)
    }
}

impl Model {
    /// What time alone does: holds end and tickets lapse, and who can be admitted by that is
    /// called, the first of them as of the last of those ends.
    fn catch_up(&mut self, now: Timestamp) {
        let ended = self.grants.iter().map(|grant| grant.end).filter(|end| *end <= now).max();
        self.grants.retain(|grant| grant.end > now);
        self.line.retain(|ticket| ticket.lapse > now);
        self.departed.retain(|(_, _, until)| *until > now);
        self.call(ended.unwrap_or(now), now);
    }

    /// Calls those who can be admitted and were not called before: the first as of `first`.
    fn call(&mut self, first: Timestamp, now: Timestamp) {
        let mut as_of = first;
        loop {
            let admissible = self.admissible(now);
            let mut tickets = self.line.iter_mut().zip(admissible);
            match tickets.find(|(ticket, admissible)| *admissible && ticket.called.is_none()) {
                Some((ticket, _)) => ticket.called = Some(as_of),
                None => return,
            }
            as_of = now;
        }
    }

    /// For each ticket, whether it could be admitted now, nobody being overtaken.
    fn admissible(&self, now: Timestamp) -> Vec<bool> {
        let mut taken = self.grants.len();
        let mut blocked = false;
        let one = |ticket: &Ticket| {
            if ticket.is_passed_over(now) {
                return false;
            }
            blocked |= taken >= ticket.ask.limit.get() as usize;
            taken += usize::from(!blocked);
            !blocked
        };
        self.line.iter().map(one).collect()
    }

    /// Answers an ask; its `retry_in` is exact.
    pub fn ask(&mut self, ask: &Ask, now: Timestamp) -> Answer {
        self.catch_up(now);
        let granted = self.decide(ask, now);
        let at = self.place(ask.holder);
        if let (None, Mode::Wait { patience }) = (granted, ask.mode) {
            let ticket = Ticket { ask: ask.clone(), since: now, lapse: now, called: None };
            if at == self.line.len() {
                self.line.push(ticket);
            }
            self.stay(at, patience, now);
        }
        self.call(now, now);
        match (granted, ask.mode) {
            (Some(granted), _) => Answer::Granted(granted),
            (None, Mode::Once) => Answer::Busy { retry_in: self.retry_in(at, now) },
            (None, Mode::Wait { .. }) => {
                Answer::Waiting { position: at as u32, retry_in: self.retry_in(at, now) }
            }
        }
    }

    fn decide(&mut self, ask: &Ask, now: Timestamp) -> Option<Granted> {
        let own = |grant: &&mut Grant| grant.ask.holder == ask.holder;
        if let Some(grant) = self.grants.iter_mut().find(own) {
            extend(grant, ask.ttl, now);
            return Some(told(grant, now));
        }
        let owned = |grant: &Grant| ask.owner.is_some() && grant.ask.owner == ask.owner;
        if let Some(at) = self.grants.iter().position(owned) {
            let former = self.grants.remove(at);
            self.departed.push((former.ask.holder, Loss::Superseded, former.end));
            return Some(self.grant(ask, former.slot, now));
        }
        let counted = |ticket: &&Ticket| !ticket.is_passed_over(now);
        let ahead: Vec<&Ticket> =
            self.line[..self.place(ask.holder)].iter().filter(counted).collect();
        let live = self.grants.len();
        let admitted = live + ahead.len() < ask.limit.get() as usize
            && (0..).zip(&ahead).all(|(i, ticket)| live + i < ticket.ask.limit.get() as usize);
        if !admitted {
            return None;
        }
        let slot = (0..).find(|slot| self.grants.iter().all(|grant| grant.slot != *slot));
        Some(self.grant(ask, slot.expect("there is always one more"), now))
    }

    fn grant(&mut self, ask: &Ask, slot: u32, now: Timestamp) -> Granted {
        self.line.retain(|ticket| ticket.ask.holder != ask.holder);
        self.last_fence = (self.last_fence + 1).max(now.as_micros());
        let mut grant = Grant {
            ask: ask.clone(),
            slot,
            fence: Fence::new(self.last_fence).expect("a clock below the year 2255"),
            since: now,
            end: now,
            not_after: ask.max_hold.map(|max_hold| now.after(max_hold.as_duration())),
        };
        extend(&mut grant, ask.ttl, now);
        let granted = told(&grant, now);
        self.grants.push(grant);
        granted
    }

    /// How many tickets are in front of this holder's, or would be if it had one.
    fn place(&self, holder: HolderId) -> usize {
        let own = self.line.iter().position(|ticket| ticket.ask.holder == holder);
        own.unwrap_or(self.line.len())
    }

    fn stay(&mut self, at: usize, patience: Duration, now: Timestamp) {
        let ticket = &mut self.line[at];
        (ticket.lapse, ticket.called) = (now.after(patience), None);
    }

    /// The earliest moment at which anything ahead lapses or stops holding up others; for ever where
    /// nothing is ahead.
    fn retry_in(&self, in_front: usize, now: Timestamp) -> Duration {
        let ends = self.grants.iter().map(|grant| grant.end);
        let counted = self.line[..in_front].iter().filter(|ticket| !ticket.is_passed_over(now));
        let lapses = counted.map(|t| t.claim_end().map_or(t.lapse, |end| end.min(t.lapse)));
        let earliest = ends.chain(lapses).min();
        earliest.map_or(Duration::MAX, |end| end.since(now))
    }

    /// Extends a hold.
    pub fn refresh(&mut self, holder: HolderId, ttl: Ttl, now: Timestamp) -> Refreshed {
        self.catch_up(now);
        match self.grants.iter_mut().find(|grant| grant.ask.holder == holder) {
            Some(grant) => {
                extend(grant, ttl, now);
                Refreshed::Held { ends_in: grant.end.since(now), end: end(grant) }
            }
            None => Refreshed::Lost(self.loss_of(holder)),
        }
    }

    /// Extends a ticket; its `retry_in` is exact.
    pub fn sign_of_life(
        &mut self,
        holder: HolderId,
        patience: Duration,
        now: Timestamp,
    ) -> Refreshed {
        self.catch_up(now);
        let at = self.place(holder);
        if at == self.line.len() {
            return Refreshed::NotInLine;
        }
        self.stay(at, patience, now);
        self.call(now, now);
        let is_called = self.line[at].called.is_some();
        let retry_in = if is_called { Duration::ZERO } else { self.retry_in(at, now) };
        Refreshed::InLine { retry_in }
    }

    /// Ends a hold.
    pub fn release(&mut self, holder: HolderId, now: Timestamp) -> Result<(), Loss> {
        self.catch_up(now);
        let held = self.grants.iter().any(|grant| grant.ask.holder == holder);
        self.grants.retain(|grant| grant.ask.holder != holder);
        self.call(now, now);
        if held { Ok(()) } else { Err(self.loss_of(holder)) }
    }

    fn loss_of(&self, holder: HolderId) -> Loss {
        let departed = self.departed.iter().find(|(gone, _, _)| *gone == holder);
        departed.map_or(Loss::Expired, |(_, loss, _)| *loss)
    }

    /// Ends a hold and a wait.
    pub fn leave(&mut self, holder: HolderId, now: Timestamp) {
        self.catch_up(now);
        self.line.retain(|ticket| ticket.ask.holder != holder);
        self.grants.retain(|grant| grant.ask.holder != holder);
        self.call(now, now);
    }

    /// Ends one slot's hold, or all.
    pub fn revoke(&mut self, slot: Option<u32>, now: Timestamp) -> u32 {
        self.catch_up(now);
        let (revoked, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.grants)
            .into_iter()
            .partition(|grant| slot.is_none_or(|slot| slot == grant.slot));
        self.grants = kept;
        let told = revoked.iter().map(|grant| (grant.ask.holder, Loss::Revoked, grant.end));
        self.departed.extend(told);
        self.call(now, now);
        revoked.len() as u32
    }

    /// Who holds, by slot, and who waits, in order. Changes nothing.
    pub fn view(&self, now: Timestamp) -> KeyView {
        let live = self.grants.iter().filter(|grant| grant.end > now);
        let mut holders: Vec<_> = live
            .map(|grant| HolderView {
                slot: grant.slot,
                fence: grant.fence,
                owner: grant.ask.owner.clone(),
                note: grant.ask.note.clone(),
                held_for: now.since(grant.since),
                ends_in: grant.end.since(now),
            })
            .collect();
        holders.sort_unstable_by_key(|held| held.slot);
        let waiting = self.line.iter().filter(|ticket| ticket.lapse > now);
        let waiters = waiting.map(|ticket| WaiterView {
            limit: ticket.ask.limit,
            owner: ticket.ask.owner.clone(),
            note: ticket.ask.note.clone(),
            waited_for: now.since(ticket.since),
        });
        KeyView { holders, waiters: waiters.collect() }
    }
}

fn extend(grant: &mut Grant, ttl: Ttl, now: Timestamp) {
    let end = now.after(ttl.as_duration());
    grant.end = grant.not_after.map_or(end, |not_after| end.min(not_after));
}

fn end(grant: &Grant) -> End {
    if grant.not_after == Some(grant.end) { End::MaxHold } else { End::Ttl }
}

fn told(grant: &Grant, now: Timestamp) -> Granted {
    let Grant { slot, fence, .. } = *grant;
    Granted { slot, fence, ends_in: grant.end.since(now), end: end(grant) }
}
