//! One running server, which may be several processes.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::program::Program;
use super::{spawner, tree};

/// A process that is killed, with all that it started, when this is dropped. When this process
/// dies, it is killed alone.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
}

impl Process {
    /// Starts the program; what it prints is appended to `log`.
    pub(super) fn spawn(program: &Program, arguments: &[OsString], log: &Path) -> Self {
        let log = File::options().create(true).append(true).open(log).expect("a log file");
        let mut command = program.command();
        command.args(arguments).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a second handle")).stderr(log);
        let child = spawner::spawn(command);
        Process { child: child.unwrap_or_else(|error| panic!("{}: {error}", program.name())) }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is ours");
    }

    /// Freezes it and all that it started.
    pub(super) fn pause(&self) {
        self.signal(Signal::STOP);
        // From here on it starts nothing that would not be seen.
        tree::wait_for_the_stop(self.id());
        self.signal_descendants(Signal::STOP);
    }

    /// Lets them all go on.
    pub(super) fn resume(&self) {
        self.signal_descendants(Signal::CONT);
        self.signal(Signal::CONT);
    }

    /// How it ended, if it has.
    pub(super) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it is ours")
    }

    fn signal_descendants(&self, signal: Signal) {
        for process in tree::descendants(self.id()) {
            // It may have ended meanwhile, but its parent is paused: its id is nobody else's.
            let _ = kill_process(process, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.exit_status().is_some() {
            return;
        }
        self.pause();
        let descendants = tree::descendants(self.id());
        self.signal_descendants(Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
        tree::wait_for_the_end(&descendants);
    }
}
