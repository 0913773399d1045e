//! What bounds an instance of `leases run`: its time and its memory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use leases::{Key, Kind, Leases, Name};
use leases_tests::guests;
use leases_tests::program::Program;

use crate::kept::Kept;
use crate::{Ran, leases, probe};

/// How long an instance may run here: for long enough that it has begun.
const TIME_MAX: &str = "2s";
/// How long after its time an instance may be stopped and what it held be taken: on a machine that
/// is busy with other tests. The guest's hold lasts ten minutes.
const MARGIN: Duration = Duration::from_secs(20);

fn run(args: &[&str]) -> Ran {
    Ran::to_its_end(leases().arg("run").arg(probe()).args(args))
}

/// A probe that holds `a` over this backend, and never ends by itself.
fn never_ending(kept: &Kept, args: &[&str]) -> Command {
    let mut command = leases();
    command.args(["run", &probe(), "--backend", &kept.url(), "--allow", "a", "--allow", "b"]);
    command.args(["--time-max", TIME_MAX]).args(args);
    command
}

/// Another process takes what the instance holds as soon as the instance is stopped.
async fn stopped(kept: &Kept, args: &[&str]) -> (Leases, Program) {
    let started = Instant::now();
    let mut command = never_ending(kept, args);
    let mut program = Program::start(command.stderr(Stdio::null()));
    assert_eq!(program.says(), "took");
    let leases = kept.connect().await;
    let next = leases.lease("a").expect("a name").wait(MARGIN);
    assert!(next.try_acquire().await.expect("it answers").is_none(), "the instance holds it");
    let mut held = next.acquire().await.expect("it is given back, long before its ttl");
    assert!(started.elapsed() >= Duration::from_secs(2), "not before its time");
    assert!(held.release().await.expect("it answers"));
    (leases, program)
}

const STOPPED: &str = "leases: instance 0: stopped: it ran for longer than --time-max 2s\n";

#[tokio::test]
async fn an_instance_that_computes_for_ever_is_stopped_at_its_time() {
    let kept = Kept::in_sqlite().await;
    stopped(&kept, &["--", "loop", "a"]).await;
    let ran = Ran::to_its_end(&mut never_ending(&kept, &["--", "loop", "a"]));
    assert_eq!((ran.status, &*ran.out, &*ran.err), (1, "took\n", STOPPED));
}

#[tokio::test]
async fn an_instance_that_waits_in_line_is_stopped_at_its_time() {
    let kept = Kept::in_sqlite().await;
    let leases = kept.connect().await;
    let ttl = Duration::from_secs(600);
    let held = leases.lease("b").expect("a name").ttl(ttl).acquire().await.expect("it is free");
    let (leases, _program) = stopped(&kept, &["--", "wait", "a", "b"]).await;
    let b = Key { kind: Kind::Lease, name: Name::new("b").expect("a name") };
    // It leaves the line beside giving back what it held.
    while !leases.inspect(&b).await.expect("it answers").waiters.is_empty() {
        tokio::task::yield_now().await;
    }
    let ran = Ran::to_its_end(&mut never_ending(&kept, &["--", "wait", "a", "b"]));
    assert_eq!((ran.status, &*ran.out, &*ran.err), (1, "took\n", STOPPED));
    drop(held);
}

/// The host's thread that opens the file waits for a writer, who never comes.
#[cfg(unix)]
#[tokio::test]
async fn an_instance_that_waits_for_a_file_is_stopped_at_its_time() {
    let (kept, folder) = (Kept::in_sqlite().await, tempfile::tempdir().expect("a folder"));
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    assert!(made.expect("it runs").success());
    let dir = format!("{}::/in", folder.path().display());
    let args = ["--dir", &dir, "--", "read", "a", "/in/pipe"];
    stopped(&kept, &args).await;
    let ran = Ran::to_its_end(&mut never_ending(&kept, &args));
    assert_eq!((ran.status, &*ran.out, &*ran.err), (1, "took\n", STOPPED));
}

#[test]
fn a_stopped_instance_is_told_in_json() {
    let args = ["--allow", "a", "--time-max", TIME_MAX, "--json", "--", "loop", "a"];
    let ran = run(&args);
    let expected = r#"{"instances":[{"instance":0,"status":1,"stopped":"it ran for longer than --time-max 2s","trap":null}],"plugin":"plugin"}"#;
    assert_eq!((ran.status, ran.out.trim_end()), (1, expected));
    assert_eq!(ran.err, format!("took\n{STOPPED}"));
}

/// Each of two takes the same name in its turn: it is free when the other has trapped.
#[test]
fn an_instance_that_eats_memory_traps_and_leaves_nothing_behind() {
    let args = ["--allow", "a", "--memory-max", "16MiB", "--instances", "2", "--", "eat", "a"];
    let ran = run(&args);
    assert_eq!((ran.status, &*ran.out), (1, "took\ntook\n"), "{}", ran.err);
    for instance in 0..2 {
        let begins = format!("leases: instance {instance}: trapped: ");
        let line = ran.err.lines().find(|line| line.starts_with(&begins));
        let line = line.unwrap_or_else(|| panic!("instance {instance} trapped: {}", ran.err));
        assert!(
            line.ends_with(", after it was refused memory beyond --memory-max 16MiB"),
            "{line}"
        );
    }
}

#[test]
fn a_guest_that_needs_more_memory_to_begin_does_not_begin() {
    let ran = run(&["--memory-max", "64KiB", "--", "instance"]);
    ran.refused(1, "leases: instance 0: failed: ");
    assert!(ran.err.contains("--memory-max 64KiB"), "{}", ran.err);
}

/// The sample, with nothing but the defaults.
#[test]
fn the_defaults_hinder_no_importer() {
    let out = tempfile::tempdir().expect("a folder");
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest/examples/importer/tables");
    let mut command = leases();
    command.args(["run", "--instances", "4", "--allow", "import:*", "--allow", "source:*"]);
    command.arg("--dir").arg(format!("{}::/tables", tables.display()));
    command.arg("--dir").arg(format!("{}::/out", out.path().display()));
    let ran = Ran::to_its_end(command.arg(guests::example("importer")));
    assert_eq!((ran.status, &*ran.err), (0, ""));
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("imported\t")).count(), 12);
}
