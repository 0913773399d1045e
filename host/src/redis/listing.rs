//! Which keys are in use: the records that `SCAN` finds, node by node.

use std::collections::BTreeMap;
use std::str::FromStr as _;
use std::sync::Arc;

use futures_util::future::join_all;
use redis::Value;

use super::connection::{Link, Request};
use super::error::Failure;
use super::keys::Keys;
use crate::error::BackendError;
use crate::listing::{Cursor, Page};
use crate::name::{Key, Kind};
use crate::pattern::NamePattern;

/// How many of a server's keys one step looks at.
const LOOKED_AT: usize = 1000;

/// How many records are read at once.
const AT_ONCE_MAX: usize = 64;

/// What stands in a record before a semaphore's slots, and all of it at most.
const BEFORE_SLOTS: usize = 17;
const RECORD_MAX: usize = BEFORE_SLOTS + 125;

/// Where a page begins: with which node, by the first slot that it has, and where on it.
#[derive(Debug, Clone, Copy)]
struct Place {
    slot: u16,
    scan: u64,
}

/// One page.
pub(super) async fn page(
    link: &Arc<Link>,
    keys: &Keys,
    names: &NamePattern,
    after: Option<&Cursor>,
) -> Result<Page, BackendError> {
    let place = match after {
        None => Place { slot: 0, scan: 0 },
        Some(cursor) => Place::read(cursor)?,
    };
    let mut scan = redis::cmd("SCAN");
    scan.arg(place.scan).arg("MATCH").arg(keys.records_like(names.prefix()));
    scan.arg("COUNT").arg(LOOKED_AT);
    let (next, records) = scanned(link.send(&Request::to_node_of(place.slot, scan)).await?)?;
    let next = match next {
        0 => next_node(link, place.slot).await?.map(|slot| Place { slot, scan: 0 }),
        scan => Some(Place { scan, ..place }),
    };
    let found = records.iter().filter_map(|record| keys.key_of(record));
    let found: Vec<Key> = found.filter(|key| names.matches(key.name.as_str())).collect();
    Ok(Page { keys: in_use(link, keys, found).await?, next: next.map(Place::write) })
}

impl Place {
    fn read(cursor: &Cursor) -> Result<Self, Failure> {
        let strange = || Failure::Reply(format!("a cursor of {:?}", cursor.as_str()));
        let (slot, scan) = cursor.as_str().split_once(' ').ok_or_else(strange)?;
        let slot = u16::from_str(slot).map_err(|_| strange())?;
        Ok(Place { slot, scan: u64::from_str(scan).map_err(|_| strange())? })
    }

    fn write(self) -> Cursor {
        Cursor::new(format!("{} {}", self.slot, self.scan))
    }
}

/// A server that says where to go on, and which keys it has found. Those that are no text are not
/// ours.
fn scanned(reply: Value) -> Result<(u64, Vec<String>), Failure> {
    let read = redis::from_redis_value::<(u64, Vec<Vec<u8>>)>(reply);
    let (next, found) = read.map_err(|error| Failure::Reply(error.to_string()))?;
    Ok((next, found.into_iter().filter_map(|key| String::from_utf8(key).ok()).collect()))
}

/// The first slot of the node that is looked at after the one that has this slot; none at the end,
/// and where there is one node.
async fn next_node(link: &Arc<Link>, slot: u16) -> Result<Option<u16>, Failure> {
    if !link.source().is_cluster() {
        return Ok(None);
    }
    let mut slots = redis::cmd("CLUSTER");
    slots.arg("SLOTS");
    let reply = link.send(&Request::to_node_of(slot, slots)).await?;
    let Value::Array(ranges) = &reply else { return Err(Failure::reply(&reply)) };
    let mut first_slots: BTreeMap<String, u16> = BTreeMap::new();
    for range in ranges {
        let Value::Array(range) = range else { return Err(Failure::reply(&reply)) };
        let [Value::Int(first), _, master, ..] = range.as_slice() else {
            return Err(Failure::reply(&reply));
        };
        let first = u16::try_from(*first).map_err(|_| Failure::reply(&reply))?;
        let known = first_slots.entry(format!("{master:?}")).or_insert(first);
        *known = first.min(*known);
    }
    Ok(first_slots.into_values().filter(|first| *first > slot).min())
}

/// Those of these keys that somebody held or waited for when their records were last written.
async fn in_use(link: &Arc<Link>, keys: &Keys, found: Vec<Key>) -> Result<Vec<Key>, Failure> {
    let mut used = Vec::new();
    for some in found.chunks(AT_ONCE_MAX) {
        let records = join_all(some.iter().map(async |key| {
            let mut read = redis::cmd("GETRANGE");
            read.arg(keys.record(key)).arg(0).arg(RECORD_MAX);
            link.send(&Request::command(read)).await
        }))
        .await;
        for (key, record) in some.iter().zip(records) {
            match record? {
                Value::BulkString(record) if is_used(key.kind, &record) => used.push(key.clone()),
                Value::BulkString(_) => {}
                other => return Err(Failure::reply(&other)),
            }
        }
    }
    Ok(used)
}

/// As `key.lua` writes it. One of another layout counts as used: who looks at it is told so.
fn is_used(kind: Kind, record: &[u8]) -> bool {
    let Some((mark, rest)) = record.split_first() else { return false };
    let is_held = match kind {
        Kind::Lease => mark % 2 == 1,
        Kind::Semaphore => rest.iter().skip(BEFORE_SLOTS - 1).any(|slots| *slots != 0),
    };
    is_held || mark % 4 >= 2 || !(16..20).contains(mark)
}
