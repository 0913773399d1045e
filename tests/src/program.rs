//! Another process, which a test starts, listens to and kills.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Another process, which is killed when this is dropped. It says what it does, line by line.
#[derive(Debug)]
pub struct Program {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Program {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let stdout = child.stdout.take().expect("piped");
        Program { child, said: BufReader::new(stdout).lines() }
    }

    /// What it says next, waiting for it.
    pub fn says(&mut self) -> String {
        self.said.next().expect("it says something").expect("UTF-8")
    }

    /// Tells it a line.
    pub fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("piped");
        writeln!(stdin, "{line}").expect("it listens");
    }

    /// Kills it, as `kill -9` does.
    pub fn kill_9(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill_9();
    }
}
