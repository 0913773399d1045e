//! Which keys are in use.

use crate::name::Key;
use crate::spec::KeyView;

/// Some of the keys that somebody may hold or wait for.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The keys, in no order. In two pages of one listing a key may stand twice.
    pub keys: Vec<Key>,
    /// Where the next page begins; none after the last one.
    pub next: Option<Cursor>,
}

/// Where a page begins, as only the backend that made it reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(Box<str>);

/// A key in use: who holds it and who waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The key.
    pub key: Key,
    /// At least one holds it or waits for it.
    pub view: KeyView,
}

impl Cursor {
    /// A cursor that reads so.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Cursor(text.into())
    }

    /// As it was made.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
