//! What a plugin is granted: names, what for, within which bounds.

use std::fmt;
use std::time::Duration;

use super::bounds::Bounds;
use super::error::{PolicyError, Setting};
use super::prefix::Prefix;
use crate::name::NAME_BYTES_MAX;
use crate::pattern::NamePattern;

/// One of the three primitives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "policy-file", derive(serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Primitive {
    /// Exclusive holds.
    Lease,
    /// At most so many holders.
    Semaphore,
    /// Guards that refuse stale writers.
    Fence,
}

impl Primitive {
    /// All of them.
    pub const ALL: [Primitive; 3] = [Primitive::Lease, Primitive::Semaphore, Primitive::Fence];
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Primitive::Lease => "lease",
            Primitive::Semaphore => "semaphore",
            Primitive::Fence => "fence",
        })
    }
}

/// Names that a plugin may use, and what for. All three primitives, no prefix and the plugin's own
/// bounds unless said.
///
/// ```
/// use leases::{Grant, NamePattern, Policy, Prefix, Primitive};
///
/// let downloads = Grant::new(NamePattern::new("downloads/*")?)
///     .primitives([Primitive::Semaphore])
///     .prefix(Prefix::new("importer/")?)
///     .limit_max(4);
/// let policy = Policy::builder().grant(downloads).build()?;
/// # Ok::<(), leases::PolicyError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a grant is one of a policy's"]
pub struct Grant {
    pub(super) names: NamePattern,
    pub(super) primitives: Vec<Primitive>,
    pub(super) prefix: Option<Prefix>,
    pub(super) bounds: Bounds,
}

impl Grant {
    /// Grants these names.
    pub fn new(names: NamePattern) -> Self {
        let (primitives, bounds) = (Primitive::ALL.to_vec(), Bounds::default());
        Grant { names, primitives, prefix: None, bounds }
    }

    /// For these primitives alone.
    pub fn primitives(mut self, primitives: impl IntoIterator<Item = Primitive>) -> Self {
        self.primitives = primitives.into_iter().collect();
        self
    }

    /// In a namespace of the plugin's own.
    pub fn prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = Some(prefix);
        self
    }

    /// The greatest ttl of these names, in place of the plugin's.
    pub fn ttl_max(mut self, ttl_max: Duration) -> Self {
        self.bounds.ttl_max = Some(ttl_max);
        self
    }

    /// The longest that a hold of these names may last, however often it is refreshed and whatever
    /// is asked for, in place of the plugin's.
    pub fn hold_max(mut self, hold_max: Duration) -> Self {
        self.bounds.hold_max = Some(hold_max);
        self
    }

    /// The longest that an ask for these names may wait, in place of the plugin's.
    pub fn wait_max(mut self, wait_max: Duration) -> Self {
        self.bounds.wait_max = Some(wait_max);
        self
    }

    /// The greatest limit of these names' semaphores, in place of the plugin's.
    pub fn limit_max(mut self, limit_max: u32) -> Self {
        self.bounds.limit_max = Some(limit_max);
        self
    }

    /// Whether it is one that a name and a primitive are granted by.
    pub(super) fn allows(&self, name: &str, primitive: Primitive) -> bool {
        self.primitives.contains(&primitive) && self.names.matches(name)
    }

    /// Whether it grants more names than one.
    pub(super) fn has_many_names(&self) -> bool {
        self.names.are_many()
    }

    /// Whether it is for more than guards.
    pub(super) fn may_hold(&self) -> bool {
        self.primitives.iter().any(|primitive| *primitive != Primitive::Fence)
    }

    pub(super) fn prefix_text(&self) -> &str {
        self.prefix.as_ref().map_or("", Prefix::as_str)
    }

    /// The names where they are kept.
    fn kept_names(&self) -> NamePattern {
        self.names.behind(self.prefix_text())
    }

    /// Fails when it lets nothing through, has bounds of what it is not for, or meets another: then
    /// a name would have two meanings, or two names one.
    pub(super) fn check<'a>(
        &self,
        mut others: impl Iterator<Item = &'a Grant>,
    ) -> Result<(), PolicyError> {
        let Bounds { ttl_max, hold_max, wait_max, limit_max } = self.bounds;
        if self.primitives.is_empty() {
            return Err(PolicyError::of(Setting::Primitives, "none: it grants nothing"));
        }
        if !self.kept_names().has_names() {
            let why = format!("no name fits: a name has at most {NAME_BYTES_MAX} bytes");
            return Err(PolicyError::of(Setting::Prefix, why));
        }
        let is_for_semaphores = self.primitives.contains(&Primitive::Semaphore);
        for (setting, is_given, is_used) in [
            (Setting::TtlMax, ttl_max.is_some(), self.may_hold()),
            (Setting::HoldMax, hold_max.is_some(), self.may_hold()),
            (Setting::WaitMax, wait_max.is_some(), self.may_hold()),
            (Setting::LimitMax, limit_max.is_some(), is_for_semaphores),
        ] {
            if is_given && !is_used {
                return Err(PolicyError::of(setting, "bounds nothing that is granted"));
            }
        }
        match others.find(|other| self.meets(other)) {
            None => Ok(()),
            Some(other) => {
                let why = format!("overlaps with the grant of {}", other.names);
                Err(PolicyError::of(Setting::Names, why))
            }
        }
    }

    fn meets(&self, other: &Grant) -> bool {
        self.primitives.iter().any(|primitive| other.primitives.contains(primitive))
            && (self.names.meets(&other.names) || self.kept_names().meets(&other.kept_names()))
    }
}
