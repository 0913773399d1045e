//! What the functions answer, read back.

use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row as _, Type};

use crate::backend::Refreshed;
use crate::error::Loss;
use crate::fence::{Fence, Verdict};
use crate::holder::HolderId;
use crate::spec::{Answer, Ask, Change, End, Granted, HolderView, KeyView, WaiterView};
use crate::sql::error::Failure;
use crate::sql::listing::Looked;
use crate::terms::{Limit, Note, Owner};

/// Every answer is what a function of this version says; anything else is a failure.
type Read<T> = Result<T, Failure>;

/// What `leases_ask` answers, as it packs it.
pub(super) fn answer(row: &PgRow, ask: &Ask) -> Read<Change<Answer>> {
    let bytes: Vec<u8> = get(row, 0)?;
    let (eights, []) = bytes.as_chunks::<8>() else { return Err(strange("bytes", bytes.len())) };
    let numbers: Vec<_> = eights.iter().map(|eight| i64::from_be_bytes(*eight)).collect();
    Ok(match *numbers {
        [granted] if granted > 0 => alone(Answer::Granted(ask.granted_as_asked(fence(granted)?))),
        [busy] => alone(Answer::Busy { retry_in: micros(-busy)? }),
        [code, slot, number, ends_in, bounded, ..] => {
            let answer = match code {
                1 => Answer::Granted(Granted {
                    slot: small(slot)?,
                    fence: fence(number)?,
                    ends_in: micros(ends_in)?,
                    end: if bounded == 1 { End::MaxHold } else { End::Ttl },
                }),
                2 => Answer::Waiting { position: small(slot)?, retry_in: micros(ends_in)? },
                3 => Answer::Busy { retry_in: micros(ends_in)? },
                4 => Answer::LineFull,
                code => return Err(strange("code", code)),
            };
            Change { answer, wake: holders(bytes.get(40..).unwrap_or_default())? }
        }
        _ => return Err(strange("bytes", bytes.len())),
    })
}

/// A change that concerns nobody else.
fn alone<T>(answer: T) -> Change<T> {
    Change { answer, wake: Vec::new() }
}

pub(super) fn refreshed(row: &PgRow) -> Read<Refreshed> {
    let ends_in = || number(row, "ends_in");
    Ok(match number(row, "code")? {
        1 => Refreshed::Held { ends_in: micros(ends_in()?)?, end: end(row)? },
        2 => Refreshed::Lost(loss(ends_in()?)),
        3 => Refreshed::InLine { retry_in: micros(ends_in()?)? },
        4 => Refreshed::NotInLine,
        code => return Err(strange("code", code)),
    })
}

/// What `release.sql` answers: nothing where a lease that has no line was held.
pub(super) fn released(row: &PgRow) -> Read<Change<Result<(), Loss>>> {
    let bytes: Option<Vec<u8>> = get(row, 0)?;
    let Some(bytes) = bytes else { return Ok(alone(Ok(()))) };
    let (code, woken) = bytes.split_first_chunk().ok_or_else(|| strange("bytes", bytes.len()))?;
    let code = i64::from_be_bytes(*code);
    let answer = if code < 0 { Ok(()) } else { Err(loss(code)) };
    Ok(Change { answer, wake: holders(woken)? })
}

/// Whose grants were revoked.
pub(super) fn revoked(row: &PgRow) -> Read<Vec<HolderId>> {
    holders(&get::<Vec<u8>, _>(row, "ended")?)
}

/// A name, and whether it is in use.
pub(super) fn looked(row: &PgRow) -> Read<Looked> {
    Ok(Looked { name: get(row, "name")?, used: get(row, "used")? })
}

/// Whom of this process to wake.
pub(super) fn woken(row: &PgRow) -> Read<Vec<HolderId>> {
    let bytes: Option<Vec<u8>> = get(row, "woken")?;
    holders(&bytes.unwrap_or_default())
}

/// 16 bytes each.
fn holders(bytes: &[u8]) -> Read<Vec<HolderId>> {
    let (ids, []) = bytes.as_chunks() else { return Err(strange("bytes", bytes.len())) };
    Ok(ids.iter().map(|id| HolderId::from_bytes(*id)).collect())
}

pub(super) fn holder(row: &PgRow) -> Read<HolderId> {
    let bytes: Vec<u8> = get(row, "holder")?;
    let id = bytes.try_into().map_err(|bytes: Vec<u8>| strange("bytes", bytes.len()))?;
    Ok(HolderId::from_bytes(id))
}

pub(super) fn verdict(row: &PgRow) -> Read<Verdict> {
    let greater: Option<i64> = get(row, 0)?;
    greater.map_or(Ok(Verdict::Admitted), |greater| Ok(Verdict::Stale(fence(greater)?)))
}

pub(super) fn guard(row: &PgRow) -> Read<Fence> {
    fence(get(row, "greatest")?)
}

pub(super) fn view(rows: &[PgRow]) -> Read<KeyView> {
    let mut view = KeyView::default();
    for row in rows {
        let (owner, note) = (owner(get(row, "owner")?)?, note(get(row, "note")?)?);
        let since = micros(get(row, "since")?)?;
        let slot = u32::try_from(get::<i32, _>(row, "slot")?).map_err(|_| strange("slot", -1))?;
        if get(row, "held")? {
            view.holders.push(HolderView {
                slot,
                fence: fence(get(row, "fence")?)?,
                owner,
                note,
                held_for: since,
                ends_in: micros(get(row, "ends_in")?)?,
            });
        } else {
            let limit = Limit::new(slot).map_err(|_| strange("limit", slot))?;
            view.waiters.push(WaiterView { limit, owner, note, waited_for: since });
        }
    }
    Ok(view)
}

fn owner(owner: Option<String>) -> Read<Option<Owner>> {
    owner.map(|owner| Owner::restored(&owner).map_err(|_| strange("owner", owner))).transpose()
}

fn note(note: Option<String>) -> Read<Option<Note>> {
    note.map(|note| Note::new(&note).map_err(|_| strange("note", note))).transpose()
}

/// A column of whatever width.
fn number(row: &PgRow, column: &str) -> Read<i64> {
    if let Ok(number) = row.try_get::<i64, _>(column) {
        return Ok(number);
    }
    match row.try_get::<i32, _>(column) {
        Ok(number) => Ok(i64::from(number)),
        Err(_) => get::<i16, _>(row, column).map(i64::from),
    }
}

pub(super) fn get<'r, T, I>(row: &'r PgRow, column: I) -> Read<T>
where
    T: Decode<'r, Postgres> + Type<Postgres>,
    I: sqlx::ColumnIndex<PgRow>,
{
    row.try_get(column).map_err(|error| Failure::Answer(error.to_string()))
}

fn end(row: &PgRow) -> Read<End> {
    Ok(if get(row, "bounded")? { End::MaxHold } else { End::Ttl })
}

fn small(number: i64) -> Read<u32> {
    u32::try_from(number).map_err(|_| strange("number", number))
}

fn micros(number: i64) -> Read<Duration> {
    // A clock that was set back makes a past of the future.
    Ok(Duration::from_micros(u64::try_from(number).unwrap_or_default()))
}

fn fence(number: i64) -> Read<Fence> {
    let fence = u64::try_from(number).ok().and_then(|fence| Fence::new(fence).ok());
    fence.ok_or_else(|| strange("fence", number))
}

/// As `leases_departed` numbers them.
fn loss(code: i64) -> Loss {
    match code {
        1 => Loss::Superseded,
        2 => Loss::Revoked,
        _ => Loss::Expired,
    }
}

fn strange(what: &str, value: impl std::fmt::Debug) -> Failure {
    Failure::Answer(format!("a {what} of {value:?}"))
}
