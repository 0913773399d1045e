//! Servers end with those who started them. What Linux alone can do and show.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use leases_tests::servers::{MariaDb, PgBouncer, Postgres, Server, until};
use tempfile::TempDir;

#[tokio::test]
async fn nothing_is_left_of_a_dropped_postgres() {
    let server = Postgres::start().await;
    let _open = server.connection().await;
    nothing_is_left(server).await;
    let server = Postgres::start().await;
    server.pause();
    nothing_is_left(server).await;
}

#[tokio::test]
async fn nothing_is_left_of_a_dropped_mariadb() {
    let server = MariaDb::start().await;
    let _open = server.connection().await;
    nothing_is_left(server).await;
    let server = MariaDb::start().await;
    server.pause();
    nothing_is_left(server).await;
}

#[tokio::test]
async fn a_dropped_pgbouncer_is_gone() {
    let postgres = Postgres::start().await;
    let bouncer = PgBouncer::before(&postgres).await;
    let process = format!("/proc/{}", bouncer.process_id());
    assert!(Path::new(&process).exists());
    drop(bouncer);
    assert!(!Path::new(&process).exists());
}

async fn nothing_is_left(server: impl Deref<Target = Server>) {
    let folder = server.folder().to_owned();
    assert_ne!(working_in(&folder), 0);
    drop(server);
    assert_eq!(working_in(&folder), 0);
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_postgres_dies_with_a_process_that_is_killed() {
    dies_with_its_parent("postgres").await;
}

#[tokio::test]
async fn a_mariadb_dies_with_a_process_that_is_killed() {
    dies_with_its_parent("mariadb").await;
}

async fn dies_with_its_parent(kind: &str) {
    // Who is killed can't delete its server's folder.
    let temporary = TempDir::new().expect("a folder");
    let passable = Permissions::from_mode(0o711);
    fs::set_permissions(temporary.path(), passable).expect("it is ours");
    let mut command = Command::new(env!("CARGO_BIN_EXE_serving"));
    command.arg(kind).env("TMPDIR", temporary.path()).stdout(Stdio::piped());
    let mut parent = command.spawn().expect("it starts");
    let mut said = String::new();
    let mut stdout = BufReader::new(parent.stdout.take().expect("piped"));
    stdout.read_line(&mut said).expect("it says that it is ready");
    assert_ne!(working_in(temporary.path()), 0);
    parent.kill().expect("it is ours");
    parent.wait().expect("it is ours");
    let gone = || async { (working_in(temporary.path()) == 0).then_some(()) };
    until("the server is gone", gone).await;
}

/// How many processes have a folder in this one as their own. One that has ended, and that
/// nobody has asked for its status, has none.
fn working_in(folder: &Path) -> usize {
    let processes = fs::read_dir("/proc").expect("a list of processes");
    let folders = processes.flatten().filter_map(|one| fs::read_link(one.path().join("cwd")).ok());
    folders.filter(|its| its.starts_with(folder)).count()
}
