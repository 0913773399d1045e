//! The transitions of [`spec`](crate::spec) behind locks.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::config::MemoryConfig;
use super::shard::{Hashed, Shard};
use crate::backend::{Backend, Extend, Properties, Refresh, Refreshed, Reply};
use crate::clock::Timestamp;
use crate::error::Loss;
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::listing::{Cursor, Page};
use crate::name::Key;
use crate::pattern::NamePattern;
use crate::spec::{Answer, Ask, Change, GuardState, KeyState, KeyView, Rules};
use crate::wake::{Changes, Hearing, Tell, Wakes, Watch};

/// Locks over which the keys are spread.
const SHARDS: usize = 64;

/// A waiter of this process leaves when it is dropped, so patience only bounds one that is kept and
/// never polled. Three claim times: each sign of life (a third of it) sees in time that somebody in
/// front was called and stays silent.
const PATIENCE: Duration = Duration::from_secs(3);

/// Grants, lines and guards in the memory of one process.
///
/// Every operation is done when its call returns, without a system call. Names that
/// nobody used for the retention time are forgotten, a few with each operation, whatever name it is
/// about.
#[derive(Debug, Clone)]
pub struct MemoryBackend(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: MemoryConfig,
    rules: Rules,
    hasher: RandomState,
    shards: Box<[Mutex<Shard>]>,
    wakes: Wakes,
}

impl MemoryBackend {
    /// A backend that nothing is held on.
    pub fn new(config: MemoryConfig) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        let (rules, hasher, wakes) = Default::default();
        MemoryBackend(Arc::new(Inner { config, rules, hasher, shards, wakes }))
    }

    /// How many names and guards it remembers.
    pub fn remembered(&self) -> usize {
        let count = |shard: MutexGuard<'_, Shard>| shard.keys.len() + shard.guards.len();
        self.0.shards.iter().map(|shard| count(locked(shard))).sum()
    }

    /// Runs a transition on a key's state, which is made if there is none.
    fn change<A>(&self, key: &Key, step: impl FnOnce(&mut KeyState, At<'_>) -> Change<A>) -> A {
        let inner = &*self.0;
        let now = inner.config.clock.timestamp();
        let retention = inner.config.retention;
        let (Change { answer, wake }, tidied) = {
            let (mut shard, key) = inner.shard(key);
            shard.forget_due(now, retention);
            let state = shard.keys.get_or_insert(key, now, retention, KeyState::default);
            (step(state, At { now, rules: &inner.rules }), shard.tidies())
        };
        inner.wakes.wake(&wake);
        inner.tidy(tidied, now);
        answer
    }

    /// Runs a transition on a key's state, if there is one.
    fn change_known<A>(
        &self,
        key: &Key,
        step: impl FnOnce(&mut KeyState, At<'_>) -> Change<A>,
    ) -> Option<A> {
        let inner = &*self.0;
        let now = inner.config.clock.timestamp();
        let Change { answer, wake } = {
            let (mut shard, key) = inner.shard(key);
            let state = shard.keys.get_mut(key)?;
            step(state, At { now, rules: &inner.rules })
        };
        inner.wakes.wake(&wake);
        Some(answer)
    }

    fn refresh_one(&self, refresh: &Refresh) -> Refreshed {
        let answer = self.change_known(&refresh.key, |state, at| match refresh.extend {
            Extend::Hold(ttl) => state.refresh(refresh.holder, ttl, at.now, at.rules),
            Extend::Ticket { patience } => {
                state.sign_of_life(refresh.holder, patience, at.now, at.rules)
            }
        });
        answer.unwrap_or(match refresh.extend {
            Extend::Hold(_) => Refreshed::Lost(Loss::Expired),
            Extend::Ticket { .. } => Refreshed::NotInLine,
        })
    }

    fn admit_now(&self, target: &Target, fence: Fence) -> Verdict {
        let inner = &*self.0;
        let now = inner.config.clock.timestamp();
        let retention = inner.config.retention;
        let (mut shard, target) = inner.shard(target);
        shard.forget_due(now, retention);
        let first = || GuardState::first(fence, now);
        let verdict = shard.guards.get_or_insert(target, now, retention, first).admit(fence, now);
        let tidied = shard.tidies();
        drop(shard);
        inner.tidy(tidied, now);
        verdict
    }
}

/// When a transition runs, and by which rules.
struct At<'a> {
    now: Timestamp,
    rules: &'a Rules,
}

impl Inner {
    /// The shard of a key, and the key with its hash.
    fn shard<'a, K: Hash>(&self, key: &'a K) -> (MutexGuard<'_, Shard>, Hashed<'a, K>) {
        let hash = self.hasher.hash_one(key);
        // A table goes by the lowest and the highest bits: in one shard they must differ.
        let at = (hash >> 32) as usize % self.shards.len();
        // In bounds by the remainder.
        #[expect(clippy::indexing_slicing)]
        let shard = locked(&self.shards[at]);
        (shard, Hashed { key, hash })
    }

    /// Forgets what is due in another shard, unless somebody is at it.
    fn tidy(&self, number: Option<usize>, now: Timestamp) {
        let shard = number.and_then(|number| self.shards.get(number % self.shards.len()));
        if let Some(Ok(mut shard)) = shard.map(Mutex::try_lock) {
            shard.forget_due(now, self.config.retention);
        }
    }
}

/// A panic under one of these locks is a fault of the transitions; the state is still a state.
fn locked(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for MemoryBackend {
    fn properties(&self) -> Properties {
        Properties { patience: PATIENCE, at_once: true }
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        Reply::answered(self.change(&ask.key, |state, at| state.ask(ask, at.now, at.rules)))
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        Reply::answered(batch.iter().map(|refresh| self.refresh_one(refresh)).collect())
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        let released = self.change_known(key, |state, at| state.release(holder, at.now, at.rules));
        Reply::answered(released.unwrap_or(Err(Loss::Expired)))
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.change_known(key, |state, at| state.leave(holder, at.now, at.rules));
        Reply::answered(())
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        let revoked = self.change_known(key, |state, at| state.revoke(slot, at.now, at.rules));
        let revoked = revoked.unwrap_or_default();
        self.0.wakes.revoked(&revoked);
        Reply::answered(u32::try_from(revoked.len()).unwrap_or(u32::MAX))
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        let now = self.0.config.clock.timestamp();
        let (mut shard, key) = self.0.shard(key);
        Reply::answered(shard.keys.get_mut(key).map(|state| state.view(now)).unwrap_or_default())
    }

    fn list<'a>(&'a self, names: &'a NamePattern, _after: Option<&'a Cursor>) -> Reply<'a, Page> {
        let now = self.0.config.clock.timestamp();
        let mut keys = Vec::new();
        for shard in &self.0.shards {
            let named = |key: &Key| names.matches(key.name.as_str());
            let shard = locked(shard);
            let used = shard.keys.iter().filter(|(key, state)| named(key) && state.in_use(now));
            keys.extend(used.map(|(key, _)| key.clone()));
        }
        Reply::answered(Page { keys, next: None })
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        Reply::answered(self.admit_now(target, fence))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        let (mut shard, target) = self.0.shard(target);
        Reply::answered(shard.guards.get_mut(target).map(|guard| guard.current()))
    }

    fn watch(&self, _key: &Key, holder: HolderId) -> Watch {
        self.0.wakes.watch(holder)
    }

    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.0.wakes.on_revoked(tell)
    }

    fn changes(&self) -> Changes {
        Changes::default()
    }

    fn migrate(&self) -> Reply<'_, u32> {
        Reply::answered(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Leases, ManualClock};

    #[tokio::test]
    async fn one_name_in_use_lets_all_others_be_forgotten() {
        let time = ManualClock::new();
        let config = MemoryConfig { clock: time.clock(), ..MemoryConfig::default() };
        let retention = config.retention;
        let backend = MemoryBackend::new(config);
        let leases = Leases::builder(Arc::new(backend.clone())).clock(time.clock()).build();
        for number in 0..2000 {
            drop(leases.lease(format!("idle:{number}")).unwrap().acquire().await.unwrap());
        }
        time.advance(retention + Duration::from_secs(1));
        for _ in 0..10_000 {
            drop(leases.lease("busy").unwrap().acquire().await.unwrap());
        }
        assert_eq!(backend.remembered(), 1);
    }
}
