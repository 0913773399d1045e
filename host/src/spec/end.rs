//! Refreshing and ending: refresh, sign of life, release, leave, revoke.

use std::time::Duration;

use crate::backend::Refreshed;
use crate::clock::Timestamp;
use crate::error::Loss;
use crate::holder::HolderId;
use crate::terms::Ttl;

use super::{Change, KeyState, Rules};

impl KeyState {
    /// Sets the end of a live grant of exactly this holder to now + ttl, never beyond its max-hold.
    /// After the end it is lost even if nobody took the key.
    pub fn refresh(
        &mut self,
        holder: HolderId,
        ttl: Ttl,
        now: Timestamp,
        rules: &Rules,
    ) -> Change<Refreshed> {
        let mut wake = self.lapse(now, rules);
        let extended = self.grants.slot_of(holder).and_then(|slot| {
            let grant = self.grants.extend(slot, ttl.as_duration(), now)?;
            Some(Refreshed::Held { ends_in: grant.expires_at.since(now), end: grant.end() })
        });
        let answer = extended.unwrap_or_else(|| Refreshed::Lost(self.departed.loss_of(holder)));
        wake.extend(self.settle(now, rules));
        Change { answer, wake }
    }

    /// A ticket's waiter is alive: its patience begins anew. Never makes a ticket.
    pub fn sign_of_life(
        &mut self,
        holder: HolderId,
        patience: Duration,
        now: Timestamp,
        rules: &Rules,
    ) -> Change<Refreshed> {
        let mut wake = self.lapse(now, rules);
        let Some(position) = self.line.position(holder) else {
            return Change { answer: Refreshed::NotInLine, wake };
        };
        self.line.stay(position, patience, now);
        self.line.look_for_lapses(patience, now);
        let asks_in = self.retry_in(now, rules);
        self.line.told(position, now.after(asks_in));
        wake.extend(self.settle(now, rules));
        // Who is called is told so here too: its wake-up may be lost.
        let is_called = self.line.is_called(position);
        let retry_in = if is_called { Duration::ZERO } else { self.retry_in(now, rules) };
        Change { answer: Refreshed::InLine { retry_in }, wake }
    }

    /// Ends the live grant of exactly this holder; where there is none, says why. Never touches
    /// anybody else's.
    pub fn release(
        &mut self,
        holder: HolderId,
        now: Timestamp,
        rules: &Rules,
    ) -> Change<Result<(), Loss>> {
        let mut wake = self.lapse(now, rules);
        let slot = self.grants.slot_of(holder);
        let answer = match slot.and_then(|slot| self.grants.take(slot)) {
            Some(_) => {
                self.last_end_us = self.last_end_us.max(now.as_micros());
                Ok(())
            }
            None => Err(self.departed.loss_of(holder)),
        };
        wake.extend(self.settle(now, rules));
        Change { answer, wake }
    }

    /// Removes this holder's own ticket and any grant of its that was not delivered.
    pub fn leave(&mut self, holder: HolderId, now: Timestamp, rules: &Rules) -> Change<()> {
        let mut wake = self.lapse(now, rules);
        self.line.remove(holder);
        wake.extend(self.release(holder, now, rules).wake);
        Change { answer: (), wake }
    }

    /// Ends the grant in one slot, or all of them; answers whose. Each victim's next refresh is
    /// answered [`Loss::Revoked`].
    pub fn revoke(
        &mut self,
        slot: Option<u32>,
        now: Timestamp,
        rules: &Rules,
    ) -> Change<Vec<HolderId>> {
        let mut wake = self.lapse(now, rules);
        let slots: Vec<u32> = match slot {
            Some(slot) => vec![slot],
            None => self.grants.iter().map(|(slot, _)| slot).collect(),
        };
        let mut revoked = Vec::new();
        for slot in slots {
            if let Some(grant) = self.grants.take(slot) {
                self.departed.add(grant.holder, Loss::Revoked, grant.expires_at);
                self.last_end_us = self.last_end_us.max(now.as_micros());
                revoked.push(grant.holder);
            }
        }
        wake.extend(self.settle(now, rules));
        Change { answer: revoked, wake }
    }
}
