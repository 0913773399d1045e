//! What it ends with, and what the command finds.

use std::io::Write as _;
use std::process::Stdio;

use super::Place;
use crate::Ran;

fn ran(place: &Place, name: &str, args: &[&str], script: &str) -> Ran {
    Ran::to_its_end(&mut place.exec(name, args, script))
}

#[test]
fn the_status_is_the_commands() {
    let place = Place::of_the_user();
    for (script, status) in
        [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137)]
    {
        let ran = ran(&place, "a", &[], script);
        assert_eq!((ran.status, &*ran.out, &*ran.err), (status, "", ""), "{script}");
    }
}

#[test]
fn what_was_not_run_is_told_by_the_status() {
    let place = Place::of_the_user();
    let inner = "\"$LEASES\" exec a --wait 0s -- touch run; echo $? > inner";
    let mut outer = place.exec("a", &[], inner);
    outer.env("LEASES", env!("CARGO_BIN_EXE_leases"));
    assert_eq!(outer.status().expect("it runs").code(), Some(0));
    assert_eq!(place.read("inner"), "75\n");
    assert!(!place.path("run").exists());

    let no_command = |program: &str| {
        Ran::to_its_end(place.leases("exec").args(["a", "--", program]).current_dir(&place.folder))
    };
    no_command("./nowhere").refused(127, "nowhere");
    std::fs::write(place.path("text"), "no program").unwrap();
    no_command("./text").refused(126, "text");
    assert!(place.is_free("a"), "what was taken for it is given back");

    let gone = ["--backend", "redis://127.0.0.1:1?timeout=300ms"];
    ran(&place, "a", &gone, "touch run").refused(69, "not reached");
    assert!(!place.path("run").exists());
}

#[test]
fn bad_usage_is_told_in_one_line() {
    let place = Place::of_the_user();
    for (args, why) in [
        (&["--ttl", "1ms"][..], "10ms to 24h"),
        (&["--ttl", "x"], "--ttl"),
        (&["--limit", "0"], "1 to 1000"),
        (&["--limit", "1001"], "1 to 1000"),
        (&["--wait", "soon"], "--wait"),
        (&["--owner", ""], "1 to 128 bytes"),
        (&["--backend", "memory:"], "no other sees it"),
        (&["--backend", "ftp://x"], "--backend"),
    ] {
        ran(&place, "a", args, "touch run").refused(64, why);
    }
    ran(&place, "", &[], "touch run").refused(64, "1 to 512 bytes");
    Ran::to_its_end(place.leases("exec").arg("a")).refused(64, "CMD");
    let mut homeless = place.exec("a", &[], "touch run");
    homeless.env_remove("XDG_STATE_HOME").env_remove("HOME");
    Ran::to_its_end(&mut homeless).refused(64, "XDG_STATE_HOME");
    assert!(!place.path("run").exists());
}

/// A path that is not absolute counts as none, as the specification has it.
#[test]
fn the_file_is_in_the_home_where_no_state_folder_is_named() {
    let place = Place::of_the_user();
    let mut command = place.exec("a", &[], "true");
    command.env("XDG_STATE_HOME", "relative").env("HOME", place.folder.path());
    assert_eq!(command.status().expect("it runs").code(), Some(0));
    assert!(place.path(".local/state/leases/leases.db").exists());
    assert!(!place.path("relative").exists());
}

#[test]
fn the_command_finds_what_it_holds() {
    let place = Place::of_the_user();
    let script = "echo \"$LEASES_NAME|$LEASES_FENCE|$LEASES_SLOT\"";
    let mut fences = Vec::new();
    for args in [&[][..], &["--limit", "3"]] {
        let ran = ran(&place, "a name: 1", args, script);
        let fields: Vec<&str> = ran.out.trim().split('|').collect();
        assert_eq!((fields[0], fields[2]), ("a name: 1", "0"));
        fences.push(fields[1].parse::<u64>().expect("a number"));
    }
    let again = ran(&place, "a name: 1", &[], script).out;
    assert!(again.split('|').nth(1).unwrap().parse::<u64>().unwrap() > fences[0]);
}

/// Bytes of any kind go through, both ways.
#[test]
fn its_streams_are_the_commands() {
    let place = Place::of_the_user();
    let mut command = place.exec("a", &[], "cat; echo said >&2");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let (mut stdin, written) = (child.stdin.take().unwrap(), bytes.clone());
    let writing = std::thread::spawn(move || stdin.write_all(&written).expect("it reads"));
    let ended = child.wait_with_output().expect("it is ours");
    writing.join().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(ended.stdout == bytes, "{} bytes", ended.stdout.len());
    assert_eq!(ended.stderr, b"said\n");
}

/// By itself it says where it runs.
#[test]
fn who_looks_sees_the_owner_the_note_and_the_process() {
    let place = Place::of_the_user();
    let look = "\"$LEASES\" list --json";
    let mut command = place.exec("a", &["--owner", "me", "--note", "nightly"], look);
    let ran = Ran::to_its_end(command.env("LEASES", env!("CARGO_BIN_EXE_leases")));
    let listed: serde_json::Value = serde_json::from_str(&ran.out).expect("one document");
    let holder = &listed["keys"][0]["holders"][0];
    assert_eq!((&holder["owner"], &holder["note"]), (&"me".into(), &"nightly".into()));
    assert!(holder["process"].as_u64() > Some(1) && holder["host"].is_string(), "{holder}");
}

/// Where nothing is named it makes the file of this user, and says which that is.
#[test]
fn migrate_makes_the_file_of_the_user() {
    let place = Place::of_the_user();
    let file = place.path("state/leases/leases.db");
    for said in ["applied 4 migrations", "nothing to apply"] {
        let ran = Ran::to_its_end(&mut place.leases("migrate"));
        assert_eq!((ran.status, &*ran.err), (0, ""));
        assert_eq!(ran.out, format!("{said} to {}\n", file.display()));
    }
    assert!(place.is_free("a"));
}
