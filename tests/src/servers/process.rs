//! One running server process.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::spawner;

/// A program that a server is a process of, and how one gets it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) installed_by: &'static str,
}

/// A process that is killed when this is dropped, and when this process dies.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
}

impl Process {
    /// Starts the program; what it prints is appended to `log`.
    pub(super) fn spawn(program: Program, arguments: &[OsString], log: &Path) -> Self {
        assert!(is_on_path(program.name), "no {}: {}", program.name, program.installed_by);
        let log = File::options().create(true).append(true).open(log).expect("a log file");
        let mut command = dying_with_its_parent(program.name);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a second handle")).stderr(log);
        let child = spawner::spawn(command);
        Process { child: child.unwrap_or_else(|error| panic!("{}: {error}", program.name)) }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is ours");
    }

    /// How it ended, if it has.
    pub(super) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it is ours")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `setpriv` sets the signal and becomes the program, under the same process id. Systems other than
/// Linux have none: there a server outlives a test process that was killed.
fn dying_with_its_parent(program: &str) -> Command {
    if !cfg!(target_os = "linux") {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", program]);
    command
}

fn is_on_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
