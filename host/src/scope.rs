//! The only way from a plugin to the engine: who it is and which names it may use.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::client::{Guard, Lease, Leases, Permit, Request};
use crate::error::{Error, ErrorKind, Operation};
#[cfg(feature = "component")]
use crate::fence::Fence;
use crate::invalid::{Argument, Invalid};
#[cfg(feature = "component")]
use crate::name::Key;
use crate::name::{NAME_BYTES_MAX, Name, check_text};

/// The most bytes in a plugin's identity.
pub const PLUGIN_BYTES_MAX: usize = 64;

/// A plugin's identity in its host's configuration: 1 to 64 of `A-Z a-z 0-9 . _ -`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PluginId(Arc<str>);

/// Names that a plugin may use: one name, or all that start with what stands before a final `*`.
///
/// ```
/// use leases::{Name, NamePattern};
///
/// let imports = NamePattern::new("import:*")?;
/// assert!(imports.matches(&Name::new("import:42")?));
/// assert!(!imports.matches(&Name::new("imports")?));
/// # Ok::<(), leases::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(Pattern);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Exact(Name),
    Prefix(Box<str>),
}

/// A plugin's handle on the engine. It allows no name until it is told.
///
/// ```
/// use leases::{ErrorKind, Leases, NamePattern, PluginId, Scope};
///
/// let scope = Scope::new(Leases::memory(), PluginId::new("importer")?);
/// assert_eq!(scope.lease("import:42").unwrap_err().kind(), &ErrorKind::Denied);
/// let scope = scope.allow(NamePattern::new("import:*")?);
/// assert!(scope.lease("import:42").is_ok());
/// assert!(scope.semaphore("uploads", 3).is_err());
/// # Ok::<(), leases::Invalid>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scope {
    leases: Leases,
    rights: Arc<Rights>,
}

/// Who a plugin is, which names it may use and how long it may wait. What it asks for carries them
/// along, so that an ask can't be turned to another name or made to wait for longer.
#[derive(Debug, Clone)]
pub(crate) struct Rights {
    pub(crate) plugin: PluginId,
    allowed: Vec<NamePattern>,
    pub(crate) wait_max: Duration,
}

/// What a wait without a bound of the plugin's own is bounded by.
const WAIT_MAX_DEFAULT: Duration = Duration::from_secs(60);

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

impl NamePattern {
    /// Checks a pattern. A `*` stands only at its end.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(pattern: impl AsRef<str>) -> Result<Self, Invalid> {
        let pattern = pattern.as_ref();
        check_text(Argument::Pattern, pattern, 1, NAME_BYTES_MAX)?;
        let (prefix, is_prefix) = match pattern.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (pattern, false),
        };
        if prefix.contains('*') {
            let bound = format!("a * only at the end, not {pattern:?}");
            return Err(Invalid::new(Argument::Pattern, bound));
        }
        Ok(NamePattern(match is_prefix {
            true => Pattern::Prefix(prefix.into()),
            false => Pattern::Exact(Name::new(prefix)?),
        }))
    }

    /// Whether a name is one of these.
    pub fn matches(&self, name: &Name) -> bool {
        match &self.0 {
            Pattern::Exact(exact) => exact == name,
            Pattern::Prefix(prefix) => name.as_str().starts_with(&**prefix),
        }
    }
}

impl Scope {
    /// A plugin's handle that allows nothing.
    pub fn new(leases: Leases, plugin: PluginId) -> Self {
        let rights = Arc::new(Rights { plugin, allowed: Vec::new(), wait_max: WAIT_MAX_DEFAULT });
        Scope { leases, rights }
    }

    /// Allows these names too, for leases, semaphores and guards.
    pub fn allow(mut self, pattern: NamePattern) -> Self {
        Arc::make_mut(&mut self.rights).allowed.push(pattern);
        self
    }

    /// The longest that an ask of this plugin may wait; 60 s unless said.
    pub fn wait_max(mut self, wait_max: Duration) -> Self {
        Arc::make_mut(&mut self.rights).wait_max = wait_max;
        self
    }

    /// Whose handle this is.
    pub fn plugin(&self) -> &PluginId {
        &self.rights.plugin
    }

    /// Asks for the lease of a name, in the plugin's name.
    ///
    /// # Errors
    /// [`Denied`](ErrorKind::Denied) for a name that is not allowed; else as
    /// [`Leases::lease`].
    pub fn lease(&self, name: impl AsRef<str>) -> Result<Request<Lease>, Error> {
        let name = self.allowed(name, Operation::Lease)?;
        Ok(self.leases.lease_of(name).of_plugin(&self.rights))
    }

    /// Asks for one of `limit` places of a name, in the plugin's name.
    ///
    /// # Errors
    /// [`Denied`](ErrorKind::Denied) for a name that is not allowed; else as
    /// [`Leases::semaphore`].
    pub fn semaphore(&self, name: impl AsRef<str>, limit: u32) -> Result<Request<Permit>, Error> {
        let name = self.allowed(name, Operation::Semaphore)?;
        Ok(self.leases.semaphore_of(name, limit)?.of_plugin(&self.rights))
    }

    /// The guard of a target.
    ///
    /// # Errors
    /// [`Denied`](ErrorKind::Denied) for a name that is not allowed; else as [`Leases::guard`].
    pub fn guard(&self, target: impl AsRef<str>) -> Result<Guard, Error> {
        Ok(self.leases.guard_of(self.allowed(target, Operation::Guard)?))
    }

    /// How long an ask that wants to wait for `wait` may wait.
    pub fn bounded_wait(&self, wait: Option<Duration>) -> Duration {
        wait.map_or(self.rights.wait_max, |wait| wait.min(self.rights.wait_max))
    }

    /// How many of these fences are of live holds of a key that was asked for within this scope.
    #[cfg(feature = "component")]
    pub(crate) async fn held_among(&self, key: &Key, fences: &[Fence]) -> Result<usize, Error> {
        let holders = self.leases.inspect(key).await?.holders;
        Ok(holders.iter().filter(|holder| fences.contains(&holder.fence)).count())
    }

    /// A name that this plugin may use. Whether it may comes before all other checks but the
    /// name's own.
    fn allowed(&self, name: impl AsRef<str>, operation: Operation) -> Result<Name, Error> {
        let name = Name::new(name).map_err(|bad| Error::invalid(bad, operation))?;
        self.rights.check(&name, operation)?;
        Ok(name)
    }
}

impl Rights {
    /// Default deny.
    pub(crate) fn check(&self, name: &Name, operation: Operation) -> Result<(), Error> {
        if self.allowed.iter().any(|pattern| pattern.matches(name)) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Denied, operation, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_name_or_a_prefix() {
        let name = Name::new("import:42").unwrap();
        for matching in ["import:42", "import:*", "import:42*", "*"] {
            assert!(NamePattern::new(matching).unwrap().matches(&name), "{matching}");
        }
        for other in ["import:4", "import:43*", "Import:*", "x*"] {
            assert!(!NamePattern::new(other).unwrap().matches(&name), "{other}");
        }
        for bad in ["", "a*b", "**", "*a", "\n*", &"x".repeat(513)] {
            assert!(NamePattern::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_semaphores_key_is_a_name_to_be_allowed_too() {
        let scope = Scope::new(Leases::memory(), PluginId::new("plugin").unwrap())
            .allow(NamePattern::new("uploads").unwrap())
            .allow(NamePattern::new("uploads:a*").unwrap());
        let uploads = scope.semaphore("uploads", 3).unwrap();
        assert!(uploads.key("a1").is_ok());
        assert_eq!(uploads.key("b1").unwrap_err().kind(), &ErrorKind::Denied);
    }

    #[test]
    fn an_identity_has_no_slash() {
        for bad in ["", "a/b", "a b", "é", &"x".repeat(65)] {
            assert!(PluginId::new(bad).is_err(), "{bad:?}");
        }
        assert!(PluginId::new("importer-2.1_x").is_ok());
    }
}
