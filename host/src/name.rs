//! What is contended for.

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::invalid::{Argument, Invalid};

/// The most bytes in a name.
pub const NAME_BYTES_MAX: usize = 512;

/// A name: 1 to 512 bytes of UTF-8 without control characters, compared byte for byte.
///
/// ```
/// use leases::Name;
///
/// assert!(Name::new("import:42").is_ok());
/// assert_ne!(Name::new("a")?, Name::new("A")?);
/// assert_eq!(Name::new("").unwrap_err().to_string(), "invalid name: 1 to 512 bytes, not 0");
/// # Ok::<(), leases::Invalid>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// Which primitive a name is used for. A lease and a semaphore of one name never meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// One holder at a time.
    Lease,
    /// As many holders at a time as each ask's limit says.
    Semaphore,
}

/// A kind and a name: what a grant is a grant of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The primitive.
    pub kind: Kind,
    /// The name.
    pub name: Name,
}

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(name: impl AsRef<str>) -> Result<Self, Invalid> {
        let name = name.as_ref();
        check_text(Argument::Name, name, 1, NAME_BYTES_MAX)?;
        Ok(Name(name.into()))
    }

    /// A name, which was checked as one, behind a prefix; the bound that it then has is told of the
    /// name alone.
    pub(crate) fn behind(prefix: &str, name: &str) -> Result<Self, Invalid> {
        check_bytes(Argument::Name, name, 1, NAME_BYTES_MAX.saturating_sub(prefix.len()))?;
        Ok(Name(if prefix.is_empty() { name.into() } else { joined([prefix, name]) }))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

// By hand, here and below: one write of the bytes. A hash is taken for every operation, and what
// else a derived one writes would only tell apart the two kinds of one name.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.0.as_bytes());
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Kind {
    /// The word for it: `lease`, `semaphore`.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Lease => "lease",
            Kind::Semaphore => "semaphore",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.name)
    }
}

/// Texts in a row, of which no more is allocated than the whole.
pub(crate) fn joined<const N: usize>(texts: [&str; N]) -> Arc<str> {
    thread_local! {
        static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
    }
    JOINED.with_borrow_mut(|joined| {
        joined.clear();
        joined.extend(texts);
        joined.as_str().into()
    })
}

/// The rule of every text that a caller gives: bounded, and without control characters.
pub(crate) fn check_text(
    argument: Argument,
    text: &str,
    bytes_min: usize,
    bytes_max: usize,
) -> Result<(), Invalid> {
    check_bytes(argument, text, bytes_min, bytes_max)?;
    match text.char_indices().find(|(_, c)| c.is_control()) {
        None => Ok(()),
        Some((at, c)) => {
            let bound = format!("no control characters, but {:?} at byte {at}", c);
            Err(Invalid::new(argument, bound))
        }
    }
}

/// The bound alone, of a text that was checked already and now has another.
pub(crate) fn check_bytes(
    argument: Argument,
    text: &str,
    bytes_min: usize,
    bytes_max: usize,
) -> Result<(), Invalid> {
    if (bytes_min..=bytes_max).contains(&text.len()) {
        return Ok(());
    }
    let bound = format!("{bytes_min} to {bytes_max} bytes, not {}", text.len());
    Err(Invalid::new(argument, bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_1_to_512_bytes() {
        assert!(Name::new("").is_err());
        assert!(Name::new("x".repeat(512)).is_ok());
        let message = Name::new("x".repeat(513)).unwrap_err().to_string();
        assert_eq!(message, "invalid name: 1 to 512 bytes, not 513");
        assert!(Name::new("é".repeat(256)).is_ok());
        assert!(Name::new("é".repeat(257)).is_err());
    }

    #[test]
    fn a_name_has_no_control_characters() {
        for bad in ["\0", "a\nb", "\u{7f}", "\u{85}", "tab\t"] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
        let message = Name::new("a\nb").unwrap_err().to_string();
        assert_eq!(message, r"invalid name: no control characters, but '\n' at byte 1");
    }

    #[test]
    fn names_are_compared_byte_for_byte() {
        let distinct = ["a", "A", "a ", "{a}", "}{", "e\u{301}", "é"];
        let names: std::collections::HashSet<_> =
            distinct.iter().map(|name| Name::new(name).unwrap()).collect();
        assert_eq!(names.len(), distinct.len());
    }
}
