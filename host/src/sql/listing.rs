//! Which keys are in use: the rows, in order of kinds and names.

use super::error::Failure;
use super::store::kind;
use crate::listing::{Cursor, Page};
use crate::name::{Key, Kind, NAME_BYTES_MAX, Name};
use crate::pattern::NamePattern;

/// How many keys one step looks at.
pub(super) const LOOKED_AT: i32 = 1000;

/// Nothing that a name may go on with comes behind it.
const LAST: char = '\u{10FFFF}';

/// The keys from one on.
#[derive(Debug, Clone)]
pub(super) struct Range {
    of: Kind,
    /// The first and the last name.
    pub(super) first: String,
    pub(super) last: String,
}

/// A name in a range, and whether it is in use.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) name: String,
    pub(super) used: bool,
}

impl Range {
    /// All of these names; from a page's beginning on.
    pub(super) fn of(names: &NamePattern, after: Option<&Cursor>) -> Result<Self, Failure> {
        let prefix = names.prefix();
        let (of, first) = match after {
            None => (Kind::Lease, prefix),
            Some(cursor) => read(cursor)?,
        };
        let rest = std::iter::repeat_n(LAST, NAME_BYTES_MAX / LAST.len_utf8());
        let last = prefix.chars().chain(rest).collect();
        Ok(Range { of, first: first.to_owned(), last })
    }

    /// As the tables have it.
    pub(super) fn kind(&self) -> i16 {
        kind(self.of)
    }

    /// The page of what was looked at in this range.
    pub(super) fn page(self, names: &NamePattern, looked: Vec<Looked>) -> Result<Page, Failure> {
        let is_full = i32::try_from(looked.len()).is_ok_and(|count| count >= LOOKED_AT);
        let next = match looked.last() {
            // From the last one on, which then stands twice: behind it is another name, or none.
            Some(last) if is_full => Some(write(self.of, &last.name)),
            _ if self.of == Kind::Lease => Some(write(Kind::Semaphore, names.prefix())),
            _ => None,
        };
        let used = looked.into_iter().filter(|looked| looked.used);
        let key = |looked: Looked| {
            let name = Name::new(&looked.name);
            let name = name.map_err(|_| Failure::Answer(format!("a name of {:?}", looked.name)))?;
            Ok(Key { kind: self.of, name })
        };
        Ok(Page { keys: used.map(key).collect::<Result<_, Failure>>()?, next })
    }
}

fn write(kind: Kind, name: &str) -> Cursor {
    let kind = match kind {
        Kind::Lease => "lease",
        Kind::Semaphore => "semaphore",
    };
    Cursor::new(format!("{kind} {name}"))
}

fn read(cursor: &Cursor) -> Result<(Kind, &str), Failure> {
    match cursor.as_str().split_once(' ') {
        Some(("lease", name)) => Ok((Kind::Lease, name)),
        Some(("semaphore", name)) => Ok((Kind::Semaphore, name)),
        _ => Err(Failure::Answer(format!("a cursor of {:?}", cursor.as_str()))),
    }
}
