//! A backend that remembers every name that it was ever asked for.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leases::spec::{Answer, Ask, KeyView};
use leases::{
    Backend, Changes, Cursor, Fence, Hearing, HolderId, Key, Loss, NamePattern, Page, Properties,
    Refresh, Refreshed, Reply, Target, Tell, Verdict, Watch,
};

/// A backend that remembers the keys and targets of everything but looks at it.
#[derive(Debug)]
pub(crate) struct Recording {
    inner: Arc<dyn Backend>,
    keys: Mutex<BTreeSet<Key>>,
    targets: Mutex<BTreeSet<String>>,
}

impl Recording {
    pub(crate) fn new(inner: Arc<dyn Backend>) -> Self {
        Recording { inner, keys: Mutex::default(), targets: Mutex::default() }
    }

    /// What is recorded here; what is asked of it directly is not.
    pub(crate) fn inner(&self) -> &Arc<dyn Backend> {
        &self.inner
    }

    /// Every key that was ever asked for.
    pub(crate) fn keys(&self) -> BTreeSet<Key> {
        locked(&self.keys).clone()
    }

    /// Every name whose guard was ever asked.
    pub(crate) fn targets(&self) -> BTreeSet<String> {
        locked(&self.targets).clone()
    }

    fn key(&self, key: &Key) {
        let mut keys = locked(&self.keys);
        if !keys.contains(key) {
            keys.insert(key.clone());
        }
    }

    fn target(&self, target: &Target) {
        locked(&self.targets).insert(target.name.as_str().to_owned());
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for Recording {
    fn properties(&self) -> Properties {
        self.inner.properties()
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        self.key(&ask.key);
        self.inner.ask(ask)
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        batch.iter().for_each(|one| self.key(&one.key));
        self.inner.refresh(batch)
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        self.key(key);
        self.inner.release(key, holder)
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.key(key);
        self.inner.leave(key, holder)
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.key(key);
        self.inner.revoke(key, slot)
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        self.inner.inspect(key)
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        self.inner.list(names, after)
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.target(target);
        self.inner.admit(target, fence)
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.target(target);
        self.inner.current(target)
    }

    fn watch(&self, key: &Key, holder: HolderId) -> Watch {
        self.inner.watch(key, holder)
    }

    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.inner.on_revoked(tell)
    }

    fn changes(&self) -> Changes {
        self.inner.changes()
    }

    fn migrate(&self) -> Reply<'_, u32> {
        self.inner.migrate()
    }
}
