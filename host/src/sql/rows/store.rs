//! The operations: one connection each.

use std::time::Duration;

use super::link::{Dialect, Link};
use super::script::{Script, Words};
use super::statements::Statements;
use crate::backend::{Refresh, Refreshed};
use crate::clock::Clock;
use crate::error::Loss;
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::{Answer, Ask, Change, KeyView, Rules};
use crate::sql::attempt::{Attempt, Connections};
use crate::sql::error::Failure;
use crate::sql::listing::{Looked, Range};
use crate::sql::store::{Doing, Forgotten, Holding, Store};
use rand::RngExt as _;
use rand::distr::Alphanumeric;

/// A database whose rules are run here.
#[derive(Debug)]
pub(in crate::sql) struct RowsStore<D: Dialect> {
    connections: Connections<D::Driver>,
    words: Words,
    statements: Statements,
    /// By what it is known whose tickets are this process's.
    inbox: String,
    told_time: Option<Clock>,
    rules: Rules,
}

impl<D: Dialect> RowsStore<D> {
    pub(in crate::sql) fn new(
        connections: Connections<D::Driver>,
        dialect: &D,
        told_time: Option<Clock>,
    ) -> Self {
        let words = *dialect.words();
        let letters = rand::rng().sample_iter(Alphanumeric).take(12);
        let inbox = "looks:".chars().chain(letters.map(char::from)).collect();
        let (statements, rules) = (Statements::new(&words), Rules::default());
        RowsStore { connections, words, statements, inbox, told_time, rules }
    }

    pub(super) fn connections(&self) -> &Connections<D::Driver> {
        &self.connections
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    pub(super) fn statements(&self) -> &Statements {
        &self.statements
    }

    pub(super) fn inbox(&self) -> &str {
        &self.inbox
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(super) fn script(&self) -> Script {
        let told = self.told_time.as_ref().map(|clock| clock.timestamp().as_micros());
        Script::new(&self.words, told.and_then(|told| i64::try_from(told).ok()))
    }

    async fn link<'a>(&'a self, attempt: &'a Attempt) -> Result<Link<'a, D>, Failure> {
        Link::new(self, attempt).await
    }
}

impl<D: Dialect> Store for RowsStore<D> {
    fn ask<'a>(&'a self, ask: &'a Ask, attempt: &'a Attempt) -> Doing<'a, Change<Answer>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let answer = link.ask(ask).await;
            link.end(answer).await
        })
    }

    fn refresh<'a>(
        &'a self,
        batch: &'a [Refresh],
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Vec<Refreshed>>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let answers = link.refresh(batch).await;
            link.end(answers).await
        })
    }

    fn release<'a>(
        &'a self,
        of: &'a Holding,
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Result<(), Loss>>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let released = link.release(of).await;
            link.end(released).await
        })
    }

    fn leave<'a>(&'a self, of: &'a Holding, attempt: &'a Attempt) -> Doing<'a, Change<()>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let left = link.leave(of).await;
            link.end(left).await
        })
    }

    fn revoke<'a>(
        &'a self,
        key: &'a Key,
        slot: Option<u32>,
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Vec<HolderId>>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let revoked = link.revoke(key, slot).await;
            link.end(revoked).await
        })
    }

    fn inspect<'a>(&'a self, key: &'a Key, attempt: &'a Attempt) -> Doing<'a, KeyView> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let view = link.inspect(key).await;
            link.end(view).await
        })
    }

    fn list<'a>(&'a self, range: &'a Range, attempt: &'a Attempt) -> Doing<'a, Vec<Looked>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let looked = link.list(range).await;
            link.end(looked).await
        })
    }

    fn admit<'a>(
        &'a self,
        target: &'a Target,
        fence: Fence,
        attempt: &'a Attempt,
    ) -> Doing<'a, Verdict> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let verdict = link.admit(target, fence).await;
            link.end(verdict).await
        })
    }

    fn current<'a>(&'a self, target: &'a Target, attempt: &'a Attempt) -> Doing<'a, Option<Fence>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let current = link.current(target).await;
            link.end(current).await
        })
    }

    fn woken<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, Vec<HolderId>> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let woken = link.woken().await;
            link.end(woken).await
        })
    }

    fn forget<'a>(
        &'a self,
        from: &'a Forgotten,
        retention: Duration,
        attempt: &'a Attempt,
    ) -> Doing<'a, Forgotten> {
        Box::pin(async move {
            let mut link = self.link(attempt).await?;
            let forgotten = link.forget(from, retention).await;
            link.end(forgotten).await
        })
    }

    fn migrate<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, u32> {
        Box::pin(async move {
            let mut connection = attempt.borrow(&self.connections).await?;
            let migrated = D::migrate(&mut connection).await?;
            connection.give_back();
            Ok(migrated)
        })
    }

    fn version<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, Option<i64>> {
        Box::pin(async move {
            let mut connection = attempt.borrow(&self.connections).await?;
            let version = D::version(&mut connection).await?;
            connection.give_back();
            Ok(version)
        })
    }
}
