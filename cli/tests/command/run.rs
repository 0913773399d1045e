//! `leases run`, as it is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use leases_tests::guests;

use crate::{Ran, leases, probe};

fn run(args: &[&str]) -> Ran {
    Ran::to_its_end(leases().arg("run").args(args))
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, bytes).expect("it is written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn without_allow_every_operation_is_denied() {
    for operation in ["lease", "semaphore", "admit", "current"] {
        let ran = run(&[&probe(), "--", operation, "import:a"]);
        assert_eq!((ran.status, &*ran.out), (1, ""), "{operation}");
        assert_eq!(
            ran.err,
            format!("probe: {operation}: denied: this plugin may not use this name\n"),
        );
    }
}

#[test]
fn allow_gives_exactly_its_names() {
    let allowed = |operation, name| run(&[&probe(), "--allow", "import:*", "--", operation, name]);
    for (operation, said) in [
        ("lease", "fence "),
        ("semaphore", "slot 0\n"),
        ("admit", "Admitted\n"),
        ("current", "None\n"),
    ] {
        let ran = allowed(operation, "import:a");
        assert_eq!((ran.status, &*ran.err), (0, ""), "{operation}");
        assert!(ran.out.starts_with(said), "{operation}: {}", ran.out);
        let ran = allowed(operation, "export:a");
        assert_eq!((ran.status, &*ran.out), (1, ""), "{operation}");
        assert!(ran.err.contains("denied"), "{operation}: {}", ran.err);
    }
}

#[test]
fn each_instance_has_its_number() {
    let ran = run(&[&probe(), "--instances", "4", "--", "instance"]);
    let mut numbers: Vec<&str> = ran.out.lines().collect();
    numbers.sort_unstable();
    assert_eq!((ran.status, numbers), (0, vec!["0", "1", "2", "3"]));
}

/// One of two instances waits for what the other traps with: it gets it long before the ttl.
#[test]
fn a_trapped_instance_leaves_nothing_behind() {
    let started = std::time::Instant::now();
    let ran = run(&[&probe(), "--allow", "a", "--instances", "2", "--", "trap", "a"]);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.err.matches("trapped: ").count(), 2, "both held it in turn: {}", ran.err);
    assert!(started.elapsed().as_secs() < 9, "the second did not wait for a ttl of 30 s");
}

/// The guest sleeps for three ttls in one call, and the host refreshes for it.
#[test]
fn a_guests_hold_is_kept_alive() {
    let ran = run(&[&probe(), "--allow", "a", "--instances", "2", "--", "hold", "a"]);
    assert_eq!((ran.status, &*ran.out, &*ran.err), (0, "lost: None\nlost: None\n", ""));
}

/// The guest's function succeeds, and its hold was lost meanwhile.
#[test]
fn a_guests_hold_fails_when_it_was_lost() {
    let ran = run(&[&probe(), "--allow", "a", "--", "outlast", "a"]);
    ran.refused(1, "probe: outlast: lost: reached its max-hold");
}

/// More instances compute than there are cores, each without a call to the host for three ttls.
#[test]
fn guests_that_compute_starve_no_hold() {
    let cores = std::thread::available_parallelism().map_or(4, usize::from);
    let instances = (2 * cores + 1).to_string();
    let ran = run(&[&probe(), "--allow", "a", "--instances", &instances, "--", "busy", "a"]);
    assert_eq!((ran.status, &*ran.err), (0, ""));
    assert_eq!(ran.out.matches("lost: None").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("computed").count(), 2 * cores, "{}", ran.out);
}

#[test]
fn json_is_one_document_on_standard_output() {
    let ran = run(&[&probe(), "--json", "--plugin", "p", "--instances", "2", "--", "instance"]);
    let expected = r#"{"instances":[{"instance":0,"status":0,"stopped":null,"trap":null},{"instance":1,"status":0,"stopped":null,"trap":null}],"plugin":"p"}"#;
    assert_eq!((ran.status, ran.out.trim_end()), (0, expected));
    assert_eq!(ran.err.lines().count(), 2, "what the guests print: {}", ran.err);
}

/// Whoever read standard output or standard error has gone away: a status, and no panic.
#[test]
fn a_closed_output_is_no_panic() {
    let probe = probe();
    let closed = |shell: &str| {
        let command = format!("{} run \"$0\" --json {shell}", env!("CARGO_BIN_EXE_leases"));
        let output = Command::new("sh").args(["-c", &command, &probe]).output().expect("it runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let (status, err) = closed("-- instance > /dev/full");
    assert_eq!(status, Some(1), "{err}");
    assert!(err.contains("leases: standard output: "), "{err}");
    let (status, _) = closed("--plugin a/b 2> /dev/full");
    assert_eq!(status, Some(64));
}

#[test]
fn bad_usage_is_64_and_one_line_that_names_the_bound() {
    let probe = probe();
    let long = "x".repeat(513);
    for (args, why) in [
        (vec!["--allow", ""], "pattern: 1 to 512 bytes, not 0"),
        (vec!["--allow", &long], "pattern: 1 to 512 bytes, not 513"),
        (vec!["--allow", "a\nb"], r"pattern: no control characters, but '\n' at byte 1"),
        (vec!["--allow", "a*b"], "pattern: a * only at the end"),
        (vec!["--plugin", "a/b"], "plugin: 1 to 64 of A-Z a-z 0-9 . _ -"),
        (vec!["--instances", "0"], "0 is not in 1..=1000"),
        (vec!["--instances", "1001"], "1001 is not in 1..=1000"),
        (vec!["--instances", "-1"], "-1"),
        (vec!["--memory-max", "much"], "64KiB to 1TiB, as 64MiB or 1GiB"),
        (vec!["--memory-max", "63KiB"], "64KiB to 1TiB"),
        (vec!["--memory-max", "2TiB"], "64KiB to 1TiB"),
        (vec!["--memory-max", "-1"], "-1"),
        (vec!["--time-max", "soon"], "1ms or more, as 500ms, 30s, 5m or 1h"),
        (vec!["--time-max", "0s"], "1ms or more"),
        (vec!["--dir", "here"], "HOST::GUEST"),
        (vec!["--dir", "no-such-folder::/in"], "no-such-folder: not a folder"),
        (vec!["--no-such-flag"], "--no-such-flag"),
    ] {
        run(&[&[&*probe], &*args].concat()).refused(64, why);
    }
    run(&["no-such-file.wasm"]).refused(64, "no-such-file.wasm: ");
    run(&[]).refused(64, "COMPONENT.wasm");
}

#[test]
fn a_file_that_is_no_such_component_is_65() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = wat::parse_str("(module)").expect("a module");
    let foreign =
        wat::parse_str(r#"(component (import "not:ours/thing" (instance (export "f" (func)))))"#);
    let newer = wat::parse_str(
        r#"(component (import "leases:plugin/lease@0.9.0" (instance (export "f" (func)))))"#,
    );
    for (name, bytes, why) in [
        ("text.wasm", b"not wasm at all".to_vec(), "text.wasm: "),
        ("empty.wasm", Vec::new(), "empty.wasm: "),
        ("module.wasm", module, "module.wasm: "),
        ("foreign.wasm", foreign.expect("a component"), "not:ours/thing"),
        ("newer.wasm", newer.expect("a component"), "leases:plugin/lease@0.9.0"),
    ] {
        run(&[&file(folder.path(), name, &bytes)]).refused(65, why);
    }
    let no_command = guests::example("forward");
    run(&[no_command.to_str().expect("UTF-8")]).refused(65, "wasi:cli/run");
}

/// What a guest is told of its own bad input: the bound, in one line.
#[test]
fn a_guests_bad_names_are_named() {
    let long = "x".repeat(513);
    for (name, why) in [
        ("", "invalid name: 1 to 512 bytes, not 0"),
        (&*long, "invalid name: 1 to 512 bytes, not 513"),
        ("a\tb", r"invalid name: no control characters, but '\t' at byte 1"),
    ] {
        let ran = run(&[&probe(), "--allow", "*", "--", "lease", name]);
        ran.refused(1, why);
    }
}

#[test]
fn help_names_units_and_an_example() {
    let ran = run(&["--help"]);
    assert_eq!(ran.status, 0);
    for said in ["1 to 1000", "Examples:", "--allow", "64 is bad usage", "redis://host:6379/0"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
}
