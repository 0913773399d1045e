//! A file of policies as it is written: what serde reads, with where it stood.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use crate::invalid::Invalid;
use crate::pattern::NamePattern;
use crate::policy::error::{PolicyError, Setting};
use crate::policy::grant::{Grant, Primitive};
use crate::policy::policy::{Policy, PolicyBuilder};
use crate::policy::prefix::Prefix;
use crate::policy::rate::Rate;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    #[serde(default)]
    pub(super) plugins: BTreeMap<Spanned<String>, RawPlugin>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawPlugin {
    held: Option<Spanned<u32>>,
    waiting: Option<Spanned<u32>>,
    acquires_per_second: Option<Spanned<u32>>,
    calls_per_second: Option<Spanned<u32>>,
    names_per_day: Option<Spanned<u32>>,
    ttl_max: Option<Spanned<String>>,
    hold_max: Option<Spanned<String>>,
    wait_max: Option<Spanned<String>>,
    limit_max: Option<Spanned<u32>>,
    owner_bytes_max: Option<Spanned<usize>>,
    note_bytes_max: Option<Spanned<usize>>,
    #[serde(default)]
    pub(super) grants: Vec<RawGrant>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawGrant {
    pub(super) names: Spanned<String>,
    primitives: Option<Spanned<Vec<Primitive>>>,
    prefix: Option<Spanned<String>>,
    ttl_max: Option<Spanned<String>>,
    hold_max: Option<Spanned<String>>,
    wait_max: Option<Spanned<String>>,
    limit_max: Option<Spanned<u32>>,
}

impl RawFile {
    /// The other plugin into whose namespace a grant's prefix leads, if it does. To share one, both
    /// have the same prefix.
    pub(super) fn within(&self, plugin: &str, grant: &RawGrant) -> Option<&str> {
        let prefix = grant.prefix.as_ref()?.get_ref();
        let leads_into = |other: &RawGrant| {
            let other = other.prefix.as_ref().map(Spanned::get_ref);
            other.is_some_and(|other| prefix != other && prefix.starts_with(other.as_str()))
        };
        let others = self.plugins.iter().filter(|(id, _)| id.get_ref() != plugin);
        let mut within = others.filter(|(_, other)| other.grants.iter().any(leads_into));
        within.next().map(|(id, _)| id.get_ref().as_str())
    }
}

impl RawPlugin {
    pub(super) fn policy(&self) -> Result<Policy, PolicyError> {
        let policy = Policy::builder();
        let policy = set(policy, &self.held, PolicyBuilder::held);
        let policy = set(policy, &self.waiting, PolicyBuilder::waiting);
        let acquires = |policy: PolicyBuilder, times| policy.acquires(Rate::per_second(times));
        let policy = set(policy, &self.acquires_per_second, acquires);
        let calls = |policy: PolicyBuilder, times| policy.calls(Rate::per_second(times));
        let policy = set(policy, &self.calls_per_second, calls);
        let policy = set(policy, &self.names_per_day, PolicyBuilder::names_per_day);
        let policy = set(policy, &self.limit_max, PolicyBuilder::limit_max);
        let policy = set(policy, &self.owner_bytes_max, PolicyBuilder::owner_bytes_max);
        let policy = set(policy, &self.note_bytes_max, PolicyBuilder::note_bytes_max);
        let ttl_max = duration(Setting::TtlMax, &self.ttl_max)?;
        let policy = set(policy, &ttl_max, PolicyBuilder::ttl_max);
        let hold_max = duration(Setting::HoldMax, &self.hold_max)?;
        let policy = set(policy, &hold_max, PolicyBuilder::hold_max);
        let wait_max = duration(Setting::WaitMax, &self.wait_max)?;
        let policy = set(policy, &wait_max, PolicyBuilder::wait_max);
        let mut policy = policy;
        for (number, raw) in self.grants.iter().enumerate() {
            let grant = raw.grant().map_err(|error| error.in_grant(number, raw.names.get_ref()))?;
            policy = policy.grant(grant);
        }
        policy.build()
    }

    /// Where a fault stood.
    pub(super) fn offset_of(&self, error: &PolicyError) -> Option<usize> {
        if let Some((number, _)) = &error.grant {
            let grant = self.grants.get(*number)?;
            return Some(grant.offset_of(error.setting).unwrap_or(grant.names.span().start));
        }
        match error.setting? {
            Setting::Held => start(&self.held),
            Setting::Waiting => start(&self.waiting),
            Setting::AcquiresPerSecond => start(&self.acquires_per_second),
            Setting::CallsPerSecond => start(&self.calls_per_second),
            Setting::NamesPerDay => start(&self.names_per_day),
            Setting::TtlMax => start(&self.ttl_max),
            Setting::HoldMax => start(&self.hold_max),
            Setting::WaitMax => start(&self.wait_max),
            Setting::LimitMax => start(&self.limit_max),
            Setting::OwnerBytesMax => start(&self.owner_bytes_max),
            Setting::NoteBytesMax => start(&self.note_bytes_max),
            Setting::Names | Setting::Primitives | Setting::Prefix => None,
        }
    }
}

impl RawGrant {
    fn grant(&self) -> Result<Grant, PolicyError> {
        let bad = |setting| move |invalid: Invalid| PolicyError::bound(setting, &invalid);
        let names = NamePattern::new(self.names.get_ref()).map_err(bad(Setting::Names))?;
        let prefix = self.prefix.as_ref().map(|prefix| Prefix::new(prefix.get_ref())).transpose();
        let prefix = prefix.map_err(bad(Setting::Prefix))?;
        let grant = Grant::new(names);
        let grant = set(grant, &self.primitives, Grant::primitives);
        let grant = set(grant, &self.limit_max, Grant::limit_max);
        let grant = match prefix {
            Some(prefix) => grant.prefix(prefix),
            None => grant,
        };
        let grant = set(grant, &duration(Setting::TtlMax, &self.ttl_max)?, Grant::ttl_max);
        let grant = set(grant, &duration(Setting::HoldMax, &self.hold_max)?, Grant::hold_max);
        let grant = set(grant, &duration(Setting::WaitMax, &self.wait_max)?, Grant::wait_max);
        Ok(grant)
    }

    fn offset_of(&self, setting: Option<Setting>) -> Option<usize> {
        match setting? {
            Setting::Primitives => start(&self.primitives),
            Setting::Prefix => start(&self.prefix),
            Setting::TtlMax => start(&self.ttl_max),
            Setting::HoldMax => start(&self.hold_max),
            Setting::WaitMax => start(&self.wait_max),
            Setting::LimitMax => start(&self.limit_max),
            _ => None,
        }
    }
}

/// Sets what was given.
fn set<B, T: Clone>(builder: B, value: &Option<Spanned<T>>, set: impl FnOnce(B, T) -> B) -> B {
    match value {
        Some(value) => set(builder, value.get_ref().clone()),
        None => builder,
    }
}

fn start<T>(value: &Option<Spanned<T>>) -> Option<usize> {
    value.as_ref().map(|value| value.span().start)
}

fn duration(
    setting: Setting,
    text: &Option<Spanned<String>>,
) -> Result<Option<Spanned<Duration>>, PolicyError> {
    let Some(text) = text else { return Ok(None) };
    let parsed = humantime::parse_duration(text.get_ref());
    let none = |_| format!("{:?} is no duration, as are 500ms, 30s, 5m, 1h", text.get_ref());
    let parsed = parsed.map_err(none).map_err(|why| PolicyError::of(setting, why))?;
    Ok(Some(Spanned::new(text.span(), parsed)))
}
