//! `leases run`: instances of one component, each in a sandbox of its own.

mod instance;
mod program;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use leases::{Leases, Scope};
use tokio::task::JoinSet;

use crate::args::RunArgs;
use crate::failure::{self, Failure};
use instance::{Ended, Sandbox};
use program::Program;

/// Runs the instances and answers the status to end with.
pub(crate) async fn run(args: RunArgs) -> Result<ExitCode, Failure> {
    let sandbox = Arc::new(sandbox(&args)?);
    let program = Arc::new(Program::load(&args.component)?);
    let mut running = JoinSet::new();
    for number in 0..args.instances {
        let (program, sandbox) = (Arc::clone(&program), Arc::clone(&sandbox));
        running.spawn(async move { (number, instance::run(&program, &sandbox, number).await) });
    }
    let mut ends = Vec::new();
    while let Some(joined) = running.join_next().await {
        let (number, ended) = joined.map_err(Failure::data)?;
        if let Ended::Trapped(why) = &ended {
            failure::say(format_args!("instance {number}: {why}"));
        }
        ends.push((number, ended));
    }
    ends.sort_by_key(|(number, _)| *number);
    if args.json {
        let document = document(&sandbox, &ends);
        writeln!(std::io::stdout(), "{document}").map_err(Failure::output)?;
    }
    Ok(status(&ends))
}

fn sandbox(args: &RunArgs) -> Result<Sandbox, Failure> {
    let scope = Scope::new(Leases::memory(), args.plugin.clone());
    for dir in &args.dir {
        if !dir.host.is_dir() {
            return Err(Failure::usage(format!("--dir {}: not a folder", dir.host.display())));
        }
    }
    Ok(Sandbox {
        scope: args.allow.iter().cloned().fold(scope, Scope::allow),
        name: args.component.display().to_string(),
        args: args.args.clone(),
        dirs: args.dir.clone(),
        guest_prints_to_stderr: args.json,
    })
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
            "trap": ended.trap(),
        })
    });
    serde_json::json!({
        "plugin": sandbox.scope.plugin().as_str(),
        "instances": instances.collect::<Vec<_>>(),
    })
}
