//! The servers that tests start: they are installed where that can be done without asking.

use std::env;
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::command;

/// A program that tests run, and the Debian package that has it.
struct Server {
    program: &'static str,
    package: &'static str,
    place: Place,
}

/// Where a program is to be.
#[derive(Clone, Copy)]
enum Place {
    Path,
    /// In a folder of PostgreSQL's releases. On the path, Debian has none, and one that is there is
    /// somebody's own: it counts where there are no packages.
    Release,
}

const SERVERS: [Server; 6] = [
    Server { program: "redis-server", package: "redis-server", place: Place::Path },
    Server { program: "redis-sentinel", package: "redis-sentinel", place: Place::Path },
    Server { program: "postgres", package: "postgresql", place: Place::Release },
    Server { program: "mariadbd", package: "mariadb-server", place: Place::Path },
    Server { program: "pgbouncer", package: "pgbouncer", place: Place::Path },
    // A client whose wall clock is wrong.
    Server { program: "faketime", package: "faketime", place: Place::Path },
];

/// Where Debian has the programs of each release of PostgreSQL, in `bin`.
const POSTGRES_RELEASES: &str = "/usr/lib/postgresql";

/// Installs the packages of the servers that are missing, without starting one. An error, which
/// says what to type, where that needs rights or a package manager that are not there.
pub(crate) fn install() -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = missing.iter().map(|server| server.package).collect();
    let programs: Vec<_> = missing.iter().map(|server| server.program).collect();
    let what = format!("no {}: apt-get install {}", programs.join(", "), packages.join(" "));
    ensure!(is_on_path("apt-get") && is_root()?, "{what}");
    eprintln!("installing {}", packages.join(", "));
    install_packages(&packages).with_context(|| what.clone())?;
    ensure!(self::missing().is_empty(), "{what} did not help");
    Ok(())
}

fn install_packages(packages: &[&str]) -> Result<()> {
    let _policy = Policy::set()?;
    // What is known already may do.
    if let Err(error) = command::run(&mut apt_get(&["update"])) {
        eprintln!("{error:#}");
    }
    let mut install = apt_get(&["install", "--yes", "--no-install-recommends"]);
    command::run(install.args(packages))
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = command::program("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command
}

fn missing() -> Vec<&'static Server> {
    SERVERS.iter().filter(|server| !is_installed(server)).collect()
}

fn is_installed(server: &Server) -> bool {
    match server.place {
        Place::Release if is_on_path("apt-get") => is_in_a_release(server.program),
        Place::Path | Place::Release => is_on_path(server.program),
    }
}

fn is_in_a_release(program: &str) -> bool {
    let mut releases = fs::read_dir(POSTGRES_RELEASES).into_iter().flatten().flatten();
    releases.any(|release| release.path().join("bin").join(program).is_file())
}

/// Debian has some servers where only root's path leads to. Tests find them nevertheless.
fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.any(|folder| folder.join(program).is_file())
}

fn is_root() -> Result<bool> {
    Ok(command::output(command::program("id").arg("-u"))?.trim() == "0")
}

/// While this lives, a package that is installed starts no service: tests start servers of their
/// own. The machine's own policy is left as it is, where it has one.
struct Policy {
    is_ours: bool,
}

const POLICY: &str = "/usr/sbin/policy-rc.d";

impl Policy {
    fn set() -> Result<Self> {
        match File::create_new(POLICY) {
            Ok(file) => {
                let policy = Policy { is_ours: true };
                forbid_all(file).with_context(|| format!("writing {POLICY}"))?;
                Ok(policy)
            }
            Err(_) if Path::new(POLICY).exists() => Ok(Policy { is_ours: false }),
            Err(error) => Err(error).with_context(|| format!("creating {POLICY}")),
        }
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        if self.is_ours
            && let Err(error) = fs::remove_file(POLICY)
        {
            eprintln!("{POLICY} is left behind: {error}");
        }
    }
}

/// 101 means that an action is not allowed.
fn forbid_all(mut file: File) -> io::Result<()> {
    file.write_all(b"#!/bin/sh\nexit 101\n")?;
    file.set_permissions(Permissions::from_mode(0o755))
}
