//! `leases exec`.

mod losses;
mod signals;
mod statuses;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

use crate::kept::Kept;
use crate::leases;

const PATIENCE: Duration = Duration::from_secs(30);

/// Where the commands of one test keep leases, and write.
struct Place {
    folder: TempDir,
    kept: Option<Kept>,
}

impl Place {
    /// In the file of a user who never had one.
    fn of_the_user() -> Self {
        Place { folder: tempfile::tempdir().expect("a folder"), kept: None }
    }

    fn on(kept: Kept) -> Self {
        Place { kept: Some(kept), ..Place::of_the_user() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `leases`, in this place.
    fn leases(&self, subcommand: &str) -> Command {
        let mut command = leases();
        command.env("XDG_STATE_HOME", self.path("state")).arg(subcommand);
        if let Some(kept) = &self.kept {
            command.args(["--backend", &kept.url()]);
        }
        command
    }

    /// `leases exec NAME ARGS -- sh -c SCRIPT`, in this place's folder.
    fn exec(&self, name: &str, args: &[&str], script: &str) -> Command {
        let mut command = self.leases("exec");
        command.arg(name).args(args).args(["--", "sh", "-c", script]);
        command.current_dir(self.folder.path());
        command
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits until a file has this in it, and answers all of it.
    #[track_caller]
    fn until_written(&self, name: &str, what: &str) -> String {
        until(&format!("{name} has {what:?}"), || self.read(name).contains(what));
        self.read(name)
    }

    /// Whether the name is free now.
    #[track_caller]
    fn is_free(&self, name: &str) -> bool {
        let ended = self.exec(name, &["--wait", "0s"], "true").status().expect("it runs");
        let code = ended.code();
        assert!(matches!(code, Some(0 | 75)), "{ended}");
        code == Some(0)
    }
}

/// Waits for a condition.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pid(number: u32) -> Pid {
    i32::try_from(number).ok().and_then(Pid::from_raw).expect("a process")
}

fn send(signal: Signal, to: &Child) {
    kill_process(pid(to.id()), signal).expect("it is ours");
}

/// Whether a process is there, and no more than waited for.
fn is_alive(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    let state = stat.ok().and_then(|stat| {
        let (_, behind) = stat.rsplit_once(") ")?;
        behind.chars().next()
    });
    test_kill_process(process).is_ok() && !matches!(state, None | Some('Z' | 'X'))
}

/// The number that a command wrote into a file.
#[track_caller]
fn written_pid(place: &Place, file: &Path) -> Pid {
    let name = file.to_str().expect("UTF-8");
    let written = place.until_written(name, "\n");
    pid(written.trim().parse().expect("a number"))
}
