//! One thread that starts all servers of this process.
//!
//! A server asks the system to be killed with its parent, and the parent is the *thread* that
//! started it: one of a test's own would end with the test's runtime, before its servers.

use std::io;
use std::process::{Child, Command};
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;

struct Job {
    command: Command,
    started: SyncSender<io::Result<Child>>,
}

static SPAWNER: LazyLock<Sender<Job>> = LazyLock::new(|| {
    let (jobs, todo) = channel::<Job>();
    let run = move || {
        for mut job in todo {
            // Whoever asked waits for it, unless its thread has died meanwhile.
            let _ = job.started.send(job.command.spawn());
        }
    };
    thread::Builder::new().name("servers".into()).spawn(run).expect("a thread");
    jobs
});

/// Starts it from the thread that lives as long as this process.
pub(super) fn spawn(command: Command) -> io::Result<Child> {
    let (started, child) = sync_channel(1);
    SPAWNER.send(Job { command, started }).expect("the spawner never ends");
    child.recv().expect("the spawner answers")
}
