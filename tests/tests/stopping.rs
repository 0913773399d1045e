//! Case H11: a process that was stopped past its ttl sees itself lost when it goes on, before it
//! does anything else.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The program `stopped`, which holds a lease of half a second.
struct Holder {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Holder {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stopped"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let said = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut holder = Holder { child, said };
        assert_eq!(holder.says(), "held");
        holder
    }

    fn says(&mut self) -> String {
        self.said.next().expect("it says something").expect("UTF-8")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is ours");
    }

    fn told_to_go_on(&mut self) {
        let stdin = self.child.stdin.as_mut().expect("piped");
        stdin.write_all(b"go on\n").expect("it reads");
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Stopped for three ttls: a real sleep, with two ttls of margin.
fn stopped_past_its_ttl(arguments: &[&str]) -> String {
    let mut holder = Holder::start(arguments);
    holder.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(1500));
    holder.told_to_go_on();
    holder.signal(Signal::CONT);
    holder.says()
}

#[test]
fn h11_a_stopped_holder_sees_itself_lost_before_any_effect() {
    assert_eq!(stopped_past_its_ttl(&[]), "lost: expired");
}

#[test]
fn h11_a_stopped_holder_is_not_saved_by_its_keeper() {
    assert_eq!(stopped_past_its_ttl(&["kept"]), "lost: expired");
}

/// What the two above would say if they could not fail.
#[test]
fn a_kept_holder_that_was_not_stopped_goes_on() {
    let mut holder = Holder::start(&["kept"]);
    std::thread::sleep(Duration::from_millis(1500));
    holder.told_to_go_on();
    assert_eq!(holder.says(), "an effect");
}
