//! The sample plugin, run by `leases run`.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::event::Event;
use super::tables;
use crate::{command, guests, workspace};

/// A pause per batch: without a slow source there would be nothing to share.
const PACE_MS: &str = "20";

/// The plugin and the command that runs it, both built.
#[derive(Debug)]
pub(super) struct Plugin {
    component: PathBuf,
    leases: PathBuf,
    instances: u32,
}

/// What differs from run to run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The folder for the output.
    pub(super) out: &'a Path,
    /// The table in the middle of which one instance traps.
    pub(super) trap_in: Option<&'a str>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Every instance succeeded.
    Well,
    /// At least one failed.
    Failed,
}

impl Plugin {
    /// Builds the plugin and the command.
    pub(super) fn build(instances: u32) -> Result<Self> {
        let component = guests::build_importer()?;
        command::run(&mut command::cargo(["build", "--package", "leases-cli"]))?;
        let name = format!("leases{}", std::env::consts::EXE_SUFFIX);
        let leases = workspace::target().join("debug").join(name);
        Ok(Plugin { component, leases, instances })
    }

    /// How many instances run at once.
    pub(super) fn instances(&self) -> u32 {
        self.instances
    }

    /// Runs every instance to its end and hands on each event as it comes.
    pub(super) fn run(&self, run: &Run<'_>, mut seen: impl FnMut(&Event)) -> Result<Ended> {
        let mut command = self.command(run);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", self.leases.display()))?;
        let lines = child.stdout.take().context("no standard output to read")?;
        for line in BufReader::new(lines).lines() {
            let line = line.context("reading what the instances print")?;
            match Event::read(&line) {
                Some(event) => seen(&event),
                None => println!("{line}"),
            }
        }
        let status = child.wait().context("waiting for the instances")?;
        Ok(if status.success() { Ended::Well } else { Ended::Failed })
    }

    fn command(&self, run: &Run<'_>) -> Command {
        let mut command = command::program(&self.leases);
        command.arg("run").arg(&self.component).args(["--plugin", "importer"]);
        command.args(["--allow", "import:*", "--allow", "source:*"]);
        command.args(["--instances", &self.instances.to_string()]);
        command.arg("--dir").arg(mapped(&tables::folder(), "/tables"));
        command.arg("--dir").arg(mapped(run.out, "/out"));
        command.args(["--", "--pace", PACE_MS]);
        if let Some(table) = run.trap_in {
            command.args(["--trap-in", table]);
        }
        command
    }
}

/// A folder of the host's under the name that the guest sees.
fn mapped(host: &Path, guest: &str) -> OsString {
    let mut mapping = host.as_os_str().to_owned();
    mapping.push("::");
    mapping.push(guest);
    mapping
}
