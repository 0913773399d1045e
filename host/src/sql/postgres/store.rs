//! The operations: one statement each.

use sqlx::Postgres;
use sqlx::postgres::PgRow;

use super::migrate;
use super::replies;
use super::statements::{self, Arg, Sending};
use crate::backend::{Extend, Refresh, Refreshed};
use crate::clock::Clock;
use crate::error::Loss;
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::{Answer, Ask, Change, KeyView, Mode};
use crate::sql::attempt::{Attempt, Connections};
use crate::sql::error::Failure;
use crate::sql::listing::{LOOKED_AT, Looked, Range};
use crate::sql::store::{
    Doing, Forgotten, Holding, LATE, LOOKED_AT_MAX, Store, guarded_slot, kind, micros,
};

/// A PostgreSQL.
#[derive(Debug)]
pub(super) struct PostgresStore {
    connections: Connections<Postgres>,
    /// By what this process is told of wake-ups.
    inbox: String,
    told_time: Option<Clock>,
    sending: Sending,
}

impl PostgresStore {
    pub(super) fn new(
        connections: Connections<Postgres>,
        inbox: String,
        told_time: Option<Clock>,
        pooled: bool,
    ) -> Self {
        let sending = if pooled { Sending::AsText } else { Sending::Prepared };
        PostgresStore { connections, inbox, told_time, sending }
    }

    async fn rows(
        &self,
        attempt: &Attempt,
        statement: &'static str,
        arguments: &[Arg<'_>],
    ) -> Result<Vec<PgRow>, Failure> {
        let mut connection = attempt.borrow(&self.connections).await?;
        let rows = statements::rows(&mut connection, statement, arguments, self.sending).await;
        connection.after(rows)
    }

    async fn row(
        &self,
        attempt: &Attempt,
        statement: &'static str,
        arguments: &[Arg<'_>],
    ) -> Result<PgRow, Failure> {
        let mut rows = self.rows(attempt, statement, arguments).await?;
        rows.pop().ok_or_else(|| Failure::Answer("no row".to_owned()))
    }

    /// The last argument of each function: the time, where a test tells it.
    fn told(&self) -> Arg<'static> {
        let now = self.told_time.as_ref().map(|clock| clock.timestamp().as_micros());
        Arg::Big(now.and_then(|now| i64::try_from(now).ok()))
    }

    fn inbox(&self) -> Arg<'_> {
        Arg::Text(Some(&self.inbox))
    }
}

/// How long an ask that may yet come is refused, where one may.
fn late(attempt: &Attempt) -> Arg<'static> {
    Arg::Big(attempt.may_come_late.then(|| micros(LATE)))
}

fn name(key: &Key) -> Arg<'_> {
    Arg::Text(Some(key.name.as_str()))
}

impl Store for PostgresStore {
    fn ask<'a>(&'a self, ask: &'a Ask, attempt: &'a Attempt) -> Doing<'a, Change<Answer>> {
        Box::pin(async move {
            let (statement, patience) = match ask.mode {
                Mode::Once => (statements::ASK_ONCE, None),
                Mode::Wait { patience } => (statements::ASK_WAITING, Some(micros(patience))),
            };
            let max_hold = ask.max_hold.map(|max_hold| micros(max_hold.as_duration()));
            let arguments = [
                Arg::Small(kind(ask.key.kind)),
                name(&ask.key),
                Arg::Bytes(ask.holder.as_bytes()),
                Arg::Int(i32::try_from(ask.limit.get()).ok()),
                Arg::Text(ask.owner.as_ref().map(|owner| owner.as_str())),
                Arg::Text(ask.note.as_ref().map(|note| note.as_str())),
                Arg::Big(Some(micros(ask.ttl.as_duration()))),
                Arg::Big(max_hold),
                Arg::Big(patience),
                self.inbox(),
                self.told(),
            ];
            replies::answer(&self.row(attempt, statement, &arguments).await?, ask)
        })
    }

    fn refresh<'a>(
        &'a self,
        batch: &'a [Refresh],
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Vec<Refreshed>>> {
        Box::pin(async move {
            let kinds: Vec<_> = batch.iter().map(|one| kind(one.key.kind)).collect();
            let names: Vec<_> = batch.iter().map(|one| one.key.name.as_str()).collect();
            let holders: Vec<&[u8]> =
                batch.iter().map(|one| one.holder.as_bytes().as_slice()).collect();
            let lasts: Vec<_> = batch.iter().map(|one| micros(one.extend.lasts())).collect();
            let is_ticket = |one: &Refresh| matches!(one.extend, Extend::Ticket { .. });
            let tickets: Vec<_> = batch.iter().map(is_ticket).collect();
            let arguments = [
                Arg::Smalls(&kinds),
                Arg::Texts(&names),
                Arg::BytesList(&holders),
                Arg::Bigs(&lasts),
                Arg::Bools(&tickets),
                self.inbox(),
                self.told(),
            ];
            let rows = self.rows(attempt, statements::REFRESH, &arguments);
            let rows = rows.await?;
            if rows.len() != batch.len() {
                return Err(Failure::Answer(format!("{} answers", rows.len())));
            }
            let answer = rows.iter().map(replies::refreshed).collect::<Result<_, _>>()?;
            let woken = rows.iter().map(replies::woken).collect::<Result<Vec<_>, _>>()?;
            Ok(Change { answer, wake: woken.concat() })
        })
    }

    fn release<'a>(
        &'a self,
        of: &'a Holding,
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Result<(), Loss>>> {
        Box::pin(async move {
            let arguments = [
                Arg::Small(kind(of.key.kind)),
                name(&of.key),
                Arg::Bytes(of.holder.as_bytes()),
                late(attempt),
                self.inbox(),
                self.told(),
            ];
            replies::released(&self.row(attempt, statements::RELEASE, &arguments).await?)
        })
    }

    fn leave<'a>(&'a self, of: &'a Holding, attempt: &'a Attempt) -> Doing<'a, Change<()>> {
        Box::pin(async move {
            let arguments = [
                Arg::Small(kind(of.key.kind)),
                name(&of.key),
                Arg::Bytes(of.holder.as_bytes()),
                late(attempt),
                self.inbox(),
                self.told(),
            ];
            let row = self.row(attempt, statements::LEAVE, &arguments);
            Ok(Change { answer: (), wake: replies::woken(&row.await?)? })
        })
    }

    fn revoke<'a>(
        &'a self,
        key: &'a Key,
        slot: Option<u32>,
        attempt: &'a Attempt,
    ) -> Doing<'a, Change<Vec<HolderId>>> {
        Box::pin(async move {
            // A slot that no row can have is one that nobody holds.
            let slot = slot.map(|slot| i32::try_from(slot).unwrap_or(-1));
            let arguments =
                [Arg::Small(kind(key.kind)), name(key), Arg::Int(slot), self.inbox(), self.told()];
            let row = self.row(attempt, statements::REVOKE, &arguments);
            let row = row.await?;
            Ok(Change { answer: replies::revoked(&row)?, wake: replies::woken(&row)? })
        })
    }

    fn inspect<'a>(&'a self, key: &'a Key, attempt: &'a Attempt) -> Doing<'a, KeyView> {
        Box::pin(async move {
            let arguments = [Arg::Small(kind(key.kind)), name(key), self.told()];
            replies::view(&self.rows(attempt, statements::INSPECT, &arguments).await?)
        })
    }

    fn list<'a>(&'a self, range: &'a Range, attempt: &'a Attempt) -> Doing<'a, Vec<Looked>> {
        Box::pin(async move {
            let arguments = [
                Arg::Small(range.kind()),
                Arg::Text(Some(&range.first)),
                Arg::Text(Some(&range.last)),
                Arg::Int(Some(LOOKED_AT)),
                self.told(),
            ];
            let rows = self.rows(attempt, statements::LIST, &arguments).await?;
            rows.iter().map(replies::looked).collect()
        })
    }

    fn admit<'a>(
        &'a self,
        target: &'a Target,
        fence: Fence,
        attempt: &'a Attempt,
    ) -> Doing<'a, Verdict> {
        Box::pin(async move {
            let arguments = [
                Arg::Text(Some(target.name.as_str())),
                Arg::Int(Some(guarded_slot(target))),
                Arg::Big(i64::try_from(fence.as_u64()).ok()),
                self.told(),
            ];
            let row = self.row(attempt, statements::ADMIT, &arguments);
            replies::verdict(&row.await?)
        })
    }

    fn current<'a>(&'a self, target: &'a Target, attempt: &'a Attempt) -> Doing<'a, Option<Fence>> {
        Box::pin(async move {
            let arguments =
                [Arg::Text(Some(target.name.as_str())), Arg::Int(Some(guarded_slot(target)))];
            let rows = self.rows(attempt, statements::CURRENT, &arguments).await?;
            rows.first().map(replies::guard).transpose()
        })
    }

    fn woken<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, Vec<HolderId>> {
        Box::pin(async move {
            let rows = self.rows(attempt, statements::WOKEN, &[self.inbox()]).await?;
            rows.iter().map(replies::holder).collect()
        })
    }

    fn forget<'a>(
        &'a self,
        from: &'a Forgotten,
        retention: std::time::Duration,
        attempt: &'a Attempt,
    ) -> Doing<'a, Forgotten> {
        Box::pin(async move {
            let rest =
                [Arg::Int(Some(LOOKED_AT_MAX)), Arg::Big(Some(micros(retention))), self.told()];
            let (first, second, statement) = match from {
                Forgotten::All => (Arg::Small(0), Arg::Text(Some("")), statements::FORGET_KEYS),
                Forgotten::Keys { kind, name } => {
                    (Arg::Small(*kind), Arg::Text(Some(name)), statements::FORGET_KEYS)
                }
                Forgotten::Guards { name, slot } => {
                    (Arg::Text(Some(name)), Arg::Int(Some(*slot)), statements::FORGET_GUARDS)
                }
            };
            let [many, retention, told] = rest;
            let row = self.row(attempt, statement, &[first, second, many, retention, told]).await?;
            if statement == statements::FORGET_GUARDS {
                let name: Option<String> = replies::get(&row, "n")?;
                let slot: Option<i32> = replies::get(&row, "s")?;
                let last = name.zip(slot);
                return Ok(
                    last.map_or(Forgotten::All, |(name, slot)| Forgotten::Guards { name, slot })
                );
            }
            let kind: Option<i16> = replies::get(&row, "k")?;
            let name: Option<String> = replies::get(&row, "n")?;
            let first_guard = || Forgotten::Guards { name: String::new(), slot: -1 };
            let last = kind.zip(name);
            Ok(last.map_or_else(first_guard, |(kind, name)| Forgotten::Keys { kind, name }))
        })
    }

    fn migrate<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, u32> {
        Box::pin(async move { migrate::migrate(attempt.borrow(&self.connections).await?).await })
    }

    fn version<'a>(&'a self, attempt: &'a Attempt) -> Doing<'a, Option<i64>> {
        Box::pin(async move {
            let mut connection = attempt.borrow(&self.connections).await?;
            let version = migrate::version(&mut connection).await;
            connection.after(version)?
        })
    }
}
