//! Who a plugin is.

use std::fmt;
use std::sync::Arc;

use crate::invalid::{Argument, Invalid};

/// The most bytes in a plugin's identity.
pub const PLUGIN_BYTES_MAX: usize = 64;

/// A plugin's identity in its host's configuration: 1 to 64 of `A-Z a-z 0-9 . _ -`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PluginId(Arc<str>);

impl PluginId {
    /// Checks an identity.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(id: impl AsRef<str>) -> Result<Self, Invalid> {
        let id = id.as_ref();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if id.is_empty() || id.len() > PLUGIN_BYTES_MAX || !id.chars().all(allowed) {
            let bound = format!("1 to {PLUGIN_BYTES_MAX} of A-Z a-z 0-9 . _ -");
            return Err(Invalid::new(Argument::Plugin, bound));
        }
        Ok(PluginId(id.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_has_no_slash() {
        for bad in ["", "a/b", "a b", "é", &"x".repeat(65)] {
            assert!(PluginId::new(bad).is_err(), "{bad:?}");
        }
        assert!(PluginId::new("importer-2.1_x").is_ok());
    }
}
