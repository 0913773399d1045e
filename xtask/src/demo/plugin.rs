//! The sample plugin, run by `leases run`.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use anyhow::{Context, Result, ensure};

use super::event::Event;
use super::tables;
use crate::{command, guests, workspace};

/// A pause per batch: without a slow source there would be nothing to share.
const PACE_MS: &str = "20";

/// What `leases run` ends with when it could not begin: at least this.
const COULD_NOT_BEGIN: i32 = 64;

/// The plugin and the command that runs it, both built, and how they are run.
pub(super) struct Plugin {
    component: PathBuf,
    leases: PathBuf,
    processes: Processes,
}

/// How many processes share the work, and where their leases are. That may hold a password.
pub(super) struct Processes {
    /// How many there are.
    pub(super) count: u32,
    /// How many instances each of them runs at once.
    pub(super) instances: u32,
    /// The URL of their backend.
    pub(super) backend: String,
}

impl fmt::Display for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Processes { count, instances, .. } = self;
        match count {
            1 => write!(f, "{instances} instances"),
            several => write!(f, "{several} processes of {instances} instances"),
        }
    }
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
    pub(super) fn build(processes: Processes) -> Result<Self> {
        let component = guests::build_importer()?;
        command::run(&mut command::cargo(["build", "--package", "leases-cli"]))?;
        let name = format!("leases{}", std::env::consts::EXE_SUFFIX);
        let leases = workspace::target().join("debug").join(name);
        // Of a database it makes the tables. The command is not shown: it may hold a password.
        let mut migrate = command::program(&leases);
        migrate.args(["migrate", "--backend", &processes.backend]).stdout(Stdio::null());
        let status = migrate.status().with_context(|| format!("starting {}", leases.display()))?;
        ensure!(status.success(), "`leases migrate` failed: {status}");
        Ok(Plugin { component, leases, processes })
    }

    /// How the instances are run.
    pub(super) fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Runs every instance to its end and hands on each event as it comes, whichever process it is
    /// from. Instances are counted on from process to process.
    pub(super) fn run(&self, run: &Run<'_>, mut seen: impl FnMut(&Event)) -> Result<Ended> {
        let mut running = Running::default();
        for _ in 0..self.processes.count {
            let mut command = self.command(run);
            let child = command.stdout(Stdio::piped()).spawn();
            let child = child.with_context(|| format!("starting {}", self.leases.display()))?;
            running.0.push(child);
        }
        let (to, said) = channel();
        let mut first_instance = 0;
        for child in &mut running.0 {
            let stdout = child.stdout.take().context("no standard output to read")?;
            let to = to.clone();
            thread::spawn(move || read(stdout, first_instance, &to));
            first_instance += self.processes.instances;
        }
        drop(to);
        for line in said {
            match line.context("reading what the instances print")? {
                Said::Event(event) => seen(&event),
                Said::Other(line) => println!("{line}"),
            }
        }
        running.ended()
    }

    fn command(&self, run: &Run<'_>) -> Command {
        let Processes { instances, backend, .. } = &self.processes;
        let mut command = command::program(&self.leases);
        command.arg("run").arg(&self.component).args(["--plugin", "importer"]);
        command.args(["--backend", backend]);
        command.args(["--allow", "import:*", "--allow", "source:*"]);
        command.args(["--instances", &instances.to_string()]);
        command.arg("--dir").arg(mapped(&tables::folder(), "/tables"));
        command.arg("--dir").arg(mapped(run.out, "/out"));
        command.args(["--", "--pace", PACE_MS]);
        if let Some(table) = run.trap_in {
            command.args(["--trap-in", table]);
        }
        command
    }
}

/// The processes of a run. Those that have not ended when it is given up are killed.
#[derive(Default)]
struct Running(Vec<Child>);

impl Running {
    /// Waits for all of them.
    fn ended(mut self) -> Result<Ended> {
        let wait = |child: &mut Child| child.wait().context("waiting for the instances");
        let ends = self.0.iter_mut().map(wait).collect::<Result<Vec<_>>>()?;
        let began = |end: &ExitStatus| end.code().is_none_or(|code| code < COULD_NOT_BEGIN);
        ensure!(ends.iter().all(began), "`leases run` could not begin");
        Ok(if ends.iter().all(ExitStatus::success) { Ended::Well } else { Ended::Failed })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Of one that has ended already this does nothing.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// One line of a process.
enum Said {
    Event(Event),
    Other(String),
}

/// Sends on each line of a process whose instances are counted from this number on.
fn read(stdout: ChildStdout, first_instance: u32, to: &Sender<io::Result<Said>>) {
    for line in BufReader::new(stdout).lines() {
        let said = line.map(|line| match Event::read(&line) {
            Some(Event { table, instance, kind }) => {
                Said::Event(Event { table, instance: first_instance + instance, kind })
            }
            None => Said::Other(line),
        });
        if to.send(said).is_err() {
            return;
        }
    }
}

/// A folder of the host's under the name that the guest sees.
fn mapped(host: &Path, guest: &str) -> OsString {
    let mut mapping = host.as_os_str().to_owned();
    mapping.push("::");
    mapping.push(guest);
    mapping
}
