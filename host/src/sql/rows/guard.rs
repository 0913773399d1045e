//! Guards, and looking at who holds and who waits.

use super::link::{Dialect, Link};
use super::load::name;
use super::row::{Row, strange};
use super::script::Arg;
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::name::Key;
use crate::spec::{HolderView, KeyView, WaiterView};
use crate::sql::error::Failure;
use crate::sql::listing::{LOOKED_AT, Looked, Range};
use crate::sql::store::{guarded_slot, kind};

impl<D: Dialect> Link<'_, D> {
    pub(super) async fn admit(
        &mut self,
        target: &Target,
        fence: Fence,
    ) -> Result<Verdict, Failure> {
        loop {
            let statements = self.store.statements();
            let admits = match self.current(target).await? {
                Some(greatest) if greatest > fence => return Ok(Verdict::Stale(greatest)),
                Some(_) => &statements.set_guard,
                None => &statements.add_guard,
            };
            let [name, slot] = guarded(target);
            let number = i64::try_from(fence.as_u64()).unwrap_or(i64::MAX);
            let mut script = self.script();
            let first = script.add(admits, &[name, slot, Arg::Number(number)]);
            let answers = self.apply(script).await?;
            if std::ptr::eq(admits, &statements.add_guard) {
                return Ok(Verdict::Admitted);
            }
            match answers.first(first + 1).map(|row| row.fence(0)).transpose()? {
                Some(greatest) if greatest > fence => return Ok(Verdict::Stale(greatest)),
                Some(_) => return Ok(Verdict::Admitted),
                None => {} // It was forgotten meanwhile.
            }
        }
    }

    pub(super) async fn current(&mut self, target: &Target) -> Result<Option<Fence>, Failure> {
        let mut script = self.script();
        let guard = script.add(&self.store.statements().guard, &guarded(target));
        let answers = self.run(script).await?;
        answers.first(guard).map(|row| row.fence(0)).transpose()
    }

    pub(super) async fn inspect(&mut self, key: &Key) -> Result<KeyView, Failure> {
        let mut script = self.script();
        let arguments = [Arg::Number(kind(key.kind).into()), Arg::Bytes(name(key))];
        let all = script.add(&self.store.statements().inspect, &arguments);
        let answers = self.run(script).await?;
        let mut view = KeyView::default();
        for row in answers.rows(all) {
            if row.is_true(0)? {
                view.holders.push(holder(row)?);
            } else {
                view.waiters.push(waiter(row)?);
            }
        }
        Ok(view)
    }

    pub(super) async fn list(&mut self, range: &Range) -> Result<Vec<Looked>, Failure> {
        let mut script = self.script();
        let arguments = [
            Arg::Number(range.kind().into()),
            Arg::Bytes(range.first.as_bytes()),
            Arg::Bytes(range.last.as_bytes()),
            Arg::Number(LOOKED_AT.into()),
        ];
        let keys = script.add(&self.store.statements().list, &arguments);
        let answers = self.run(script).await?;
        let looked = |row: &Row| {
            let name = row.text(0)?.ok_or_else(|| strange("name", "none"))?.to_owned();
            Ok(Looked { name, used: row.is_true(1)? })
        };
        answers.rows(keys).iter().map(looked).collect()
    }

    pub(super) async fn woken(&mut self) -> Result<Vec<HolderId>, Failure> {
        let mut script = self.script();
        let inbox = Arg::Bytes(self.store.inbox().as_bytes());
        let woken = script.add(&self.store.statements().woken, &[inbox]);
        let answers = self.run(script).await?;
        answers.rows(woken).iter().map(|row| row.holder(0)).collect()
    }
}

fn guarded(target: &Target) -> [Arg<'_>; 2] {
    let slot = Arg::Number(guarded_slot(target).into());
    [Arg::Bytes(target.name.as_str().as_bytes()), slot]
}

fn holder(row: &Row) -> Result<HolderView, Failure> {
    Ok(HolderView {
        slot: row.small(1)?,
        fence: row.fence(2)?,
        owner: row.owner(5)?,
        note: row.note(6)?,
        held_for: row.length(3)?,
        ends_in: row.length(4)?,
    })
}

fn waiter(row: &Row) -> Result<WaiterView, Failure> {
    Ok(WaiterView {
        limit: row.limit(1)?,
        owner: row.owner(5)?,
        note: row.note(6)?,
        waited_for: row.length(3)?,
    })
}
