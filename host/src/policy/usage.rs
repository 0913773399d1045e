//! What a plugin has, and how much it asks for: counted from the start of an ask until what came
//! of it is gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::names::Names;
use super::plugin::PluginId;
use super::policy::Quotas;
use super::rate::Bucket;
use crate::clock::{Clock, Moment};
use crate::error::Quota;
use crate::name::Name;

/// What the backend remembers after a call: a key by its name, or a guard by target and slot.
pub(super) type Remembered<'a> = (&'a Name, Option<u32>);

/// How much a plugin has at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Holds, and asks under way, each as the hold that it may become.
    pub held: u32,
    /// Those of the asks that may wait.
    pub waiting: u32,
}

/// What one plugin has and asks for through one [`Leases`](crate::Leases): all of its scopes and
/// instances together.
#[derive(Debug)]
pub(crate) struct Usage {
    plugin: PluginId,
    held: AtomicU32,
    waiting: AtomicU32,
    acquires: Bucket,
    calls: Bucket,
    names: Names,
    /// How often everything of it was revoked.
    revocations: AtomicU64,
    /// Told of each.
    revoking: Notify,
}

/// The usage of every plugin that has a scope, or had one and asked for something not long ago: a
/// host may make a scope for each call, and none is left in between.
#[derive(Debug, Default)]
pub(crate) struct Usages(Mutex<HashMap<PluginId, Arc<Usage>>>);

/// A plugin's ask, then its hold: counted for as long as this lives.
#[derive(Debug)]
pub(super) struct Counted {
    usage: Arc<Usage>,
    waits: AtomicBool,
    /// How often everything was revoked before it began.
    revocations: u64,
}

impl Usages {
    /// The usage of a plugin. All who ask for it share it.
    pub(super) fn of(&self, plugin: &PluginId, now: Moment) -> Arc<Usage> {
        let mut usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = usages.get(plugin) {
            return Arc::clone(usage);
        }
        usages.retain(|_, usage| Arc::strong_count(usage) > 1 || usage.counts_something(now));
        let usage = Arc::new(Usage::new(plugin.clone()));
        usages.insert(plugin.clone(), Arc::clone(&usage));
        usage
    }
}

impl Usage {
    fn new(plugin: PluginId) -> Self {
        let (held, waiting, acquires, calls, revocations, revoking) = Default::default();
        let names = Names::new();
        Usage { plugin, held, waiting, acquires, calls, names, revocations, revoking }
    }

    pub(crate) fn plugin(&self) -> &PluginId {
        &self.plugin
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            held: self.held.load(Ordering::Acquire),
            waiting: self.waiting.load(Ordering::Acquire),
        }
    }

    /// Counts an ask from now on, and what will be remembered of it if that is not bounded by its
    /// grant. What is refused costs no token and no name.
    pub(super) fn count(
        self: &Arc<Self>,
        quotas: &Quotas,
        remembered: Option<Remembered<'_>>,
        waits: bool,
        clock: &Clock,
    ) -> Result<Counted, Quota> {
        take(&self.held, quotas.held).ok_or(Quota::Held)?;
        let revocations = self.revocations.load(Ordering::Acquire);
        let waiting = AtomicBool::new(false);
        let counted = Counted { usage: Arc::clone(self), waits: waiting, revocations };
        if waits {
            take(&self.waiting, quotas.waiting).ok_or(Quota::Waiting)?;
            counted.waits.store(true, Ordering::Release);
        }
        let now = clock.now();
        let token = || self.acquires.take(quotas.acquires, now);
        self.uses(quotas, remembered, now, token)?;
        Ok(counted)
    }

    /// Takes a token for a call that is no acquire.
    pub(super) fn take_call(
        &self,
        quotas: &Quotas,
        remembered: Option<Remembered<'_>>,
        clock: &Clock,
    ) -> Result<(), Quota> {
        let now = clock.now();
        self.uses(quotas, remembered, now, || self.calls.take(quotas.calls, now))
    }

    /// Whether a new one would let its plugin do more than it may.
    fn counts_something(&self, now: Moment) -> bool {
        let buckets = [&self.acquires, &self.calls];
        buckets.iter().any(|bucket| !bucket.is_full(now)) || self.names.are_some_used(now)
    }

    /// Takes a token, and uses what will be remembered; neither without the other.
    fn uses(
        &self,
        quotas: &Quotas,
        remembered: Option<Remembered<'_>>,
        now: Moment,
        token: impl FnOnce() -> bool,
    ) -> Result<(), Quota> {
        let may = match remembered {
            Some(one) => self.names.uses(one, quotas.names_per_day, now, token),
            None => token(),
        };
        if may { Ok(()) } else { Err(Quota::Rate) }
    }

    /// Everything of it is being revoked: what is asked from now on is not meant.
    pub(crate) fn revoke(&self) {
        self.revocations.fetch_add(1, Ordering::AcqRel);
        self.revoking.notify_waiters();
    }
}

/// One more, where that is no more than `max`.
fn take(count: &AtomicU32, max: u32) -> Option<()> {
    let one_more = |count| (count < max).then_some(count + 1);
    count.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok().map(drop)
}

impl Counted {
    pub(super) fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    /// It waits no more.
    pub(super) fn granted(&self) {
        if self.waits.swap(false, Ordering::AcqRel) {
            self.usage.waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Whether everything of its plugin was revoked since it began.
    pub(super) fn is_revoked(&self) -> bool {
        self.usage.revocations.load(Ordering::Acquire) != self.revocations
    }

    /// Returns when it is revoked.
    pub(super) async fn revoked(&self) {
        let revoking = self.usage.revoking.notified();
        tokio::pin!(revoking);
        revoking.as_mut().enable();
        if !self.is_revoked() {
            revoking.await;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if *self.waits.get_mut() {
            self.usage.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        self.usage.held.fetch_sub(1, Ordering::AcqRel);
    }
}
