//! What a plugin has, and how much it asks for: counted from the start of an ask until what came
//! of it is gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::at_once::{AtOnce, Counts, Waits};
use super::names::Names;
use super::plugin::PluginId;
use super::policy::Quotas;
use super::rate::Bucket;
use crate::clock::Moment;
use crate::error::Quota;
use crate::name::Name;

/// What the backend remembers after a call: a key by its name, or a guard by target and slot.
pub(super) type Remembered<'a> = (&'a Name, Option<u32>);

/// What one plugin has and asks for through one [`Leases`](crate::Leases): all of its scopes and
/// instances together.
#[derive(Debug)]
pub(crate) struct Usage {
    plugin: PluginId,
    pub(super) at_once: AtOnce,
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
        let (at_once, acquires, calls, revocations, revoking) = Default::default();
        let names = Names::new();
        Usage { plugin, at_once, acquires, calls, names, revocations, revoking }
    }

    pub(crate) fn plugin(&self) -> &PluginId {
        &self.plugin
    }

    pub(super) fn counts(&self) -> Counts {
        self.at_once.counts()
    }

    /// Counts an ask, and what will be remembered of it if that is not bounded by its grant. What is
    /// refused costs no token and no name, and counts for nothing.
    pub(super) fn count(
        &self,
        quotas: &Quotas,
        remembered: Option<Remembered<'_>>,
        waits: Waits,
        now: Moment,
    ) -> Result<(), Quota> {
        self.at_once.take(quotas.held, quotas.waiting, waits)?;
        let token = || self.acquires.take(quotas.acquires, now);
        let used = self.uses(quotas, remembered, now, token);
        if used.is_err() {
            self.at_once.give_back(waits);
        }
        used
    }

    /// Takes a token for a call that is no acquire.
    pub(super) fn take_call(
        &self,
        quotas: &Quotas,
        remembered: Option<Remembered<'_>>,
        now: Moment,
    ) -> Result<(), Quota> {
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

    /// How often that was.
    pub(super) fn revocations(&self) -> u64 {
        self.revocations.load(Ordering::Acquire)
    }

    /// Returns when it was more often than so.
    pub(super) async fn revoked_since(&self, revocations: u64) {
        let revoking = self.revoking.notified();
        tokio::pin!(revoking);
        revoking.as_mut().enable();
        if self.revocations() == revocations {
            revoking.await;
        }
    }
}
