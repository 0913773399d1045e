//! A namespace of a plugin's own.

use std::fmt;

use crate::invalid::{Argument, Invalid};
use crate::name::check_text;

/// The most bytes in a prefix.
pub const PREFIX_BYTES_MAX: usize = 256;

/// What stands before a plugin's names where they are kept: the plugin sees `jobs/1`, the backend
/// `importer/jobs/1`. 1 to 256 bytes without control characters, the last of them `/` or `:`.
///
/// It is put before whatever the plugin asks for, which is not parsed: no name leads out of it.
///
/// ```
/// use leases::Prefix;
///
/// assert!(Prefix::new("importer/").is_ok());
/// assert!(Prefix::new("importer").is_err(), "importer2 would be in it");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix(Box<str>);

impl Prefix {
    /// Checks a prefix.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(prefix: impl AsRef<str>) -> Result<Self, Invalid> {
        let prefix = prefix.as_ref();
        check_text(Argument::Prefix, prefix, 1, PREFIX_BYTES_MAX)?;
        if !prefix.ends_with(['/', ':']) {
            let bound = format!("a text that ends in / or :, not {prefix:?}");
            return Err(Invalid::new(Argument::Prefix, bound));
        }
        Ok(Prefix(prefix.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
