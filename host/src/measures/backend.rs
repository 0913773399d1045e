//! A backend whose operations are measured and traced.

use std::sync::Arc;

use tracing::Instrument as _;

use super::Measures;
use super::call::Call;
use crate::backend::{Backend, Properties, Refresh, Refreshed, Reply};
use crate::clock::Clock;
use crate::error::{BackendError, Loss};
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::listing::{Cursor, Page};
use crate::name::Key;
use crate::pattern::NamePattern;
use crate::spec::{Answer, Ask, KeyView};
use crate::wake::{Changes, Hearing, Tell, Watch};

/// Measures and traces what is asked of a backend with round trips.
#[derive(Debug)]
pub(crate) struct Measured {
    inner: Arc<dyn Backend>,
    clock: Clock,
    measures: Measures,
}

impl Measured {
    pub(crate) fn new(inner: Arc<dyn Backend>, clock: Clock, measures: Measures) -> Self {
        Measured { inner, clock, measures }
    }

    fn call<'a, T: Send + Unpin + 'a>(
        &'a self,
        call: Call,
        operation: impl FnOnce(&'a dyn Backend) -> Reply<'a, T>,
    ) -> Reply<'a, T> {
        let span = tracing::debug_span!("leases.backend", operation = call.as_str());
        let reply = operation(&*self.inner);
        let measured = async move {
            let began = self.clock.now();
            let answer: Result<T, BackendError> = reply.await;
            let took = || self.clock.now().since(began);
            self.measures.called(call, took, answer.as_ref().err());
            if let Err(error) = &answer {
                tracing::debug!(?error, "not confirmed");
            }
            answer
        };
        Reply::new(measured.instrument(span))
    }
}

impl Backend for Measured {
    fn properties(&self) -> Properties {
        self.inner.properties()
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        self.call(Call::Ask, |inner| inner.ask(ask))
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        self.call(Call::Refresh, |inner| inner.refresh(batch))
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        self.call(Call::Release, |inner| inner.release(key, holder))
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        self.call(Call::Leave, |inner| inner.leave(key, holder))
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        self.call(Call::Revoke, |inner| inner.revoke(key, slot))
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        self.call(Call::Inspect, |inner| inner.inspect(key))
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        self.call(Call::List, |inner| inner.list(names, after))
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        self.call(Call::Admit, |inner| inner.admit(target, fence))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        self.call(Call::Current, |inner| inner.current(target))
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
        self.call(Call::Migrate, |inner| inner.migrate())
    }
}
