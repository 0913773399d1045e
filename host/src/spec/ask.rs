//! Asking: rules 1 to 7.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::error::Loss;
use crate::fence::Fence;

use super::grants::Grant;
use super::line::Ticket;
use super::{Answer, Ask, Change, KeyState, Mode, Rules};

impl KeyState {
    /// Answers an ask.
    ///
    /// A refusal ([`Answer::Busy`], [`Answer::LineFull`]) changes nothing, but that it calls those
    /// in line who can be admitted since something lapsed.
    pub fn ask(&mut self, ask: &Ask, now: Timestamp, rules: &Rules) -> Change<Answer> {
        let mut wake = self.lapse(now, rules);
        let answer = match self.grant_again(ask, now).or_else(|| self.supersede(ask, now)) {
            Some(answer) => answer,
            None if self.admits(ask, now, rules) => {
                let slot = self.grants.free_slot();
                self.grant(ask, slot, now)
            }
            None => self.refuse(ask, now, rules),
        };
        wake.extend(self.settle(now, rules));
        // Rule 3 lets the waiters of the owner that now holds in, whoever is before them.
        if let (Answer::Granted(_), Some(owner)) = (answer, &ask.owner) {
            wake.extend(self.line.of_owner(owner));
        }
        wake.retain(|woken| *woken != ask.holder);
        Change { answer, wake }
    }

    /// Rule 2: the same ask again gets the same grant again.
    fn grant_again(&mut self, ask: &Ask, now: Timestamp) -> Option<Answer> {
        let slot = self.grants.slot_of(ask.holder)?;
        let grant = self.grants.extend(slot, ask.ttl.as_duration(), now)?;
        Some(Answer::Granted(grant.told(slot, now)))
    }

    /// Rule 3: the same owner takes its own grant again, in the same slot.
    fn supersede(&mut self, ask: &Ask, now: Timestamp) -> Option<Answer> {
        let slot = self.grants.slot_of_owner(ask.owner.as_ref()?)?;
        let former = self.grants.take(slot)?;
        self.departed.add(former.holder, Loss::Superseded, former.expires_at);
        Some(self.grant(ask, slot, now))
    }

    /// Rule 4: everybody who holds and everybody in front counts, and everybody in front could be
    /// admitted now under a limit of its own.
    fn admits(&mut self, ask: &Ask, now: Timestamp, rules: &Rules) -> bool {
        let everybody = self.line.len() as usize;
        let in_front = self.line.position(ask.holder).unwrap_or(everybody);
        self.line.admits(in_front, self.grants.live(), ask.limit, now, rules)
    }

    /// Rule 5: the grant.
    fn grant(&mut self, ask: &Ask, slot: u32, now: Timestamp) -> Answer {
        self.line.remove(ask.holder);
        let fence = Fence::next(self.last_fence, now.as_micros());
        self.last_fence = fence.as_u64();
        let mut grant = Grant {
            holder: ask.holder,
            owner: ask.owner.clone(),
            note: ask.note.clone(),
            fence,
            since: now,
            expires_at: now,
            not_after: ask.max_hold.map(|max_hold| now.after(max_hold.as_duration())),
        };
        grant.extend(ask.ttl.as_duration(), now);
        let granted = grant.told(slot, now);
        self.grants.put(slot, grant);
        Answer::Granted(granted)
    }

    /// Rules 6 and 7: join the line or stay in it, or be refused.
    fn refuse(&mut self, ask: &Ask, now: Timestamp, rules: &Rules) -> Answer {
        let Mode::Wait { patience } = ask.mode else {
            return Answer::Busy { retry_in: self.retry_in(now, rules) };
        };
        let position = match self.line.position(ask.holder) {
            Some(position) => {
                self.line.stay(position, patience, now);
                position
            }
            None if self.line.len() >= rules.line_max => return Answer::LineFull,
            None => {
                let (owner, note) = (ask.owner.clone(), ask.note.clone());
                let ticket = Ticket::new(ask.holder, ask.limit, owner, note, now);
                self.line.join(ticket, patience, now)
            }
        };
        self.line.look_for_lapses(patience, now);
        let retry_in = self.retry_in(now, rules);
        self.line.told(position, now.after(retry_in));
        Answer::Waiting { position: self.line.place(position), retry_in }
    }

    /// No later than the earliest moment at which anything ahead could lapse.
    pub(super) fn retry_in(&mut self, now: Timestamp, rules: &Rules) -> Duration {
        let ends = [self.grants.earliest_end(), self.line.earliest_lapse(now, rules)];
        let earliest = ends.into_iter().flatten().min();
        earliest.map_or(Duration::ZERO, |end| end.since(now))
    }
}
