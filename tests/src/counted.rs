//! A backend that counts what is asked of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leases::spec::{Answer, Ask, KeyView};
use leases::{
    Backend, Changes, Cursor, Fence, Hearing, HolderId, Key, Loss, NamePattern, Page, Properties,
    Refresh, Refreshed, Reply, Target, Tell, Verdict, Watch,
};
use tokio::sync::Notify;

/// A backend that counts the operations in flight, and all that ever began.
///
/// One is in flight from the call, since it may be applied from then on, polled or not, until its
/// reply was taken or dropped.
#[derive(Debug)]
pub struct Counted {
    inner: Arc<dyn Backend>,
    began: AtomicU64,
    ended: AtomicU64,
    /// Told when one ends.
    ending: Notify,
}

/// One operation in flight.
struct Flight<'a>(&'a Counted);

impl Counted {
    /// Counts from nothing.
    pub fn new(inner: Arc<dyn Backend>) -> Self {
        let (began, ended, ending) = Default::default();
        Counted { inner, began, ended, ending }
    }

    /// What is counted here; what is asked of it directly is not.
    pub fn inner(&self) -> &Arc<dyn Backend> {
        &self.inner
    }

    /// How many operations ever began.
    pub fn began(&self) -> u64 {
        self.began.load(Ordering::Acquire)
    }

    /// How many are in flight.
    pub fn in_flight(&self) -> u64 {
        // In this order, so that it is never less than nothing.
        let ended = self.ended.load(Ordering::Acquire);
        self.began() - ended
    }

    /// Returns when none is in flight.
    pub async fn all_ended(&self) {
        loop {
            let ending = self.ending.notified();
            tokio::pin!(ending);
            ending.as_mut().enable();
            if self.in_flight() == 0 {
                return;
            }
            ending.await;
        }
    }

    /// Counts one, from its call on.
    fn count<'a, T>(
        &'a self,
        operation: impl FnOnce(&'a dyn Backend) -> Reply<'a, T>,
    ) -> Reply<'a, T>
    where
        T: Send + Unpin + 'a,
    {
        self.began.fetch_add(1, Ordering::AcqRel);
        let flight = Flight(self);
        let reply = operation(&*self.inner);
        Reply::new(async move {
            let answer = reply.await;
            drop(flight);
            answer
        })
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::AcqRel);
        self.0.ending.notify_waiters();
    }
}

impl Backend for Counted {
    fn properties(&self) -> Properties {
        self.inner.properties()
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        self.count(|inner| inner.ask(ask))
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        self.count(|inner| inner.refresh(batch))
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        self.count(|inner| inner.release(key, holder))
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.count(|inner| inner.leave(key, holder))
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.count(|inner| inner.revoke(key, slot))
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        self.count(|inner| inner.inspect(key))
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        self.count(|inner| inner.list(names, after))
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.count(|inner| inner.admit(target, fence))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.count(|inner| inner.current(target))
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
        self.count(|inner| inner.migrate())
    }
}
