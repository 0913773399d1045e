//! Arguments that break a bound.

use std::borrow::Cow;
use std::fmt;

/// An argument that breaks a bound; its one line of text names the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    argument: Argument,
    bound: Cow<'static, str>,
}

/// Which argument broke its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Argument {
    /// A name.
    Name,
    /// A time to live.
    Ttl,
    /// The longest time of a hold.
    MaxHold,
    /// A semaphore's limit.
    Limit,
    /// A fence.
    Fence,
    /// A slot of a semaphore.
    Slot,
    /// An owner.
    Owner,
    /// A note.
    Note,
    /// A plugin's identity.
    Plugin,
    /// A pattern of names.
    Pattern,
    /// What stands before a plugin's names.
    Prefix,
    /// The text of a detached hold.
    HandOver,
    /// The URL of a backend.
    Backend,
}

impl Invalid {
    pub(crate) fn new(argument: Argument, bound: impl Into<Cow<'static, str>>) -> Self {
        Invalid { argument, bound: bound.into() }
    }

    /// The bound, as its one line of text.
    pub(crate) fn bound(&self) -> &str {
        &self.bound
    }

    /// Which argument it was.
    pub fn argument(&self) -> Argument {
        self.argument
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid {}: {}", self.argument, self.bound)
    }
}

impl std::error::Error for Invalid {}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Argument::Name => "name",
            Argument::Ttl => "ttl",
            Argument::MaxHold => "max-hold",
            Argument::Limit => "limit",
            Argument::Fence => "fence",
            Argument::Slot => "slot",
            Argument::Owner => "owner",
            Argument::Note => "note",
            Argument::Plugin => "plugin",
            Argument::Pattern => "pattern",
            Argument::Prefix => "prefix",
            Argument::HandOver => "hand-over",
            Argument::Backend => "backend",
        })
    }
}
