//! Two commands of four instances each, which share the sample's import over one backend.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use leases_tests::guests;
use tempfile::TempDir;

use crate::kept::Kept;
use crate::leases;

/// One command, and the threads that read what it prints.
struct Importing {
    child: Child,
    reading: thread::JoinHandle<()>,
    errors: thread::JoinHandle<String>,
}

/// What an instance said of a table: `took`, `imported`, `skipped`.
#[derive(Debug)]
struct Said {
    process: usize,
    what: String,
    table: String,
}

impl Importing {
    /// Starts it; each line that it prints is sent on.
    fn start(process: usize, kept: &Kept, out: &Path, args: &[&str], to: Sender<Said>) -> Self {
        let mut command = leases();
        command.args(["run", "--backend", &kept.url(), "--instances", "4"]);
        command.args(["--allow", "import:*", "--allow", "source:*"]);
        command.arg("--dir").arg(format!("{}::/tables", tables().display()));
        command.arg("--dir").arg(format!("{}::/out", out.display()));
        command.arg(guests::example("importer")).arg("--").args(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let reading = thread::spawn(move || {
            for line in BufReader::new(stdout.expect("piped")).lines() {
                let line = line.expect("UTF-8");
                let mut fields = line.split('\t').map(str::to_owned);
                let (what, table) = (fields.next(), fields.next());
                if let (Some(what), Some(table)) = (what, table) {
                    // Who listened may have heard enough.
                    let _ = to.send(Said { process, what, table });
                }
            }
        });
        let errors = thread::spawn(move || {
            let mut said = String::new();
            stderr.expect("piped").read_to_string(&mut said).expect("UTF-8");
            said
        });
        Importing { child, reading, errors }
    }

    /// Kills it, as `kill -9` does, if it still runs; answers its status if it ended by itself, and
    /// what it said on standard error.
    fn end(mut self, how: End) -> (Option<i32>, String) {
        if how == End::Killed {
            self.child.kill().expect("it is ours");
        }
        let status = self.child.wait().expect("it is ours");
        self.reading.join().expect("no panic");
        (status.code(), self.errors.join().expect("no panic"))
    }
}

#[derive(PartialEq)]
enum End {
    ByItself,
    Killed,
}

/// Two commands that are started at once, and all that they say.
fn two(kept: &Kept, out: &Path, args: &[&str]) -> (Importing, Importing, Receiver<Said>) {
    let (to, said) = channel();
    let first = Importing::start(0, kept, out, args, to.clone());
    let second = Importing::start(1, kept, out, args, to);
    (first, second, said)
}

/// Returns once this process took a table, with what was said until then.
fn took(process: usize, said: &Receiver<Said>) -> Vec<Said> {
    let mut all = Vec::new();
    while !all.iter().any(|said: &Said| (said.process, &*said.what) == (process, "took")) {
        all.push(said.recv().expect("they are at work"));
    }
    all
}

/// The tables of which this process said this.
fn of(process: usize, what: &str, all: &[Said]) -> BTreeSet<String> {
    let said = all.iter().filter(|said| (said.process, &*said.what) == (process, what));
    said.map(|said| said.table.clone()).collect()
}

pub(crate) fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest/examples/importer/tables")
}

/// The tables' names, with how many rows each has.
pub(crate) fn rows() -> Vec<(String, usize)> {
    let entries = fs::read_dir(tables()).expect("the tables").map(|entry| entry.expect("one"));
    let names = entries.map(|entry| entry.file_name().into_string().expect("UTF-8"));
    let rows = |name: &str| {
        let text = fs::read_to_string(tables().join(name)).expect("a table");
        let lines = text.lines().map(str::trim_start);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).count()
    };
    let tables = names.filter(|name| !name.ends_with(".md"));
    tables.map(|name| (name.clone(), rows(&name))).collect()
}

/// Each table has one receipt and all its rows, and nothing is left of an import that did not end.
#[track_caller]
fn assert_exactly_once(out: &Path) {
    let tables = rows();
    assert_eq!(tables.len(), 12);
    for (table, rows) in tables {
        let lines = |extension| {
            let path = out.join(format!("{table}.{extension}"));
            fs::read_to_string(&path).unwrap_or_default().lines().count()
        };
        assert_eq!((lines("receipt"), lines("tsv")), (1, rows), "{table}");
        assert!(!out.join(format!("{table}.rows")).exists(), "{table}");
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Nobody can read from the source before both have taken tables: however late one of them begins,
/// both have a share.
async fn share_exactly_once(kept: Kept) {
    let out = folder();
    let leases = kept.connect().await;
    let source = leases.semaphore("source:tz", 2).expect("a name");
    let places = [source.clone().acquire().await, source.acquire().await];
    let (first, second, said) = two(&kept, out.path(), &["--pace", "20"]);
    let mut all = took(0, &said);
    if of(1, "took", &all).is_empty() {
        all.extend(took(1, &said));
    }
    for place in places {
        assert!(place.expect("it is free").release().await.expect("it answers"));
    }
    for importing in [first, second] {
        assert_eq!(importing.end(End::ByItself), (Some(0), String::new()));
    }
    assert_exactly_once(out.path());
    all.extend(said);
    let imported = [0, 1].map(|process| of(process, "imported", &all));
    assert!(imported.iter().all(|tables| !tables.is_empty()), "{imported:?}");
    assert_eq!(imported.iter().map(BTreeSet::len).sum::<usize>(), 12, "{imported:?}");
}

/// An instance of one of the commands traps in the middle of a table; somebody else imports it.
async fn trap_in_one(kept: Kept) {
    let out = folder();
    let args = ["--pace", "20", "--trap-in", "europe"];
    let (first, second, _said) = two(&kept, out.path(), &args);
    let ends = [first, second].map(|importing| importing.end(End::ByItself));
    let statuses: BTreeSet<_> = ends.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, BTreeSet::from([Some(0), Some(1)]), "one of them trapped: {ends:?}");
    assert_exactly_once(out.path());
}

/// One of two commands is killed while it holds tables, which it is too slow to finish: the other
/// has them when their ttl is over.
async fn kill_one(kept: Kept) {
    let out = folder();
    let (to, said) = channel();
    let slow = ["--ttl", "5", "--batch", "1", "--pace", "500"];
    let first = Importing::start(0, &kept, out.path(), &slow, to.clone());
    let mut all = took(0, &said);
    let second = Importing::start(1, &kept, out.path(), &["--ttl", "5", "--pace", "20"], to);
    all.extend(took(1, &said));
    let (status, _) = first.end(End::Killed);
    assert_eq!(status, None, "it was killed");
    assert_eq!(second.end(End::ByItself), (Some(0), String::new()));
    assert_exactly_once(out.path());
    all.extend(said);
    assert_eq!(of(0, "imported", &all), BTreeSet::new(), "the first was too slow for any");
    assert_eq!(of(1, "imported", &all).len(), 12);
    assert!(of(1, "imported", &all).is_superset(&of(0, "took", &all)));
}

#[tokio::test]
async fn two_commands_share_the_tables_exactly_once_over_redis() {
    share_exactly_once(Kept::in_redis().await).await;
}

#[tokio::test]
async fn two_commands_share_the_tables_exactly_once_over_postgres() {
    share_exactly_once(Kept::in_postgres().await).await;
}

#[tokio::test]
async fn two_commands_share_the_tables_exactly_once_over_mariadb() {
    share_exactly_once(Kept::in_mariadb().await).await;
}

#[tokio::test]
async fn two_commands_share_the_tables_exactly_once_over_sqlite() {
    share_exactly_once(Kept::in_sqlite().await).await;
}

#[tokio::test]
async fn a_trap_in_one_command_costs_no_table_over_redis() {
    trap_in_one(Kept::in_redis().await).await;
}

#[tokio::test]
async fn a_trap_in_one_command_costs_no_table_over_postgres() {
    trap_in_one(Kept::in_postgres().await).await;
}

#[tokio::test]
async fn a_killed_command_costs_no_table_over_redis() {
    kill_one(Kept::in_redis().await).await;
}

#[tokio::test]
async fn a_killed_command_costs_no_table_over_postgres() {
    kill_one(Kept::in_postgres().await).await;
}

#[tokio::test]
async fn a_killed_command_costs_no_table_over_mariadb() {
    kill_one(Kept::in_mariadb().await).await;
}

#[tokio::test]
async fn a_killed_command_costs_no_table_over_sqlite() {
    kill_one(Kept::in_sqlite().await).await;
}
