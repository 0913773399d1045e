//! `leases show`.

use std::io::Write as _;
use std::process::ExitCode;

use leases::{Key, Kind, Listed};
use serde_json::json;

use super::args::ShowArgs;
use super::json;
use super::table::{HOLDER_HEADS, WAITER_HEADS, aligned, holders, waiters};
use super::text::shown;
use crate::backend::{self, BackendUrl};
use crate::failure::Failure;

/// Prints who holds a name and who waits for it.
pub(crate) async fn show(args: ShowArgs, url: Option<&BackendUrl>) -> Result<ExitCode, Failure> {
    let leases = backend::connect_shared(url).await?;
    let mut used = Vec::new();
    for kind in [Kind::Lease, Kind::Semaphore] {
        let key = Key { kind, name: args.name.clone() };
        let view = leases.inspect(&key).await;
        let view = view.map_err(|error| Failure::unavailable(backend::causes(&error)))?;
        if !view.is_empty() {
            used.push(Listed { key, view });
        }
    }
    let said = match args.json {
        true => {
            let keys: Vec<_> = used.iter().map(json::key).collect();
            json!({ "name": args.name.as_str(), "keys": keys }).to_string()
        }
        false => described(&used, args.name.as_str()),
    };
    writeln!(std::io::stdout(), "{said}").map_err(Failure::output)?;
    Ok(ExitCode::SUCCESS)
}

/// A part for each kind in which a name is in use.
pub(super) fn described(used: &[Listed], name: &str) -> String {
    if used.is_empty() {
        return format!("nobody holds {}, and nobody waits for it", shown(name));
    }
    used.iter().map(of_key).collect::<Vec<_>>().join("\n\n")
}

fn of_key(Listed { key, view }: &Listed) -> String {
    let (hold, wait) = (view.holders.len(), view.waiters.len());
    let name = shown(key.name.as_str());
    let mut parts = vec![format!("{} {name}: {hold} hold, {wait} wait", key.kind.as_str())];
    if hold > 0 {
        parts.push(aligned(HOLDER_HEADS, holders(view)));
    }
    if wait > 0 {
        parts.push(aligned(WAITER_HEADS, waiters(view)));
    }
    parts.join("\n\n")
}
