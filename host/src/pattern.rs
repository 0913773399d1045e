//! Which names are meant.

use std::fmt;

use crate::invalid::{Argument, Invalid};
use crate::name::{NAME_BYTES_MAX, check_text};

/// Some names: one name, or all that start with what stands before a final `*`.
///
/// ```
/// use leases::NamePattern;
///
/// let imports = NamePattern::new("import:*")?;
/// assert!(imports.matches("import:42"));
/// assert!(!imports.matches("imports"));
/// # Ok::<(), leases::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    text: Box<str>,
    is_prefix: bool,
}

impl NamePattern {
    /// Checks a pattern. A `*` stands only at its end.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(pattern: impl AsRef<str>) -> Result<Self, Invalid> {
        let pattern = pattern.as_ref();
        check_text(Argument::Pattern, pattern, 1, NAME_BYTES_MAX)?;
        let (text, is_prefix) = match pattern.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (pattern, false),
        };
        if text.contains('*') {
            let bound = format!("a * only at the end, not {pattern:?}");
            return Err(Invalid::new(Argument::Pattern, bound));
        }
        Ok(NamePattern { text: text.into(), is_prefix })
    }

    /// Whether a name is one of these.
    pub fn matches(&self, name: &str) -> bool {
        if self.is_prefix { name.starts_with(&*self.text) } else { *name == *self.text }
    }

    /// Whether some name is one of these and of the others.
    pub(crate) fn meets(&self, other: &NamePattern) -> bool {
        match (self.is_prefix, other.is_prefix) {
            (true, true) => {
                self.text.starts_with(&*other.text) || other.text.starts_with(&*self.text)
            }
            (_, false) => self.matches(&other.text),
            (false, true) => other.matches(&self.text),
        }
    }

    /// The name, where it is one.
    pub fn only_name(&self) -> Option<&str> {
        (!self.is_prefix).then_some(&*self.text)
    }

    /// What all of these names begin with: all of it, where it is one name.
    pub fn prefix(&self) -> &str {
        &self.text
    }

    /// Whether they are more than one.
    pub(crate) fn are_many(&self) -> bool {
        self.is_prefix
    }

    /// These names behind a prefix.
    pub(crate) fn behind(&self, prefix: &str) -> NamePattern {
        let text = format!("{prefix}{}", self.text).into();
        NamePattern { text, is_prefix: self.is_prefix }
    }

    /// Whether some name is one of these: it is no longer than a name may be.
    pub(crate) fn has_names(&self) -> bool {
        let shortest = self.text.len() + usize::from(self.is_prefix && self.text.is_empty());
        shortest <= NAME_BYTES_MAX
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, if self.is_prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(pattern: &str) -> NamePattern {
        NamePattern::new(pattern).unwrap()
    }

    #[test]
    fn a_pattern_is_a_name_or_a_prefix() {
        for matching in ["import:42", "import:*", "import:42*", "*"] {
            assert!(pattern(matching).matches("import:42"), "{matching}");
        }
        for other in ["import:4", "import:43*", "Import:*", "x*"] {
            assert!(!pattern(other).matches("import:42"), "{other}");
        }
        for bad in ["", "a*b", "**", "*a", "\n*", &"x".repeat(513)] {
            assert!(NamePattern::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn patterns_meet_where_a_name_is_of_both() {
        for (a, b) in [("a", "a"), ("a*", "a"), ("a*", "ab*"), ("*", "x"), ("*", "*")] {
            assert!(pattern(a).meets(&pattern(b)) && pattern(b).meets(&pattern(a)), "{a} {b}");
        }
        for (a, b) in [("a", "b"), ("a", "A"), ("a*", "b"), ("a*", "b*"), ("ab*", "a")] {
            assert!(!pattern(a).meets(&pattern(b)) && !pattern(b).meets(&pattern(a)), "{a} {b}");
        }
    }

    #[test]
    fn behind_a_prefix_names_may_be_too_long() {
        assert!(pattern("*").behind(&"x".repeat(511)).has_names());
        assert!(!pattern("ab").behind(&"x".repeat(511)).has_names());
        assert!(pattern("a*").behind(&"x".repeat(511)).has_names());
    }
}
