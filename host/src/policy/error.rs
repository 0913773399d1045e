//! Policies that are none.

use std::fmt;

use crate::invalid::Invalid;

/// Why a policy is none: one line that names the plugin, the grant and the setting, as far as they
/// are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    pub(super) plugin: Option<String>,
    /// Which grant, from 0, and its names; none for a setting of the plugin's own.
    pub(super) grant: Option<(usize, String)>,
    pub(super) setting: Option<Setting>,
    pub(super) why: String,
    /// In the file that it came from.
    pub(super) line: Option<usize>,
}

/// A setting of a plugin or of a grant, by its name in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Names,
    Primitives,
    Prefix,
    TtlMax,
    HoldMax,
    WaitMax,
    LimitMax,
    Held,
    Waiting,
    AcquiresPerSecond,
    CallsPerSecond,
    NamesPerDay,
    OwnerBytesMax,
    NoteBytesMax,
}

impl PolicyError {
    /// A fault of one setting.
    pub(super) fn of(setting: Setting, why: impl Into<String>) -> Self {
        PolicyError { setting: Some(setting), ..PolicyError::in_text(why) }
    }

    /// A fault of the whole.
    pub(super) fn in_text(why: impl Into<String>) -> Self {
        PolicyError { plugin: None, grant: None, setting: None, why: why.into(), line: None }
    }

    /// A setting whose value breaks a bound.
    pub(super) fn bound(setting: Setting, broken: &Invalid) -> Self {
        PolicyError::of(setting, broken.bound())
    }

    /// The same, of a grant.
    pub(super) fn in_grant(mut self, number: usize, names: impl ToString) -> Self {
        self.grant = Some((number, names.to_string()));
        self
    }

    /// The line of the file that it came from, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

/// What was to be part of a policy is not even that.
impl From<Invalid> for PolicyError {
    fn from(invalid: Invalid) -> Self {
        PolicyError::in_text(invalid.to_string())
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(plugin) = &self.plugin {
            write!(f, "plugin {}: ", plugin.escape_debug())?;
        }
        if let Some((_, names)) = &self.grant {
            write!(f, "grant of {}: ", names.escape_debug())?;
        }
        if let Some(setting) = self.setting {
            write!(f, "{setting}: ")?;
        }
        f.write_str(&self.why)
    }
}

impl std::error::Error for PolicyError {}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setting::Names => "names",
            Setting::Primitives => "primitives",
            Setting::Prefix => "prefix",
            Setting::TtlMax => "ttl-max",
            Setting::HoldMax => "hold-max",
            Setting::WaitMax => "wait-max",
            Setting::LimitMax => "limit-max",
            Setting::Held => "held",
            Setting::Waiting => "waiting",
            Setting::AcquiresPerSecond => "acquires-per-second",
            Setting::CallsPerSecond => "calls-per-second",
            Setting::NamesPerDay => "names-per-day",
            Setting::OwnerBytesMax => "owner-bytes-max",
            Setting::NoteBytesMax => "note-bytes-max",
        })
    }
}
