//! The rules once more, written for nothing but to be read: no index, no bound kept beside what it
//! bounds. Backends are compared with it, operation by operation.

use std::time::Duration;

use leases::spec::{Answer, Ask, End, Granted, Mode, Rules};
use leases::{Fence, HolderId, Limit, Loss, Owner, Refreshed, Timestamp, Ttl};

/// What is known of one key.
#[derive(Debug, Clone, Default)]
pub struct Model {
    last_fence: u64,
    grants: Vec<Grant>,
    line: Vec<Ticket>,
    departed: Vec<(HolderId, Loss, Timestamp)>,
    /// When the last hold ended by itself that nobody was called for.
    ended: Option<Timestamp>,
}

#[derive(Debug, Clone)]
struct Grant {
    slot: u32,
    holder: HolderId,
    owner: Option<Owner>,
    fence: u64,
    end: Timestamp,
    not_after: Option<Timestamp>,
}

#[derive(Debug, Clone)]
struct Ticket {
    holder: HolderId,
    limit: Limit,
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
    fn lapse(&mut self, now: Timestamp) {
        let ended = self.grants.iter().map(|grant| grant.end).filter(|end| *end <= now);
        self.ended = ended.max().or(self.ended);
        self.grants.retain(|grant| grant.end > now);
        self.line.retain(|ticket| ticket.lapse > now);
        self.departed.retain(|(_, _, until)| *until > now);
    }

    /// The tickets, each with whether it could be admitted now, nobody being overtaken.
    fn admissible(&self, now: Timestamp) -> Vec<bool> {
        let mut taken = self.grants.len();
        let mut blocked = false;
        let one = |ticket: &Ticket| {
            if ticket.is_passed_over(now) {
                return false;
            }
            blocked |= taken >= ticket.limit.get() as usize;
            taken += usize::from(!blocked);
            !blocked
        };
        self.line.iter().map(one).collect()
    }

    fn call(&mut self, now: Timestamp) {
        let mut as_of = self.ended.take().unwrap_or(now);
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

    /// Answers an ask; its `retry_in` is exact.
    pub fn ask(&mut self, ask: &Ask, now: Timestamp) -> Answer {
        self.lapse(now);
        self.call(now);
        let answer = self.decide(ask, now);
        self.call(now);
        match answer {
            Some(granted) => Answer::Granted(granted),
            None => self.refused(ask, now),
        }
    }

    fn decide(&mut self, ask: &Ask, now: Timestamp) -> Option<Granted> {
        let own = |grant: &&mut Grant| grant.holder == ask.holder;
        if let Some(grant) = self.grants.iter_mut().find(own) {
            extend(grant, ask.ttl, now);
            return Some(told(grant, now));
        }
        let owned = |grant: &Grant| ask.owner.is_some() && grant.owner == ask.owner;
        if let Some(at) = self.grants.iter().position(owned) {
            let former = self.grants.remove(at);
            self.departed.push((former.holder, Loss::Superseded, former.end));
            return Some(self.grant(ask, former.slot, now));
        }
        let own = self.line.iter().position(|ticket| ticket.holder == ask.holder);
        let in_front = own.unwrap_or(self.line.len());
        let counted = |ticket: &&Ticket| !ticket.is_passed_over(now);
        let ahead: Vec<&Ticket> = self.line[..in_front].iter().filter(counted).collect();
        let live = self.grants.len();
        let admitted = live + ahead.len() < ask.limit.get() as usize
            && (0..).zip(&ahead).all(|(i, ticket)| live + i < ticket.limit.get() as usize);
        if !admitted {
            return None;
        }
        let slot = (0..).find(|slot| self.grants.iter().all(|grant| grant.slot != *slot));
        Some(self.grant(ask, slot.expect("there is always one more"), now))
    }

    fn grant(&mut self, ask: &Ask, slot: u32, now: Timestamp) -> Granted {
        self.line.retain(|ticket| ticket.holder != ask.holder);
        self.last_fence = (self.last_fence + 1).max(now.as_micros());
        let mut grant = Grant {
            slot,
            holder: ask.holder,
            owner: ask.owner.clone(),
            fence: self.last_fence,
            end: now,
            not_after: ask.max_hold.map(|max_hold| now.after(max_hold.as_duration())),
        };
        extend(&mut grant, ask.ttl, now);
        let granted = told(&grant, now);
        self.grants.push(grant);
        granted
    }

    fn refused(&mut self, ask: &Ask, now: Timestamp) -> Answer {
        let own = self.line.iter().position(|ticket| ticket.holder == ask.holder);
        if let Mode::Wait { patience } = ask.mode {
            let at = own.unwrap_or(self.line.len());
            let (holder, limit, lapse) = (ask.holder, ask.limit, now.after(patience));
            match self.line.get_mut(at) {
                Some(ticket) => (ticket.lapse, ticket.called) = (lapse, None),
                None => self.line.push(Ticket { holder, limit, lapse, called: None }),
            }
            self.call(now);
            let retry_in = self.retry_in(at, now);
            return Answer::Waiting { position: at as u32, retry_in };
        }
        Answer::Busy { retry_in: self.retry_in(own.unwrap_or(self.line.len()), now) }
    }

    /// The earliest moment at which anything ahead lapses or stops holding up others.
    fn retry_in(&self, in_front: usize, now: Timestamp) -> Duration {
        let ends = self.grants.iter().map(|grant| grant.end);
        let counted = self.line[..in_front].iter().filter(|ticket| !ticket.is_passed_over(now));
        let lapses = counted.map(|t| t.claim_end().map_or(t.lapse, |end| end.min(t.lapse)));
        let earliest = ends.chain(lapses).min();
        earliest.map_or(Duration::ZERO, |end| end.since(now))
    }

    /// Extends a hold.
    pub fn refresh(&mut self, holder: HolderId, ttl: Ttl, now: Timestamp) -> Refreshed {
        self.lapse(now);
        self.call(now);
        match self.grants.iter_mut().find(|grant| grant.holder == holder) {
            Some(grant) => {
                extend(grant, ttl, now);
                Refreshed::Held { ends_in: grant.end.since(now), end: end(grant) }
            }
            None => Refreshed::Lost(self.loss_of(holder)),
        }
    }

    /// Ends a hold.
    pub fn release(&mut self, holder: HolderId, now: Timestamp) -> Result<(), Loss> {
        self.lapse(now);
        let held = self.grants.iter().any(|grant| grant.holder == holder);
        self.grants.retain(|grant| grant.holder != holder);
        self.call(now);
        if held { Ok(()) } else { Err(self.loss_of(holder)) }
    }

    fn loss_of(&self, holder: HolderId) -> Loss {
        let departed = self.departed.iter().find(|(gone, _, _)| *gone == holder);
        departed.map_or(Loss::Expired, |(_, loss, _)| *loss)
    }

    /// Ends a hold and a wait.
    pub fn leave(&mut self, holder: HolderId, now: Timestamp) {
        self.line.retain(|ticket| ticket.holder != holder);
        let _ = self.release(holder, now);
    }

    /// Ends one slot's hold, or all.
    pub fn revoke(&mut self, slot: Option<u32>, now: Timestamp) -> u32 {
        self.lapse(now);
        let (revoked, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.grants)
            .into_iter()
            .partition(|grant| slot.is_none_or(|slot| slot == grant.slot));
        self.grants = kept;
        let told = revoked.iter().map(|grant| (grant.holder, Loss::Revoked, grant.end));
        self.departed.extend(told);
        self.call(now);
        revoked.len() as u32
    }

    /// The holders by slot, with their fences, and how many wait.
    pub fn view(&mut self, now: Timestamp) -> (Vec<(u32, u64)>, usize) {
        self.lapse(now);
        let mut holders: Vec<_> = self.grants.iter().map(|g| (g.slot, g.fence)).collect();
        holders.sort_unstable();
        (holders, self.line.len())
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
    let fence = Fence::new(grant.fence).expect("a clock below the year 2255");
    Granted { slot: grant.slot, fence, ends_in: grant.end.since(now), end: end(grant) }
}
