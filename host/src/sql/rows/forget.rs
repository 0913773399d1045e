//! Forgetting what nobody used for the retention time.

use std::time::Duration;

use super::link::{Dialect, Link};
use super::row::{Read, Row, strange};
use super::script::Arg;
use crate::name::Kind;
use crate::sql::error::Failure;
use crate::sql::store::{Forgotten, LOOKED_AT_MAX, kind, micros};

/// How many keys are locked at once.
const KEYS_MAX: usize = 50;

impl<D: Dialect> Link<'_, D> {
    /// Looks at the next few records.
    pub(super) async fn forget(
        &mut self,
        from: &Forgotten,
        retention: Duration,
    ) -> Result<Forgotten, Failure> {
        match from {
            Forgotten::All => self.forget_keys((kind(Kind::Lease), ""), retention).await,
            Forgotten::Keys { kind, name } => self.forget_keys((*kind, name), retention).await,
            Forgotten::Guards { name, slot } => self.forget_guards((name, *slot), retention).await,
        }
    }

    async fn forget_keys(
        &mut self,
        (of_kind, behind): (i16, &str),
        retention: Duration,
    ) -> Result<Forgotten, Failure> {
        let mut script = self.script();
        let arguments = [
            Arg::Number(of_kind.into()),
            Arg::Bytes(behind.as_bytes()),
            Arg::Number(LOOKED_AT_MAX.into()),
            Arg::Number(micros(retention)),
        ];
        let keys = script.add(&self.store.statements().look_idle, &arguments);
        let answers = self.run(script).await?;
        let rows = answers.rows(keys);
        let mut idle = Vec::new();
        for row in rows {
            if row.is_true(1)? {
                idle.push(row.bytes(0)?);
            }
        }
        for some in idle.chunks(KEYS_MAX) {
            self.forget_idle(of_kind, some, retention).await?;
        }
        Ok(match rows.last() {
            Some(last) if rows.len() >= looked_at_max() => {
                Forgotten::Keys { kind: of_kind, name: name(last)? }
            }
            _ if of_kind == kind(Kind::Lease) => {
                Forgotten::Keys { kind: kind(Kind::Semaphore), name: String::new() }
            }
            _ => Forgotten::Guards { name: String::new(), slot: -1 },
        })
    }

    /// Forgets those of these keys that are idle under their locks too.
    async fn forget_idle(
        &mut self,
        of_kind: i16,
        names: &[&[u8]],
        retention: Duration,
    ) -> Result<(), Failure> {
        let (of_kind, retention) = (Arg::Number(of_kind.into()), Arg::Number(micros(retention)));
        let statements = self.store.statements();
        let mut script = self.in_transaction();
        let lock = |name: &&[u8]| {
            script.add(&statements.lock_idle, &[of_kind, Arg::Bytes(name), retention])
        };
        let places: Vec<usize> = names.iter().map(lock).collect();
        let answers = self.run(script).await?;
        let mut script = self.script();
        for (name, place) in names.iter().zip(places) {
            if answers.first(place).is_some() && answers.first(place + 1).is_none() {
                script.add(&statements.forget_key, &[of_kind, Arg::Bytes(name)]);
            }
        }
        self.commit(script).await?;
        Ok(())
    }

    async fn forget_guards(
        &mut self,
        (behind, slot): (&str, i32),
        retention: Duration,
    ) -> Result<Forgotten, Failure> {
        let mut script = self.script();
        let retention = Arg::Number(micros(retention));
        let many = Arg::Number(LOOKED_AT_MAX.into());
        let arguments = [Arg::Bytes(behind.as_bytes()), Arg::Number(slot.into()), many, retention];
        let guards = script.add(&self.store.statements().look_guards, &arguments);
        let answers = self.run(script).await?;
        let rows = answers.rows(guards);
        let mut idle = Vec::new();
        for row in rows {
            if row.is_true(2)? {
                idle.push([Arg::Bytes(row.bytes(0)?), Arg::Number(row.number(1)?), retention]);
            }
        }
        if !idle.is_empty() {
            let mut script = self.in_transaction();
            for guard in &idle {
                script.add(&self.store.statements().forget_guard, guard);
            }
            self.commit(script).await?;
        }
        Ok(match rows.last() {
            Some(last) if rows.len() >= looked_at_max() => {
                let slot = last.number(1)?;
                let slot = i32::try_from(slot).map_err(|_| strange("slot", slot))?;
                Forgotten::Guards { name: name(last)?, slot }
            }
            _ => Forgotten::All,
        })
    }
}

fn looked_at_max() -> usize {
    usize::try_from(LOOKED_AT_MAX).unwrap_or_default()
}

fn name(row: &Row) -> Read<String> {
    row.text(0)?.map(str::to_owned).ok_or_else(|| strange("name", "none"))
}
