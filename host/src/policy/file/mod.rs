//! Policies in a TOML file.

mod raw;

use std::collections::BTreeMap;

use super::error::{PolicyError, Setting};
use super::plugin::PluginId;
use super::policy::Policy;
use raw::RawFile;

/// The policies of a host's plugins, by identity. A plugin that is not among them has none.
///
/// Read from TOML: a table `plugins.ID` for each plugin with its settings, and for each grant a
/// `plugins.ID.grants` with its own. What is left out is as in a
/// [`PolicyBuilder`](crate::PolicyBuilder) and a [`Grant`](crate::Grant); durations are written
/// `500ms`, `30s`, `5m`, `1h`.
///
/// ```
/// use leases::{Leases, PluginId, Policies, Scope};
///
/// let policies = Policies::from_toml(r#"
///     [plugins.importer]
///     held = 8                     # holds at once, asks under way counted
///     waiting = 4
///     acquires-per-second = 50
///     calls-per-second = 1000      # refreshes by hand, questions to guards
///     names-per-day = 10000        # of grants that end in *
///     ttl-max = "5m"
///     hold-max = "1h"
///     wait-max = "30s"
///     limit-max = 16
///     owner-bytes-max = 64
///     note-bytes-max = 200
///
///     [[plugins.importer.grants]]
///     names = "jobs/*"
///     primitives = ["lease", "fence"]
///     prefix = "importer/"         # it sees jobs/1; kept is importer/jobs/1
///
///     [[plugins.importer.grants]]
///     names = "downloads"
///     primitives = ["semaphore"]
///     limit-max = 4                # in place of the plugin's
/// "#)?;
/// let importer = PluginId::new("importer")?;
/// let policy = policies.get(&importer).expect("it has one").clone();
/// let scope = Scope::new(Leases::memory(), importer, policy);
/// assert!(scope.semaphore("downloads", 4).is_ok());
/// assert!(scope.semaphore("downloads", 5).is_err());
/// # Ok::<(), leases::PolicyError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Policies(BTreeMap<PluginId, Policy>);

impl Policies {
    /// Reads and checks all of it.
    ///
    /// # Errors
    /// [`PolicyError`] with the line: for what is no TOML, a setting that there is not, a duration
    /// that is none; for whatever [`build`](crate::PolicyBuilder::build) refuses; and where the
    /// prefix of one plugin begins with another one's, which would let it into that namespace. A
    /// grant without a prefix reaches wherever its names do: `*` into every namespace.
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        let file: RawFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| line_of(text, span.start));
            PolicyError { line, ..PolicyError::in_text(error.message()) }
        })?;
        let mut policies = BTreeMap::new();
        for (id, plugin) in &file.plugins {
            let at_line = |error: PolicyError| {
                let offset = plugin.offset_of(&error).unwrap_or(id.span().start);
                let (line, plugin) = (Some(line_of(text, offset)), Some(id.get_ref().clone()));
                PolicyError { line, plugin, ..error }
            };
            let policy = plugin.policy().map_err(at_line)?;
            for (number, grant) in plugin.grants.iter().enumerate() {
                if let Some(other) = file.within(id.get_ref(), grant) {
                    let error = PolicyError::of(Setting::Prefix, format!("within that of {other}"));
                    return Err(at_line(error.in_grant(number, grant.names.get_ref())));
                }
            }
            let id = PluginId::new(id.get_ref()).map_err(|bad| at_line(bad.into()))?;
            policies.insert(id, policy);
        }
        Ok(Policies(policies))
    }

    /// A plugin's.
    pub fn get(&self, plugin: &PluginId) -> Option<&Policy> {
        self.0.get(plugin)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&PluginId, &Policy)> {
        self.0.iter()
    }
}

/// The line, from 1, of a byte of a text.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests;
