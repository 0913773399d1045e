//! What is logged, to standard error.

use std::io::{self, Write as _};
use std::sync::OnceLock;

use serde_json::json;
use tracing::Level;
use tracing_subscriber::EnvFilter;

use crate::{environment, watch};

/// How log lines, and messages, are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for a collector.
    Json,
}

static FORMAT: OnceLock<Format> = OnceLock::new();

/// What the library logs goes to standard error; the environment says how much, else `warn`.
pub(crate) fn to_stderr(format: Format) {
    let filter =
        EnvFilter::try_from_env(environment::LOG.name).unwrap_or_else(|_| EnvFilter::new("warn"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(watch::log_writer);
    match format {
        Format::Text => lines.init(),
        Format::Json => lines.json().flatten_event(true).init(),
    }
    // It is set once, here.
    let _ = FORMAT.set(format);
}

/// A message of the command's own, of one line. Where nobody reads it, nobody is told.
pub(crate) fn say(level: Level, line: &str) {
    let said = match FORMAT.get().copied().unwrap_or_default() {
        Format::Text => format!("leases: {line}"),
        Format::Json => {
            let time = humantime::format_rfc3339_micros(std::time::SystemTime::now()).to_string();
            json!({ "timestamp": time, "level": level.as_str(), "message": line, "target": "leases" })
                .to_string()
        }
    };
    drop(writeln!(io::stderr(), "{said}"));
}
