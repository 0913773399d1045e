//! `leases revoke`.

use std::io::Write as _;
use std::process::ExitCode;

use leases::{Key, Kind};
use serde_json::json;

use super::args::{KindArg, RevokeArgs};
use super::text::shown;
use crate::backend::{self, BackendUrl};
use crate::failure::{self, Failure};

/// Nobody held it.
const NOTHING_HELD: u8 = 1;

/// Ends holds of a name, and says how many.
pub(crate) async fn revoke(
    args: RevokeArgs,
    url: Option<&BackendUrl>,
) -> Result<ExitCode, Failure> {
    let leases = backend::connect_shared(url).await?;
    let mut ended = Vec::new();
    for of in kinds(&args) {
        let key = Key { kind: of, name: args.name.clone() };
        let revoked = leases.revoke(&key, args.slot).await;
        let count = revoked.map_err(|error| Failure::unavailable(backend::causes(&error)))?;
        ended.push((of, count));
    }
    let total: u32 = ended.iter().map(|(_, count)| count).sum();
    let name = shown(args.name.as_str());
    if args.json {
        let by_kind = ended.iter().map(|(of, count)| (of.as_str().to_owned(), json!(count)));
        let document = json!({
            "name": args.name.as_str(),
            "revoked": serde_json::Value::Object(by_kind.collect()),
        });
        writeln!(std::io::stdout(), "{document}").map_err(Failure::output)?;
    } else {
        for (of, count) in ended.iter().filter(|(_, count)| *count > 0) {
            let holds = if *count == 1 { "hold" } else { "holds" };
            let line = format!("revoked {count} {holds} of {} {name}", of.as_str());
            writeln!(std::io::stdout(), "{line}").map_err(Failure::output)?;
        }
    }
    if total == 0 {
        failure::say(format_args!("nobody holds {name}"));
        return Ok(NOTHING_HELD.into());
    }
    Ok(ExitCode::SUCCESS)
}

fn kinds(args: &RevokeArgs) -> Vec<Kind> {
    match (args.kind, args.slot) {
        (Some(kind), _) => vec![kind.into()],
        (None, Some(_)) => vec![KindArg::Semaphore.into()],
        (None, None) => vec![Kind::Lease, Kind::Semaphore],
    }
}
