//! What the plugin may do: from a file, or as it was typed.

use std::fmt::Display;
use std::path::Path;

use leases::{Grant, PluginId, Policies, Policy, PolicyBuilder};

use crate::args::RunArgs;
use crate::failure::Failure;

/// The policy of a run; whatever is wrong with it is known before anything else is done.
pub(super) fn of(args: &RunArgs) -> Result<Policy, Failure> {
    if let Some(file) = &args.policy {
        return in_file(file, &args.plugin);
    }
    let grants = args.allow.iter().cloned().map(Grant::new);
    let policy = grants.fold(Policy::builder(), PolicyBuilder::grant).build();
    policy.map_err(|error| Failure::usage(format_args!("--allow: {error}")))
}

fn in_file(file: &Path, plugin: &PluginId) -> Result<Policy, Failure> {
    let shown = file.display();
    let bytes = std::fs::read(file);
    let bytes = bytes.map_err(|error| Failure::usage(format_args!("--policy {shown}: {error}")))?;
    let policies = read(&bytes).map_err(|BadPolicy { line, why }| match line {
        Some(line) => Failure::data(format_args!("{shown}:{line}: {why}")),
        None => Failure::data(format_args!("{shown}: {why}")),
    })?;
    policies.get(plugin).cloned().ok_or_else(|| {
        let plugins: Vec<&str> = policies.iter().map(|(plugin, _)| plugin.as_str()).collect();
        let has = if plugins.is_empty() { "none".to_owned() } else { plugins.join(", ") };
        Failure::usage(format_args!("--plugin {plugin}: not in {shown}, which has {has}"))
    })
}

/// What keeps a file from being one of policies, and in which line.
struct BadPolicy {
    line: Option<usize>,
    why: String,
}

impl BadPolicy {
    fn new(line: Option<usize>, why: impl Display) -> Self {
        BadPolicy { line, why: why.to_string() }
    }
}

fn read(bytes: &[u8]) -> Result<Policies, BadPolicy> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        BadPolicy::new(Some(line), "not UTF-8")
    })?;
    Policies::from_toml(text).map_err(|error| BadPolicy::new(error.line(), error))
}
