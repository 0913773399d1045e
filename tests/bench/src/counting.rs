//! A backend that counts how often it is asked to refresh.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leases::spec::{Answer, Ask, KeyView};
use leases::{
    Backend, Changes, Cursor, Fence, Hearing, HolderId, Key, Loss, MemoryBackend, MemoryConfig,
    NamePattern, Page, Properties, Refresh, Refreshed, Reply, Target, Tell, Verdict, Watch,
};

/// Memory, its refreshes counted.
#[derive(Debug)]
pub(crate) struct Counting {
    memory: MemoryBackend,
    calls: AtomicU64,
    holds: AtomicU64,
}

/// What was counted so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    /// Round trips.
    pub(crate) calls: u64,
    /// Holds refreshed by them.
    pub(crate) holds: u64,
}

impl Counting {
    pub(crate) fn new() -> Self {
        let memory = MemoryBackend::new(MemoryConfig::default());
        Counting { memory, calls: AtomicU64::new(0), holds: AtomicU64::new(0) }
    }

    pub(crate) fn counted(&self) -> Counted {
        Counted {
            calls: self.calls.load(Ordering::Relaxed),
            holds: self.holds.load(Ordering::Relaxed),
        }
    }
}

impl Backend for Counting {
    fn properties(&self) -> Properties {
        self.memory.properties()
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        self.memory.ask(ask)
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.holds.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.memory.refresh(batch)
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        self.memory.release(key, holder)
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.memory.leave(key, holder)
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.memory.revoke(key, slot)
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        self.memory.inspect(key)
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        self.memory.list(names, after)
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.memory.admit(target, fence)
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.memory.current(target)
    }

    fn watch(&self, key: &Key, holder: HolderId) -> Watch {
        self.memory.watch(key, holder)
    }

    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.memory.on_revoked(tell)
    }

    fn changes(&self) -> Changes {
        self.memory.changes()
    }

    fn migrate(&self) -> Reply<'_, u32> {
        self.memory.migrate()
    }
}
