//! What the scripts reply, read back.

use std::time::Duration;

use redis::Value;

use super::error::Failure;
use crate::backend::Refreshed;
use crate::error::Loss;
use crate::fence::{Fence, Verdict};
use crate::holder::HolderId;
use crate::spec::{Answer, Ask, End, Granted, HolderView, KeyView, WaiterView};
use crate::terms::{Limit, Note, Owner};

/// Stands before a note, which may be empty; nothing stands for none.
pub(super) const NOTE_FOLLOWS: char = '+';

/// Every reply is what a script of this version says; anything else is a failure.
type Read<T> = Result<T, Failure>;

pub(super) fn answer(reply: &Value, ask: &Ask) -> Read<Answer> {
    if let Value::Int(fence) = reply {
        return Ok(Answer::Granted(ask.granted_as_asked(as_fence(*fence)?)));
    }
    Ok(match *numbers(reply)?.as_slice() {
        [1, slot, fence, ends_in, bounded] => Answer::Granted(Granted {
            slot: small(slot)?,
            fence: as_fence(fence)?,
            ends_in: micros(ends_in)?,
            end: end(bounded),
        }),
        [2, position, retry_in] => {
            Answer::Waiting { position: small(position)?, retry_in: micros(retry_in)? }
        }
        [3, retry_in] => Answer::Busy { retry_in: micros(retry_in)? },
        [4] => Answer::LineFull,
        _ => return Err(Failure::reply(reply)),
    })
}

pub(super) fn refreshed(reply: &Value) -> Read<Vec<Refreshed>> {
    if let Value::Int(number) = reply {
        // A lease's hold alone, as `extend_lease.lua` says it.
        let (ends_in, bounded) = (number.div_euclid(2), number.rem_euclid(2));
        return Ok(vec![Refreshed::Held { ends_in: micros(ends_in)?, end: end(bounded) }]);
    }
    let numbers = numbers(reply)?;
    let (threes, []) = numbers.as_chunks::<3>() else { return Err(Failure::reply(reply)) };
    let one = |three: &[i64; 3]| {
        Ok(match *three {
            [1, ends_in, bounded] => {
                Refreshed::Held { ends_in: micros(ends_in)?, end: end(bounded) }
            }
            [2, code, _] => Refreshed::Lost(loss(code)),
            [3, retry_in, _] => Refreshed::InLine { retry_in: micros(retry_in)? },
            [4, ..] => Refreshed::NotInLine,
            [5, ..] => Refreshed::Unconfirmed,
            _ => return Err(Failure::reply(reply)),
        })
    };
    threes.iter().map(one).collect()
}

pub(super) fn released(reply: &Value) -> Read<Result<(), Loss>> {
    Ok(match number(reply)? {
        0 => Ok(()),
        code => Err(loss(code)),
    })
}

/// Whose holds were revoked.
pub(super) fn revoked(reply: &Value) -> Read<Vec<HolderId>> {
    let Value::BulkString(bytes) = reply else { return Err(Failure::reply(reply)) };
    let (ids, []) = bytes.as_chunks() else { return Err(Failure::reply(reply)) };
    Ok(ids.iter().map(|id| HolderId::from_bytes(*id)).collect())
}

pub(super) fn verdict(reply: &Value) -> Read<Verdict> {
    Ok(match number(reply)? {
        0 => Verdict::Admitted,
        greater => Verdict::Stale(as_fence(greater)?),
    })
}

/// A guard as it is stored, in decimal.
pub(super) fn guard(reply: &Value) -> Read<Option<Fence>> {
    if *reply == Value::Nil {
        return Ok(None);
    }
    let fence = text(reply)?.parse().map_err(|_| Failure::reply(reply))?;
    as_fence(fence).map(Some)
}

pub(super) fn view(reply: &Value) -> Read<KeyView> {
    let Value::Array(lists) = reply else { return Err(Failure::reply(reply)) };
    let [Value::Array(holders), Value::Array(waiters)] = lists.as_slice() else {
        return Err(Failure::reply(reply));
    };
    let (holders, []) = holders.as_chunks::<6>() else { return Err(Failure::reply(reply)) };
    let (waiters, []) = waiters.as_chunks::<4>() else { return Err(Failure::reply(reply)) };
    let mut holders = holders.iter().map(holder_view).collect::<Read<Vec<_>>>()?;
    holders.sort_unstable_by_key(|holder| holder.slot); // They came by their ends.
    Ok(KeyView { holders, waiters: waiters.iter().map(waiter_view).collect::<Read<_>>()? })
}

fn holder_view([slot, fence, held_for, ends_in, owner, note]: &[Value; 6]) -> Read<HolderView> {
    Ok(HolderView {
        slot: small(number(slot)?)?,
        fence: as_fence(number(fence)?)?,
        owner: as_owner(owner)?,
        note: as_note(note)?,
        held_for: micros(number(held_for)?)?,
        ends_in: micros(number(ends_in)?)?,
    })
}

fn waiter_view([limit, waited_for, owner, note]: &[Value; 4]) -> Read<WaiterView> {
    let under = Limit::new(small(number(limit)?)?).map_err(|_| Failure::reply(limit))?;
    Ok(WaiterView {
        limit: under,
        owner: as_owner(owner)?,
        note: as_note(note)?,
        waited_for: micros(number(waited_for)?)?,
    })
}

fn as_owner(value: &Value) -> Read<Option<Owner>> {
    let owner = text(value)?;
    if owner.is_empty() {
        return Ok(None);
    }
    Owner::restored(owner).map(Some).map_err(|_| Failure::reply(value))
}

fn as_note(value: &Value) -> Read<Option<Note>> {
    let note = text(value)?.strip_prefix(NOTE_FOLLOWS);
    note.map(|note| Note::new(note).map_err(|_| Failure::reply(value))).transpose()
}

fn numbers(reply: &Value) -> Read<Vec<i64>> {
    let Value::Array(values) = reply else { return Err(Failure::reply(reply)) };
    values.iter().map(number).collect()
}

fn number(value: &Value) -> Read<i64> {
    match value {
        Value::Int(number) => Ok(*number),
        other => Err(Failure::reply(other)),
    }
}

fn text(value: &Value) -> Read<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).map_err(|_| Failure::reply(value)),
        other => Err(Failure::reply(other)),
    }
}

fn small(number: i64) -> Read<u32> {
    u32::try_from(number).map_err(|_| Failure::reply(&Value::Int(number)))
}

fn micros(number: i64) -> Read<Duration> {
    let micros = u64::try_from(number).map_err(|_| Failure::reply(&Value::Int(number)))?;
    Ok(Duration::from_micros(micros))
}

fn as_fence(number: i64) -> Read<Fence> {
    let fence = u64::try_from(number).ok().and_then(|fence| Fence::new(fence).ok());
    fence.ok_or_else(|| Failure::reply(&Value::Int(number)))
}

fn end(bounded: i64) -> End {
    if bounded == 1 { End::MaxHold } else { End::Ttl }
}

/// As `departed.lua` numbers them.
fn loss(code: i64) -> Loss {
    match code {
        1 => Loss::Superseded,
        2 => Loss::Revoked,
        _ => Loss::Expired,
    }
}
