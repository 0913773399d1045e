//! The live grants of a key, by slot.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::fence::Fence;
use crate::holder::{HolderId, HolderMap};
use crate::terms::{Note, Owner};

use super::{End, Granted};

/// Up to this many slots are searched one by one; beyond, through an index, so that what an ask
/// costs does not follow the limit.
const SEARCHED_MAX: usize = 16;

/// One hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) holder: HolderId,
    pub(crate) owner: Option<Owner>,
    pub(crate) note: Option<Note>,
    pub(crate) fence: Fence,
    pub(crate) since: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) not_after: Option<Timestamp>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Grants {
    slots: Vec<Option<Grant>>,
    live: u32,
    /// No grant ends before this: a refresh moves ends on and leaves it where it was.
    none_ends_before_us: u64,
    index: Option<Box<Index>>,
    unseen: Option<Box<Unseen>>,
}

/// Grants that are only counted: of those that were stored and not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unseen {
    pub(crate) count: u32,
    pub(crate) earliest_end: Option<Timestamp>,
    /// The lowest slot that is free when those are dropped that ended by themselves.
    pub(crate) free_slot: u32,
}

#[derive(Debug, Clone, Default)]
struct Index {
    of_holder: HolderMap<u32>,
    of_owner: HashMap<Owner, u32>,
    free: BTreeSet<u32>,
}

impl Grant {
    pub(crate) fn extend(&mut self, ttl: Duration, now: Timestamp) {
        let end = now.after(ttl);
        self.expires_at = self.not_after.map_or(end, |not_after| end.min(not_after));
    }

    pub(crate) fn told(&self, slot: u32, now: Timestamp) -> Granted {
        let ends_in = self.expires_at.since(now);
        Granted { slot, fence: self.fence, ends_in, end: self.end() }
    }

    pub(crate) fn end(&self) -> End {
        if self.not_after == Some(self.expires_at) { End::MaxHold } else { End::Ttl }
    }
}

impl Grants {
    /// These, and others that are only counted: none of them has ended or is asked about.
    #[cfg(any(feature = "sqlite", feature = "mysql"))]
    pub(crate) fn restored(grants: Vec<(u32, Grant)>, unseen: Option<Unseen>) -> Self {
        let mut restored = Grants::default();
        for (slot, grant) in grants {
            restored.put(slot, grant);
        }
        if let Some(unseen) = unseen {
            restored.live += unseen.count;
            restored.unseen = Some(Box::new(unseen));
            restored.none_ends_before_us = restored.earliest_us();
        }
        restored
    }

    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// No later than the earliest end; exact where the slots are searched one by one.
    pub(crate) fn earliest_end(&self) -> Option<Timestamp> {
        match self.index {
            None => self.ends().min(),
            Some(_) => (self.live > 0).then(|| Timestamp::from_micros(self.none_ends_before_us)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Grant)> {
        (0..).zip(&self.slots).filter_map(|(slot, grant)| Some((slot, grant.as_ref()?)))
    }

    pub(crate) fn slot_of(&self, holder: HolderId) -> Option<u32> {
        match &self.index {
            Some(index) => index.of_holder.get(&holder).copied(),
            None => self.iter().find(|(_, grant)| grant.holder == holder).map(|(slot, _)| slot),
        }
    }

    pub(crate) fn slot_of_owner(&self, owner: &Owner) -> Option<u32> {
        match &self.index {
            Some(index) => index.of_owner.get(owner).copied(),
            None => {
                let owned = |grant: &Grant| grant.owner.as_ref() == Some(owner);
                self.iter().find(|(_, grant)| owned(grant)).map(|(slot, _)| slot)
            }
        }
    }

    fn ends(&self) -> impl Iterator<Item = Timestamp> {
        let unseen = self.unseen.as_ref().and_then(|unseen| unseen.earliest_end);
        self.iter().map(|(_, grant)| grant.expires_at).chain(unseen)
    }

    fn earliest_us(&self) -> u64 {
        self.ends().min().map_or(0, Timestamp::as_micros)
    }

    /// The lowest free slot.
    pub(crate) fn free_slot(&self) -> u32 {
        if let Some(unseen) = &self.unseen {
            return unseen.free_slot;
        }
        let beyond = self.slots.len() as u32;
        let free = match &self.index {
            Some(index) => index.free.first().copied(),
            None => (0..).zip(&self.slots).find(|(_, grant)| grant.is_none()).map(|(slot, _)| slot),
        };
        free.unwrap_or(beyond)
    }

    /// Puts a grant into a free slot.
    pub(crate) fn put(&mut self, slot: u32, grant: Grant) {
        if self.slots.len() <= slot as usize {
            self.grow(slot as usize + 1);
        }
        self.bound_ends(&grant);
        if let Some(index) = &mut self.index {
            index.put(slot, &grant);
        }
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(grant);
            self.live += 1;
        }
    }

    pub(crate) fn take(&mut self, slot: u32) -> Option<Grant> {
        let grant = self.slots.get_mut(slot as usize)?.take()?;
        self.live -= 1;
        if let Some(index) = &mut self.index {
            index.take(slot, &grant);
        }
        Some(grant)
    }

    /// Moves a grant's end.
    pub(crate) fn extend(&mut self, slot: u32, ttl: Duration, now: Timestamp) -> Option<&Grant> {
        let grant = self.slots.get_mut(slot as usize)?.as_mut()?;
        grant.extend(ttl, now);
        let end_us = grant.expires_at.as_micros();
        self.none_ends_before_us = self.none_ends_before_us.min(end_us);
        Some(grant)
    }

    /// Drops what has reached its end; answers the latest of those ends.
    pub(crate) fn drop_ended(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.live == 0 || now.as_micros() < self.none_ends_before_us {
            return None;
        }
        let ended = |(slot, grant): (u32, &Grant)| (grant.expires_at <= now).then_some(slot);
        let slots: Vec<u32> = self.iter().filter_map(ended).collect();
        let latest =
            slots.into_iter().filter_map(|slot| self.take(slot)).map(|g| g.expires_at).max();
        self.none_ends_before_us = self.earliest_us();
        latest
    }

    fn bound_ends(&mut self, grant: &Grant) {
        let end_us = grant.expires_at.as_micros();
        let bound = if self.live == 0 { end_us } else { self.none_ends_before_us.min(end_us) };
        self.none_ends_before_us = bound;
    }

    fn grow(&mut self, len: usize) {
        let before = self.slots.len() as u32;
        if len == 1 {
            // Most keys are leases: room for one, and not for the four of a vector's first growth.
            self.slots.reserve_exact(len);
        }
        self.slots.resize_with(len, || None);
        if self.index.is_none() && len > SEARCHED_MAX {
            self.index = Some(Box::new(Index::of(&self.slots)));
        } else if let Some(index) = &mut self.index {
            index.free.extend(before..len as u32);
        }
    }
}

impl Index {
    fn of(slots: &[Option<Grant>]) -> Self {
        let mut index = Index::default();
        for (slot, grant) in (0..).zip(slots) {
            match grant {
                Some(grant) => index.put(slot, grant),
                None => drop(index.free.insert(slot)),
            }
        }
        index
    }

    fn put(&mut self, slot: u32, grant: &Grant) {
        self.free.remove(&slot);
        self.of_holder.insert(grant.holder, slot);
        if let Some(owner) = &grant.owner {
            self.of_owner.insert(owner.clone(), slot);
        }
    }

    fn take(&mut self, slot: u32, grant: &Grant) {
        self.free.insert(slot);
        self.of_holder.remove(&grant.holder);
        if let Some(owner) = &grant.owner {
            self.of_owner.remove(owner);
        }
    }
}
