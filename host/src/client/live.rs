//! What the backend may have of one handle: its holds, and its asks that wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::vitals::Vitals;
use crate::error::Loss;
use crate::holder::{HolderId, HolderMap};
use crate::name::Key;
use crate::policy::{Place, Usage};

/// Holds and waiting asks, until they are known to be given back; and whether there may be more.
#[derive(Debug, Default)]
pub(crate) struct Live {
    entries: Mutex<HolderMap<Entry>>,
    closed: AtomicBool,
    /// Told when it is closed.
    closing: Notify,
    /// Told when the last entry goes.
    emptied: Notify,
}

#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// What is held; and who counts it, where it is a plugin's. So it is for the others.
    Hold(Arc<Vitals>, Option<Arc<Place>>),
    /// What is asked for, or waits.
    Ask(Key, Option<Arc<Place>>),
    /// What is being given back.
    Leaving(Key, Option<Arc<Place>>),
}

impl Entry {
    pub(super) fn key(&self) -> &Key {
        match self {
            Entry::Hold(vitals, _) => &vitals.of.key,
            Entry::Ask(key, _) | Entry::Leaving(key, _) => key,
        }
    }

    /// Who counts it, where it is a plugin's.
    pub(super) fn place(&self) -> Option<&Arc<Place>> {
        match self {
            Entry::Hold(_, place) | Entry::Ask(_, place) | Entry::Leaving(_, place) => {
                place.as_ref()
            }
        }
    }
}

impl Live {
    pub(super) fn add(&self, holder: HolderId, entry: Entry) {
        self.entries().insert(holder, entry);
    }

    /// It is to be given back, and whoever counts it counts it until it is; says whether it was not
    /// being given back already.
    pub(super) fn leaving(&self, holder: HolderId, key: &Key, place: Option<&Arc<Place>>) -> bool {
        let mut entries = self.entries();
        let known = entries.get(&holder);
        let is_leaving = matches!(known, Some(Entry::Leaving(..)));
        let place = place.or_else(|| known?.place()).cloned();
        entries.insert(holder, Entry::Leaving(key.clone(), place));
        !is_leaving
    }

    /// It is given back, or was never granted.
    pub(super) fn remove(&self, holder: HolderId) {
        let mut entries = self.entries();
        if entries.remove(&holder).is_some() && entries.is_empty() && self.is_closed() {
            self.emptied.notify_waiters();
        }
    }

    /// Its handle ends and has nothing to give back; what is being given back stays until it is.
    pub(super) fn remove_hold(&self, holder: HolderId) {
        let is_hold = matches!(self.entries().get(&holder), Some(Entry::Hold(..)));
        if is_hold {
            self.remove(holder);
        }
    }

    /// It could not be given back and is left to its ttl. Who closes is told.
    pub(super) fn leave_to_ttl(&self, holder: HolderId) {
        if !self.is_closed() {
            self.remove(holder);
        }
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.closing.notify_waiters();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Returns when it is closed.
    pub(super) async fn closed(&self) {
        let closing = self.closing.notified();
        tokio::pin!(closing);
        closing.as_mut().enable();
        if !self.is_closed() {
            closing.await;
        }
    }

    /// Returns when nothing is left.
    pub(super) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            tokio::pin!(emptied);
            emptied.as_mut().enable();
            if self.entries().is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// The backend tells that these holds were revoked. What a handle has told by then stays what it
    /// tells; one whose grant is on its way yet learns it by its first refresh.
    pub(super) fn revoked(&self, holders: &[HolderId]) {
        for holder in holders {
            let known = self.entries().get(holder).cloned();
            if let Some(Entry::Hold(vitals, _)) = known {
                vitals.end(vitals.loss().unwrap_or(Loss::Revoked));
            }
        }
    }

    pub(super) fn all(&self) -> Vec<(HolderId, Entry)> {
        self.entries().iter().map(|(holder, entry)| (*holder, entry.clone())).collect()
    }

    /// All of one plugin.
    pub(super) fn all_of(&self, usage: &Arc<Usage>) -> Vec<(HolderId, Entry)> {
        let is_of = |entry: &Entry| entry.place().is_some_and(|place| place.is_of(usage));
        let entries = self.entries();
        let all_of = entries.iter().filter(|(_, entry)| is_of(entry));
        all_of.map(|(holder, entry)| (*holder, entry.clone())).collect()
    }

    fn entries(&self) -> MutexGuard<'_, HolderMap<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
