//! Signals, from other processes and from a terminal.

use leases_tests::terminal::Terminal;
use rustix::process::Signal;

use super::{Place, send};

/// A script that begins, and ends when it is told by a signal, which it writes.
const LISTENS: &str = "for s in HUP INT QUIT TERM USR1; do trap \"echo $s >> told; exit 3\" $s; done; \
    echo > begun; while :; do sleep 0.05; done";

#[test]
fn signals_are_passed_on() {
    for (signal, name) in [
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::TERM, "TERM"),
        (Signal::USR1, "USR1"),
    ] {
        let place = Place::of_the_user();
        let mut child = place.exec("a", &[], LISTENS).spawn().expect("it runs");
        place.until_written("begun", "\n");
        send(signal, &child);
        assert_eq!(child.wait().expect("it is ours").code(), Some(3), "{name}");
        assert_eq!(place.read("told"), format!("{name}\n"), "once");
        assert!(place.is_free("a"), "at once");
    }
}

/// A command that goes on keeps what it holds.
#[test]
fn a_command_that_goes_on_keeps_its_hold() {
    let place = Place::of_the_user();
    let script =
        "trap 'echo told >> told' INT; echo > begun; while [ ! -e end ]; do sleep 0.05; done";
    let mut child = place.exec("a", &[], script).spawn().expect("it runs");
    place.until_written("begun", "\n");
    for told in ["told\n", "told\ntold\n"] {
        send(Signal::INT, &child);
        place.until_written("told", told);
        assert!(!place.is_free("a"));
    }
    std::fs::write(place.path("end"), "").unwrap();
    assert_eq!(child.wait().expect("it is ours").code(), Some(0));
    assert!(place.is_free("a"));
}

/// While it waits there is no command: it leaves the line, and ends as a signal ends a program.
#[test]
fn a_signal_ends_the_wait() {
    let place = Place::of_the_user();
    let holds = "echo > begun; while [ ! -e end ]; do sleep 0.05; done";
    let mut holder = place.exec("a", &[], holds).spawn().expect("it runs");
    place.until_written("begun", "\n");
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut waiting =
            place.exec("a", &["--wait", "10m"], "touch run").spawn().expect("it runs");
        super::until("it waits", || waits(&place) == 1);
        send(signal, &waiting);
        assert_eq!(waiting.wait().expect("it is ours").code(), Some(status));
        assert_eq!(waits(&place), 0, "its place in line is gone");
    }
    std::fs::write(place.path("end"), "").unwrap();
    assert_eq!(holder.wait().expect("it is ours").code(), Some(0));
    assert!(!place.path("run").exists());
}

fn waits(place: &Place) -> usize {
    let shown = place.leases("show").args(["a", "--json"]).output().expect("it runs");
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("one document");
    shown["keys"][0]["waiters"].as_array().map_or(0, Vec::len)
}

/// Ctrl-C goes to both, and to the command once; the name is free at once.
#[test]
fn an_interrupt_at_the_terminal_ends_both() {
    let place = Place::of_the_user();
    let script = "trap 'echo INT >> told; exit 130' INT; echo begun; while :; do sleep 0.05; done";
    let terminal = Terminal::start(place.exec("a", &[], script), (10, 80), "before");
    terminal.wait_for_text("begun");
    terminal.press("\u{3}");
    let (status, _, text) = terminal.ended();
    assert_eq!(status.code(), Some(130), "{text}");
    assert_eq!(place.read("told"), "INT\n", "once");
    assert!(place.is_free("a"));
}

/// One that does not listen for it ends by it, as without `leases`.
#[test]
fn an_interrupt_ends_a_command_that_does_not_listen() {
    let place = Place::of_the_user();
    let script = "echo begun; exec sleep 60";
    let terminal = Terminal::start(place.exec("a", &[], script), (10, 80), "before");
    terminal.wait_for_text("begun");
    terminal.press("\u{3}");
    let (status, _, text) = terminal.ended();
    assert_eq!(status.code(), Some(130), "{text}");
    assert!(place.is_free("a"));
}

/// The terminal is the command's: it reads what is typed.
#[test]
fn the_command_reads_from_the_terminal() {
    let place = Place::of_the_user();
    let script = "echo ready; read -r line; echo \"got $line\"";
    let terminal = Terminal::start(place.exec("a", &[], script), (10, 80), "before");
    terminal.wait_for_text("ready");
    terminal.press("hello\r");
    terminal.wait_for_text("got hello");
    let (status, _, text) = terminal.ended();
    assert_eq!(status.code(), Some(0), "{text}");
}
