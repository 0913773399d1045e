//! `leases run`: instances of one component, each in a sandbox of its own.

mod instance;
mod limits;
mod metrics;
mod policy;
mod program;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use leases::{Leases, Policy, Scope};
use tokio::task::JoinSet;

use crate::args::{RunArgs, SharedDir};
use crate::backend::{self, BackendUrl};
use crate::failure::{self, Failure};
use instance::{Ended, Sandbox};
use program::Program;

/// How long what is still held at the end may take to be given back. Beyond, its ttl ends it.
const GIVE_BACK_MAX: Duration = Duration::from_secs(5);

/// Runs the instances and answers the status to end with.
pub(crate) async fn run(args: RunArgs, backend: Option<&BackendUrl>) -> Result<ExitCode, Failure> {
    are_folders(&args.dir)?;
    let policy = policy::of(&args)?;
    let program = Arc::new(Program::load(&args.component)?);
    if let Some(address) = args.metrics {
        metrics::serve(address).await?;
    }
    let leases = backend::connect(backend).await?;
    backend::check(&leases).await?;
    let sandbox = Arc::new(sandbox(&args, &leases, policy));
    let ends = instances(&program, &sandbox, args.instances).await;
    // A backend beyond this process is given back to in the background, which ends with it.
    if let Err(left) = leases.close(GIVE_BACK_MAX).await {
        failure::say(left);
    }
    let ends = ends?;
    if args.json {
        let document = document(&sandbox, &ends);
        writeln!(std::io::stdout(), "{document}").map_err(Failure::output)?;
    }
    Ok(status(&ends))
}

/// Runs so many at once, each to its end, and answers how they ended, by their numbers.
async fn instances(
    program: &Arc<Program>,
    sandbox: &Arc<Sandbox>,
    count: u32,
) -> Result<Vec<(u32, Ended)>, Failure> {
    let mut running = JoinSet::new();
    for number in 0..count {
        let (program, sandbox) = (Arc::clone(program), Arc::clone(sandbox));
        running.spawn(async move { (number, instance::run(&program, &sandbox, number).await) });
    }
    let mut ends = Vec::new();
    while let Some(joined) = running.join_next().await {
        let (number, ended) = joined.map_err(Failure::data)?;
        match &ended {
            Ended::Exited(_) => {}
            Ended::Trapped(why) => failure::say(format_args!("instance {number}: {why}")),
            Ended::Stopped(why) => failure::say(format_args!("instance {number}: stopped: {why}")),
        }
        ends.push((number, ended));
    }
    ends.sort_by_key(|(number, _)| *number);
    Ok(ends)
}

fn are_folders(dirs: &[SharedDir]) -> Result<(), Failure> {
    match dirs.iter().find(|dir| !dir.host.is_dir()) {
        None => Ok(()),
        Some(dir) => Err(Failure::usage(format!("--dir {}: not a folder", dir.host.display()))),
    }
}

fn sandbox(args: &RunArgs, leases: &Leases, policy: Policy) -> Sandbox {
    Sandbox {
        scope: Scope::new(leases.clone(), args.plugin.clone(), policy),
        name: args.component.display().to_string(),
        args: args.args.clone(),
        dirs: args.dir.clone(),
        memory_max: args.memory_max.clone(),
        time_max: args.time_max.clone(),
        guest_prints_to_stderr: args.json,
    }
}

/// The guest's status; of several, 1 if any failed.
fn status(ends: &[(u32, Ended)]) -> ExitCode {
    match ends {
        [(_, ended)] => ended.status().into(),
        several => u8::from(several.iter().any(|(_, ended)| ended.status() != 0)).into(),
    }
}

fn document(sandbox: &Sandbox, ends: &[(u32, Ended)]) -> serde_json::Value {
    let instances = ends.iter().map(|(number, ended)| {
        serde_json::json!({
            "instance": number,
            "status": ended.status(),
            "stopped": ended.stopped(),
            "trap": ended.trap(),
        })
    });
    serde_json::json!({
        "plugin": sandbox.scope.plugin().as_str(),
        "instances": instances.collect::<Vec<_>>(),
    })
}
