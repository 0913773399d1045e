//! How a MariaDB process is started, and when it is ready.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::watching;
use crate::servers::program::Program;
use crate::servers::server::{Ready, Recipe, Started};
use crate::servers::template::{self, DATA};

const INSTALLED_BY: &str = "apt-get install mariadb-server";

/// Not on the path of every user.
const SERVERS: &str = "/usr/sbin";

/// Who makes the files and who runs the server must be told the same about them. Small ones are
/// copied fast.
const FILES: [&str; 3] = [
    "--innodb-data-file-path=ibdata1:3M:autoextend",
    "--innodb-autoextend-increment=1",
    "--innodb-log-file-size=16M",
];

const INIT: [&str; 6] = [
    "--no-defaults",
    "--datadir=.",
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    "--skip-name-resolve",
    "--innodb-flush-method=nosync",
];

const QUIET: [&str; 12] = [
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    // None: a path to it might be too long.
    "--socket=",
    "--innodb-flush-method=nosync",
    // To the system with each commit, to the disk now and then.
    "--innodb-flush-log-at-trx-commit=2",
    // What the system has to give for it may be used up by others.
    "--innodb-use-native-aio=0",
    "--innodb-temp-data-file-path=ibtmp1:1M:autoextend",
    "--innodb-buffer-pool-size=32M",
    "--skip-innodb-buffer-pool-load-at-startup",
    "--aria-pagecache-buffer-size=8M",
    "--key-buffer-size=1M",
    "--table-open-cache=400",
];

/// Each commit is on the disk before it is answered.
pub(super) const DURABLE: [&str; 2] =
    ["--innodb-flush-log-at-trx-commit=1", "--innodb-flush-method=fsync"];

/// A server with these options added.
pub(super) fn server(options: &[&str]) -> Recipe {
    let folders = [PathBuf::from(SERVERS)];
    let find = |name| Program::find(name, &folders, INSTALLED_BY).not_as_root();
    let (program, init) = (find("mariadbd"), find("mariadb-install-db"));
    let options: Vec<_> =
        FILES.iter().chain(&QUIET).chain(options).copied().map(OsString::from).collect();
    let prepare = move |folder: &Path, ports: &[u16]| {
        let data = template::copy(&init, &[INIT.as_slice(), &FILES].concat(), folder);
        let mut arguments = vec![
            "--no-defaults".into(),
            option("datadir", &data),
            option("tmpdir", &data),
            option("pid-file", &process_file(folder)),
            format!("--port={}", ports[0]).into(),
        ];
        arguments.extend_from_slice(&options);
        arguments
    };
    let stopped_by = Signal::TERM;
    Recipe { program, ports: 1, prepare: Box::new(prepare), is_ready, stopped_by }
}

fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(format!("--{name}="));
    option.push(value);
    option
}

fn process_file(folder: &Path) -> PathBuf {
    folder.join(DATA).join("process")
}

/// It writes its process id when it listens. Told to end before it has answered somebody, it may
/// not notice.
fn is_ready(started: Started) -> Ready {
    Box::pin(async move {
        let process = fs::read_to_string(process_file(&started.folder)).unwrap_or_default();
        let listens = process.trim() == started.process.to_string();
        listens && watching::try_connect(started.port).await.is_ok()
    })
}
