//! A private server of any kind: its ports, its folder, its process.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Signal;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::port::Port;
use super::process::Process;
use super::program::Program;
use super::until::until;

/// How often a server that found its port taken is started on another.
const ATTEMPTS: usize = 10;

/// What one kind of server needs.
pub(super) struct Recipe {
    pub(super) program: Program,
    /// How many ports it listens on.
    pub(super) ports: usize,
    /// Writes what it reads into its folder, once, and answers its arguments.
    pub(super) prepare: Prepare,
    /// Whether it is ready, and is what answers on its port: two that raced for a port must not be
    /// taken for each other.
    pub(super) is_ready: fn(Started) -> Ready,
    /// What ends it in order, without waiting for its clients.
    pub(super) stopped_by: Signal,
}

/// One that was started.
pub(super) struct Started {
    pub(super) folder: PathBuf,
    pub(super) port: u16,
    pub(super) process: u32,
}

/// From its folder and its ports to its arguments.
pub(super) type Prepare = Box<dyn Fn(&Path, &[u16]) -> Vec<OsString> + Send + Sync>;

/// Whether it is ready, later.
pub(super) type Ready = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A server process that belongs to one test. It can be killed, paused and restarted; dropped, it
/// is killed and its folder deleted.
pub struct Server {
    recipe: Recipe,
    arguments: Vec<OsString>,
    ports: Vec<Port>,
    // Dropped in this order: a process before its folder.
    process: Mutex<Option<Process>>,
    folder: TempDir,
}

impl Server {
    /// Starts one and waits until it is ready. Panics with its log when it does not become so.
    pub(super) async fn start(recipe: Recipe) -> Self {
        let mut server = Server::prepare(recipe).await;
        for _ in 0..ATTEMPTS {
            match server.run().await {
                Ok(()) => return server,
                Err(log) if log.contains("Address already in use") => {
                    server = Server::prepare(server.recipe).await;
                }
                Err(log) => panic!("{} did not start:\n{log}", server.name()),
            }
        }
        panic!("{} found its port taken {ATTEMPTS} times", server.name())
    }

    /// What it finds in its folder may take a while to make.
    async fn prepare(recipe: Recipe) -> Self {
        match spawn_blocking(|| Server::new(recipe)).await {
            Ok(server) => server,
            Err(error) => resume_unwind(error.into_panic()),
        }
    }

    fn new(recipe: Recipe) -> Self {
        let folder = TempDir::with_prefix("leases-server-").expect("a folder");
        recipe.program.give(folder.path());
        let ports: Vec<_> = (0..recipe.ports).map(|_| Port::reserve()).collect();
        let numbers: Vec<_> = ports.iter().map(Port::number).collect();
        let arguments = (recipe.prepare)(folder.path(), &numbers);
        Server { recipe, arguments, ports, process: Mutex::new(None), folder }
    }

    /// Its log, if it ended instead of becoming ready.
    async fn run(&self) -> Result<(), String> {
        let log = self.log_file();
        let process = Process::spawn(&self.recipe.program, &self.arguments, &log);
        let id = process.id();
        *self.process() = Some(process);
        until("a server is ready", || async {
            if self.has_exited() {
                return Some(Err(self.log()));
            }
            let folder = self.folder().to_owned();
            let started = Started { folder, port: self.port(), process: id };
            (self.recipe.is_ready)(started).await.then_some(Ok(()))
        })
        .await
    }

    /// The port that its clients connect to.
    pub fn port(&self) -> u16 {
        self.ports[0].number()
    }

    /// The port that its like connect to, of one that has two.
    pub(super) fn second_port(&self) -> u16 {
        self.ports[1].number()
    }

    /// The id of its process. Panics while it is down.
    pub fn process_id(&self) -> u32 {
        self.process().as_ref().expect("it runs").id()
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// All that it printed since it was first started.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// Kills it, as `kill -9` of all its processes does. They have ended when this returns.
    pub fn kill_9(&self) {
        *self.process() = None;
    }

    /// Freezes it: its connections stay open, and nothing is answered.
    pub fn pause(&self) {
        self.running(|process| process.pause());
    }

    /// Lets it go on after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.running(|process| process.resume());
    }

    /// Asks it to end, and waits until it has. Also when it was paused.
    pub async fn stop(&self) {
        self.running(|process| process.signal(self.recipe.stopped_by));
        self.resume();
        until("a server ends when it is asked to", || async { self.has_exited().then_some(()) })
            .await;
        *self.process() = None;
    }

    /// Starts it again on the same port, in the same folder, and waits until it is ready. If it
    /// runs, it is [stopped](Self::stop) before.
    pub async fn restart(&self) {
        let runs = self.process().is_some();
        if runs {
            self.stop().await;
        }
        if let Err(log) = self.run().await {
            panic!("{} did not start again:\n{log}", self.name());
        }
    }

    fn has_exited(&self) -> bool {
        self.process().as_mut().is_none_or(|process| process.exit_status().is_some())
    }

    fn running(&self, act: impl FnOnce(&Process)) {
        act(self.process().as_ref().expect("it runs"));
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_file(&self) -> PathBuf {
        self.folder().join("log")
    }

    fn name(&self) -> &str {
        self.recipe.program.name()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on port {}", self.name(), self.port())
    }
}
