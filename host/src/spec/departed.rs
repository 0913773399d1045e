//! Why holders that were replaced or ended by others no longer hold.

use crate::clock::Timestamp;
use crate::error::Loss;
use crate::holder::HolderId;

/// The most that are remembered of a key. Who is forgotten learns *expired*.
const REMEMBERED_MAX: usize = 1000;

/// Those whose grant ended before its time, until its time: then *expired* is as true.
#[derive(Debug, Clone, Default)]
pub(crate) struct Departed(Vec<Departure>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Departure {
    pub(crate) holder: HolderId,
    pub(crate) loss: Loss,
    pub(crate) until: Timestamp,
}

impl Departed {
    #[cfg(any(feature = "sqlite", feature = "mysql"))]
    pub(crate) fn restored(departures: Vec<Departure>) -> Self {
        Departed(departures)
    }

    /// In the order in which they went.
    #[cfg(any(feature = "sqlite", feature = "mysql"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Departure> {
        self.0.iter()
    }

    pub(crate) fn add(&mut self, holder: HolderId, loss: Loss, until: Timestamp) {
        if self.0.len() >= REMEMBERED_MAX {
            self.0.remove(0);
        }
        self.0.push(Departure { holder, loss, until });
    }

    pub(crate) fn loss_of(&self, holder: HolderId) -> Loss {
        let entry = self.0.iter().find(|entry| entry.holder == holder);
        entry.map_or(Loss::Expired, |entry| entry.loss)
    }

    pub(crate) fn forget_before(&mut self, now: Timestamp) {
        self.0.retain(|entry| entry.until > now);
    }
}
