//! Running a command while its output is both shown and kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result};

use crate::command;

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) succeeded: bool,
    /// Standard output, then standard error.
    pub(super) output: String,
}

/// Runs it to its end and shows each line as it comes.
pub(super) fn run(command: &mut Command) -> Result<Ended> {
    let line = command::line(command);
    eprintln!("$ {line}");
    let starting = || format!("starting {line}");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(starting)?;
    let stdout = child.stdout.take().with_context(starting)?;
    let stderr = child.stderr.take().with_context(starting)?;
    let (out, err) = thread::scope(|scope| {
        let err = scope.spawn(|| tee(stderr, std::io::stderr()));
        (tee(stdout, std::io::stdout()), err.join())
    });
    let status = child.wait().with_context(|| format!("waiting for {line}"))?;
    let err = err.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(Ended { succeeded: status.success(), output: out + &err })
}

/// Copies line by line, until there is no more, and answers all of it. What can't be shown (the
/// reader is gone) is read all the same, so that the command is not stopped half-way.
fn tee(from: impl Read, mut to: impl Write) -> String {
    let mut all = String::new();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        let _ = to.write_all(&line).and_then(|()| to.flush());
        all.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    all
}
