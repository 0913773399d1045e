//! Extending holds of keys without a line: nothing of them but the ends of these is to be changed.

use std::collections::{BTreeMap, HashMap};

use super::link::{Dialect, Link};
use super::load::name;
use super::refresh::{OfKey, Refreshes, unknown};
use super::row::{Answers, Read};
use super::script::Arg;
use crate::backend::{Refresh, Refreshed};
use crate::clock::Timestamp;
use crate::holder::HolderId;
use crate::name::Kind;
use crate::spec::End;
use crate::sql::error::Failure;
use crate::sql::store::kind;

/// In the order in which their rows are locked.
const KINDS: [Kind; 2] = [Kind::Lease, Kind::Semaphore];

/// What was found of keys that are locked.
#[derive(Debug)]
struct Found<'a> {
    now: Timestamp,
    plain: HashMap<(Kind, &'a [u8]), bool>,
    held: HashMap<(Kind, &'a [u8], HolderId), Held>,
}

/// A hold.
#[derive(Debug, Clone, Copy)]
struct Held {
    slot: i64,
    ends_at: Timestamp,
    not_after: Option<Timestamp>,
}

/// The places of the answers about a kind.
struct Places {
    kind: Kind,
    plain: usize,
    held: usize,
}

/// Names by the end that their holds get, unless they have one after which they do not last.
type Ends<'a> = BTreeMap<(Timestamp, Kind, i64), Vec<&'a [u8]>>;

impl<D: Dialect> Link<'_, D> {
    /// Extends holds of these keys, in the order of their names; answers the keys of which more is to
    /// be told or done.
    pub(super) async fn extend_plain<'b>(
        &mut self,
        keys: Vec<OfKey<'b>>,
        answers: &mut Refreshes,
    ) -> Result<Vec<OfKey<'b>>, Failure> {
        let (read, time, places) = self.lock_plain(&keys).await?;
        let found = Found::read(&read, time, &places)?;
        let mut ends = Ends::new();
        let mut rest = Vec::new();
        for of in keys {
            match found.plain.get(&(of.key.kind, name(of.key))) {
                None => {
                    for (place, refresh) in &of.asked {
                        answers.answer(*place, unknown(refresh.extend));
                    }
                }
                Some(true) if found.extend(&of, answers, &mut ends).is_some() => {}
                Some(_) => rest.push(of),
            }
        }
        let mut script = self.script();
        for ((end, of_kind, slot), names) in &ends {
            let end = i64::try_from(end.as_micros()).unwrap_or(i64::MAX);
            let of_kind = Arg::Number(kind(*of_kind).into());
            let arguments = [Arg::Number(end), of_kind, Arg::Number(*slot), Arg::List(names)];
            script.add(&self.store.statements().extend_holds, &arguments);
        }
        self.go_on(script).await?;
        Ok(rest)
    }

    /// Locks these keys, and reads the holds that are asked about.
    async fn lock_plain(
        &mut self,
        keys: &[OfKey<'_>],
    ) -> Result<(Answers, usize, Vec<Places>), Failure> {
        let of_kind = |kind| keys.iter().filter(move |of| of.key.kind == kind);
        let statements = self.store.statements();
        let mut script = self.in_transaction();
        let mut places = Vec::new();
        for each in KINDS {
            let names: Vec<_> = of_kind(each).map(|of| name(of.key)).collect();
            if !names.is_empty() {
                let arguments = [Arg::Number(kind(each).into()), Arg::List(&names)];
                let plain = script.add(&statements.lock_plain, &arguments);
                places.push(Places { kind: each, plain, held: 0 });
            }
        }
        let time = script.add(&statements.time, &[]);
        for Places { kind: each, held, .. } in &mut places {
            let names: Vec<_> = of_kind(*each).map(|of| name(of.key)).collect();
            let asked = of_kind(*each).flat_map(|of| &of.asked);
            let holders: Vec<_> = asked.map(|(_, one)| one.holder.as_bytes().as_slice()).collect();
            let of_kind = Arg::Number(kind(*each).into());
            let arguments = [of_kind, Arg::List(&names), Arg::List(&holders)];
            *held = script.add(&statements.look_holds, &arguments);
        }
        Ok((self.run(script).await?, time, places))
    }
}

impl<'a> Found<'a> {
    fn read(answers: &'a Answers, time: usize, places: &[Places]) -> Read<Self> {
        let now = answers.one(time)?.time(0)?;
        let mut found = Found { now, plain: HashMap::new(), held: HashMap::new() };
        for places in places {
            for row in answers.rows(places.plain) {
                found.plain.insert((places.kind, row.bytes(0)?), row.is_true(1)?);
            }
            for row in answers.rows(places.held) {
                let (slot, ends_at) = (row.number(1)?, row.time(3)?);
                let held = Held { slot, ends_at, not_after: row.maybe_time(4)? };
                found.held.insert((places.kind, row.bytes(0)?, row.holder(2)?), held);
            }
        }
        Ok(found)
    }

    /// Extends all holds that are asked for of a key; none, where one of them is not held: it takes
    /// the rules to tell why.
    fn extend<'b>(
        &self,
        of: &OfKey<'b>,
        answers: &mut Refreshes,
        ends: &mut Ends<'b>,
    ) -> Option<()> {
        let held = |(place, refresh): &(usize, &'b Refresh)| {
            let held = self.held.get(&(of.key.kind, name(of.key), refresh.holder))?;
            (held.ends_at > self.now).then_some((*place, *refresh, held))
        };
        let all: Vec<_> = of.asked.iter().map(held).collect::<Option<_>>()?;
        let mut ends_of_slots = BTreeMap::new();
        for (place, refresh, held) in all {
            let end = self.now.after(refresh.extend.lasts());
            answers.answer(place, held.extended(end, self.now));
            ends_of_slots.insert(held.slot, end);
        }
        for (slot, end) in ends_of_slots {
            ends.entry((end, of.key.kind, slot)).or_default().push(name(of.key));
        }
        Some(())
    }
}

impl Held {
    fn extended(&self, end: Timestamp, now: Timestamp) -> Refreshed {
        match self.not_after.filter(|not_after| *not_after <= end) {
            Some(end) => Refreshed::Held { ends_in: end.since(now), end: End::MaxHold },
            None => Refreshed::Held { ends_in: end.since(now), end: End::Ttl },
        }
    }
}
