//! What is answered, read back.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::fence::Fence;
use crate::holder::HolderId;
use crate::sql::error::Failure;
use crate::terms::{Limit, Note, Owner};

/// What is read is what this version wrote; anything else is a failure.
pub(super) type Read<T> = Result<T, Failure>;

/// One row of an answer.
#[derive(Debug, Clone)]
pub(in crate::sql) struct Row(Vec<Cell>);

/// One value of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sql) enum Cell {
    None,
    #[cfg(feature = "sqlite")]
    Number(i64),
    /// Where a database answers in text, a number's digits too.
    Bytes(Vec<u8>),
}

/// The answers of a script, by the places of its statements.
#[derive(Debug, Default)]
pub(super) struct Answers(Vec<Vec<Row>>);

impl Answers {
    pub(super) fn extend(&mut self, more: Vec<Vec<Row>>) {
        self.0.extend(more);
    }

    /// The rows that the statement at this place answered.
    pub(super) fn rows(&self, place: usize) -> &[Row] {
        self.0.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first of them, if there is one.
    pub(super) fn first(&self, place: usize) -> Option<&Row> {
        self.rows(place).first()
    }

    /// The first of them, where there always is one.
    pub(super) fn one(&self, place: usize) -> Read<&Row> {
        self.first(place).ok_or_else(|| Failure::Answer("no row".to_owned()))
    }
}

impl Row {
    pub(in crate::sql) fn new(cells: Vec<Cell>) -> Self {
        Row(cells)
    }

    pub(super) fn maybe_number(&self, column: usize) -> Read<Option<i64>> {
        match self.0.get(column) {
            Some(Cell::None) => Ok(None),
            #[cfg(feature = "sqlite")]
            Some(Cell::Number(number)) => Ok(Some(*number)),
            Some(Cell::Bytes(digits)) => {
                let number = str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                number.map(Some).ok_or_else(|| strange("number", digits))
            }
            None => Err(strange("column", column)),
        }
    }

    pub(super) fn number(&self, column: usize) -> Read<i64> {
        self.maybe_number(column)?.ok_or_else(|| strange("number", "none"))
    }

    pub(super) fn is_true(&self, column: usize) -> Read<bool> {
        Ok(self.maybe_number(column)?.is_some_and(|number| number != 0))
    }

    pub(super) fn maybe_bytes(&self, column: usize) -> Read<Option<&[u8]>> {
        match self.0.get(column) {
            Some(Cell::None) => Ok(None),
            Some(Cell::Bytes(bytes)) => Ok(Some(bytes)),
            cell => Err(strange("value", cell)),
        }
    }

    pub(super) fn bytes(&self, column: usize) -> Read<&[u8]> {
        self.maybe_bytes(column)?.ok_or_else(|| strange("value", "none"))
    }

    pub(super) fn maybe_small(&self, column: usize) -> Read<Option<u32>> {
        let small = |number| u32::try_from(number).map_err(|_| strange("number", number));
        self.maybe_number(column)?.map(small).transpose()
    }

    pub(super) fn small(&self, column: usize) -> Read<u32> {
        self.maybe_small(column)?.ok_or_else(|| strange("number", "none"))
    }

    pub(super) fn time(&self, column: usize) -> Read<Timestamp> {
        Ok(Timestamp::from_micros(micros(self.number(column)?)))
    }

    pub(super) fn maybe_time(&self, column: usize) -> Read<Option<Timestamp>> {
        Ok(self.maybe_number(column)?.map(|time| Timestamp::from_micros(micros(time))))
    }

    pub(super) fn length(&self, column: usize) -> Read<Duration> {
        Ok(Duration::from_micros(micros(self.number(column)?)))
    }

    pub(super) fn fence(&self, column: usize) -> Read<Fence> {
        let number = self.number(column)?;
        let fence = u64::try_from(number).ok().and_then(|fence| Fence::new(fence).ok());
        fence.ok_or_else(|| strange("fence", number))
    }

    pub(super) fn maybe_holder(&self, column: usize) -> Read<Option<HolderId>> {
        let Some(bytes) = self.maybe_bytes(column)? else { return Ok(None) };
        let id = bytes.try_into().map_err(|_| strange("holder of bytes", bytes.len()))?;
        Ok(Some(HolderId::from_bytes(id)))
    }

    pub(super) fn holder(&self, column: usize) -> Read<HolderId> {
        self.maybe_holder(column)?.ok_or_else(|| strange("holder", "none"))
    }

    pub(super) fn owner(&self, column: usize) -> Read<Option<Owner>> {
        let owner = |text: &str| Owner::restored(text).ok();
        self.text(column)?.map(|text| owner(text).ok_or_else(|| strange("owner", text))).transpose()
    }

    pub(super) fn note(&self, column: usize) -> Read<Option<Note>> {
        let note = |text: &str| Note::new(text).ok();
        self.text(column)?.map(|text| note(text).ok_or_else(|| strange("note", text))).transpose()
    }

    pub(super) fn limit(&self, column: usize) -> Read<Limit> {
        let limit = self.small(column)?;
        Limit::new(limit).map_err(|_| strange("limit", limit))
    }

    pub(super) fn text(&self, column: usize) -> Read<Option<&str>> {
        let text = |bytes| str::from_utf8(bytes).map_err(|_| strange("text", bytes));
        self.maybe_bytes(column)?.map(text).transpose()
    }
}

/// A clock that was set back makes a past of the future.
fn micros(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

pub(super) fn strange(what: &str, value: impl std::fmt::Debug) -> Failure {
    Failure::Answer(format!("a {what} of {value:?}"))
}
