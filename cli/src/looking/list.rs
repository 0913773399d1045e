//! `leases list`.

use std::io::Write as _;
use std::process::ExitCode;

use super::args::ListArgs;
use super::json;
use super::table::{HEADS, aligned, rows};
use crate::backend::{self, BackendUrl};
use crate::failure::Failure;

/// Prints who holds and who waits, of every name in use.
pub(crate) async fn list(args: ListArgs, url: Option<&BackendUrl>) -> Result<ExitCode, Failure> {
    let leases = backend::connect_shared(url).await?;
    let listed = leases.list(&args.names).await;
    let listed = listed.map_err(|error| Failure::unavailable(backend::causes(&error)))?;
    let said = match args.json {
        true => json::list(&listed).to_string(),
        false if listed.is_empty() => return Ok(ExitCode::SUCCESS),
        false => aligned(HEADS, listed.iter().flat_map(rows)),
    };
    writeln!(std::io::stdout(), "{said}").map_err(Failure::output)?;
    Ok(ExitCode::SUCCESS)
}
