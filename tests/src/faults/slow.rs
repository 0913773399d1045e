//! A backend that takes its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use leases::spec::{Answer, Ask, KeyView};
use leases::{
    Backend, BackendError, Changes, Cursor, Fence, Hearing, HolderId, Key, Loss, NamePattern, Page,
    Properties, Refresh, Refreshed, Reply, Target, Tell, Verdict, Watch,
};

/// A backend whose every operation takes some polls before it is applied, and some more before its
/// reply arrives: a future dropped in between was applied or not.
#[derive(Debug)]
pub struct Slow {
    inner: Arc<dyn Backend>,
    polls: u32,
    round_trips: AtomicU32,
}

impl Slow {
    /// Takes `polls` polls on the way there, and as many on the way back.
    pub fn new(inner: Arc<dyn Backend>, polls: u32) -> Self {
        Slow { inner, polls, round_trips: AtomicU32::new(0) }
    }

    /// How many asks and batches of refreshes were made.
    pub fn round_trips(&self) -> u32 {
        self.round_trips.load(Ordering::Relaxed)
    }

    fn slowly<'a, T, F>(&'a self, operation: impl FnOnce() -> F + Send + 'a) -> Reply<'a, T>
    where
        T: Send + 'a,
        F: Future<Output = Result<T, BackendError>> + Send + 'a,
    {
        Reply::new(async move {
            self.travel().await;
            let reply = operation().await;
            self.travel().await;
            reply
        })
    }

    async fn travel(&self) {
        for _ in 0..self.polls {
            tokio::task::yield_now().await;
        }
    }
}

impl Backend for Slow {
    fn properties(&self) -> Properties {
        Properties { at_once: false, ..self.inner.properties() }
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        self.slowly(async move || self.inner.ask(ask).await)
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        self.slowly(async move || self.inner.refresh(batch).await)
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        self.slowly(async move || self.inner.release(key, holder).await)
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.slowly(async move || self.inner.leave(key, holder).await)
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.slowly(async move || self.inner.revoke(key, slot).await)
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        self.inner.inspect(key)
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        self.slowly(async move || self.inner.list(names, after).await)
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.slowly(async move || self.inner.admit(target, fence).await)
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.slowly(async move || self.inner.current(target).await)
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
        self.slowly(async move || self.inner.migrate().await)
    }
}
