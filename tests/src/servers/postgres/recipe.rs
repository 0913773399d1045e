//! How a PostgreSQL process is started, and when it is ready.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::watching;
use crate::servers::program::Program;
use crate::servers::server::{Ready, Recipe, Started};
use crate::servers::template::{self, DATA};

const INSTALLED_BY: &str = "apt-get install postgresql";

/// Where Debian has the programs of each release.
const RELEASES: &str = "/usr/lib/postgresql";

/// Small segments of the log are copied fast.
const INIT: [&str; 8] = [
    "--pgdata=.",
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--wal-segsize=1",
    "--no-sync",
    "--no-instructions",
];

const QUIET: [&str; 10] = [
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    "shared_buffers = 16MB",
    // Files in its folder, instead of memory that would be left behind when it is killed.
    "dynamic_shared_memory_type = mmap",
    "fsync = off",
    // What writes to the log, and when, is up to the tests.
    "wal_level = minimal",
    "max_wal_senders = 0",
    "autovacuum = off",
    "checkpoint_timeout = 1d",
    "timezone = 'UTC'",
];

/// Each commit is on the disk before it is answered.
pub(super) const DURABLE: &[&str] = &[
    "fsync = on",
    // A server that was killed has all of its files put on the disk before it looks at them: at
    // once, where that can be done, as one by one takes seconds.
    #[cfg(target_os = "linux")]
    "recovery_init_sync_method = syncfs",
];

/// A server with these lines added to its configuration.
pub(super) fn server(lines: &[&str]) -> Recipe {
    let folders = newest_release();
    let find = |name| Program::find(name, &folders, INSTALLED_BY).not_as_root();
    let (program, init) = (find("postgres"), find("initdb"));
    let text: String = QUIET.iter().chain(lines).map(|line| format!("{line}\n")).collect();
    let prepare = move |folder: &Path, ports: &[u16]| {
        let data = template::copy(&init, &INIT, folder);
        configure(&data, &format!("port = {}\n{text}", ports[0]));
        vec![OsString::from("-D"), OsString::from(data)]
    };
    // What others are told by TERM, to end without waiting for clients, it is told by INT.
    let stopped_by = Signal::INT;
    Recipe { program, ports: 1, prepare: Box::new(prepare), is_ready, stopped_by }
}

/// The last of two lines about the same counts: these come after what is there already.
fn configure(data: &Path, text: &str) {
    let file = data.join("postgresql.conf");
    let mut file = File::options().append(true).open(file).expect("a configuration");
    file.write_all(text.as_bytes()).expect("a configuration");
}

/// The folder of its programs, if there is one: Debian does not have them on the path.
fn newest_release() -> Vec<PathBuf> {
    let entries = fs::read_dir(RELEASES).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let newest = numbers.filter(|number| bin(*number).join("postgres").is_file()).max();
    newest.map(bin).into_iter().collect()
}

fn bin(release: u32) -> PathBuf {
    Path::new(RELEASES).join(release.to_string()).join("bin")
}

fn is_ready(started: Started) -> Ready {
    Box::pin(async move {
        let status = watching::Status::read(&started.folder.join(DATA));
        status.is_some_and(|status| status.is_ready && status.process == started.process)
    })
}
