//! Backends that make trouble.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use leases::spec::{Answer, Ask, KeyView};
use leases::{
    Applied, Backend, BackendError, Fence, HolderId, Key, Properties, Refresh, Refreshed, Reply,
    Target, Verdict, Watch,
};

/// A backend whose every operation takes some polls before it is applied, and some more before its
/// reply arrives: a future dropped in between was applied or not.
#[derive(Debug)]
pub struct Slow {
    inner: Arc<dyn Backend>,
    polls: u32,
    asks: AtomicU32,
}

impl Slow {
    /// Takes `polls` polls on the way there, and as many on the way back.
    pub fn new(inner: Arc<dyn Backend>, polls: u32) -> Self {
        Slow { inner, polls, asks: AtomicU32::new(0) }
    }

    /// How many asks were made.
    pub fn asks(&self) -> u32 {
        self.asks.load(Ordering::Relaxed)
    }

    fn slowly<'a, T: Send + 'a>(&'a self, operation: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            self.travel().await;
            let reply = operation.await;
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
        self.asks.fetch_add(1, Ordering::Relaxed);
        self.slowly(self.inner.ask(ask))
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        self.slowly(self.inner.refresh(batch))
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, bool> {
        self.slowly(self.inner.release(key, holder))
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.slowly(self.inner.leave(key, holder))
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.slowly(self.inner.revoke(key, slot))
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        self.inner.inspect(key)
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.slowly(self.inner.admit(target, fence))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.slowly(self.inner.current(target))
    }

    fn watch(&self, key: &Key, holder: HolderId) -> Watch {
        self.inner.watch(key, holder)
    }
}

/// A backend whose next operations fail: not sent at all, or applied with the reply lost.
#[derive(Debug)]
pub struct Failing {
    inner: Arc<dyn Backend>,
    fails: Mutex<VecDeque<Applied>>,
}

impl Failing {
    /// Fails at nothing yet.
    pub fn new(inner: Arc<dyn Backend>) -> Self {
        Failing { inner, fails: Mutex::default() }
    }

    /// Fails the next operations, each as it says.
    pub fn fail(&self, fails: impl IntoIterator<Item = Applied>) {
        self.fails.lock().unwrap_or_else(PoisonError::into_inner).extend(fails);
    }

    /// How many of the failures are still to come.
    pub fn still_to_fail(&self) -> usize {
        self.fails.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn perhaps<'a, T: Send + 'a>(&'a self, operation: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            let fails = self.fails.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(applied) = fails else { return operation.await };
            if applied == Applied::Unknown {
                operation.await?;
            }
            Err(BackendError { applied, source: "told to fail".into() })
        })
    }
}

impl Backend for Failing {
    fn properties(&self) -> Properties {
        Properties { at_once: false, ..self.inner.properties() }
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        self.perhaps(self.inner.ask(ask))
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        self.perhaps(self.inner.refresh(batch))
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, bool> {
        self.perhaps(self.inner.release(key, holder))
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.perhaps(self.inner.leave(key, holder))
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.perhaps(self.inner.revoke(key, slot))
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        self.inner.inspect(key)
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.perhaps(self.inner.admit(target, fence))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.perhaps(self.inner.current(target))
    }

    fn watch(&self, key: &Key, holder: HolderId) -> Watch {
        self.inner.watch(key, holder)
    }
}
