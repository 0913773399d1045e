//! `leases migrate`.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;

use crate::args::MigrateArgs;
use crate::backend::{self, BackendUrl};
use crate::failure::Failure;

/// Brings the backend's tables to this version's layout, and says how many steps that took.
pub(crate) async fn migrate(
    args: MigrateArgs,
    url: Option<&BackendUrl>,
) -> Result<ExitCode, Failure> {
    let file = backend::state_file(url)?;
    let leases = match &file {
        Some(file) => file.connect().await?,
        None => backend::connect(url).await?,
    };
    let applied = leases.migrate().await;
    let applied = applied.map_err(|error| Failure::unavailable(backend::causes(&error)))?;
    // Nobody named it.
    let to = file.map(|file| format!(" to {}", file.path().display())).unwrap_or_default();
    let said = match (args.json, applied) {
        (true, applied) => json!({ "applied": applied }).to_string(),
        (false, 0) => format!("nothing to apply{to}"),
        (false, 1) => format!("applied 1 migration{to}"),
        (false, several) => format!("applied {several} migrations{to}"),
    };
    writeln!(std::io::stdout(), "{said}").map_err(Failure::output)?;
    Ok(ExitCode::SUCCESS)
}
