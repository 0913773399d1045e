//! `leases completions` and `leases man`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use leases_tests::terminal::Terminal;

use crate::{Ran, leases};

const COMMANDS: [&str; 9] =
    ["run", "exec", "list", "show", "watch", "revoke", "migrate", "completions", "man"];

/// A bash in a terminal, that has read what completes the command.
fn bash() -> Terminal {
    let folder = Path::new(env!("CARGO_BIN_EXE_leases")).parent().expect("a folder");
    let path = std::env::var("PATH").expect("it is set");
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-i"]);
    bash.env("PATH", format!("{}:{path}", folder.display()));
    bash.env("INPUTRC", "/dev/null").env("HISTFILE", "/dev/null").env("TERM", "xterm");
    let terminal = Terminal::start(bash, (24, 100), "bash");
    terminal.press("source <(leases completions bash); PS1='ready> '\n");
    terminal.wait_for("its prompt", |screen| {
        screen.contents().lines().any(|line| line.trim_end() == "ready>")
    });
    terminal
}

#[test]
fn bash_completes_what_is_typed() {
    let terminal = bash();
    for (typed, completed) in [
        ("leases li\t", "ready> leases list"),
        ("leases revoke --k\t", "ready> leases revoke --kind"),
        ("leases revoke --kind s\t", "ready> leases revoke --kind semaphore"),
        ("leases watch --e\t", "ready> leases watch --every"),
    ] {
        terminal.press(typed);
        terminal.wait_for(completed, |screen| {
            screen.contents().lines().any(|line| line.trim_end() == completed)
        });
        terminal.press("\u{15}");
    }
}

#[test]
fn there_are_completions_for_every_usual_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = Ran::to_its_end(leases().args(["completions", shell]));
        assert_eq!((ran.status, &*ran.err), (0, ""), "{shell}");
        for command in COMMANDS {
            assert!(ran.out.contains(command), "{shell} knows no {command}");
        }
    }
    Ran::to_its_end(leases().args(["completions", "tcsh"])).refused(64, "tcsh");
}

#[test]
fn the_manual_is_written_to_a_folder_or_its_first_page_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = Ran::to_its_end(leases().arg("man").arg(folder.path()));
    assert_eq!((written.status, &*written.out, &*written.err), (0, "", ""));
    let entries =
        fs::read_dir(folder.path()).expect("it is there").map(|entry| entry.expect("one"));
    let names = entries.map(|entry| entry.file_name().into_string().expect("UTF-8"));
    let mut expected: BTreeSet<_> =
        COMMANDS.iter().map(|command| format!("leases-{command}.1")).collect();
    expected.insert("leases.1".to_owned());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected);
    let first = fs::read_to_string(folder.path().join("leases.1")).expect("it is written");
    assert_eq!(Ran::to_its_end(leases().arg("man")).out, first);
    assert!(first.contains(".TH leases 1"), "{first}");
    let nowhere = folder.path().join("nowhere");
    Ran::to_its_end(leases().arg("man").arg(nowhere)).refused(64, "nowhere");
}
