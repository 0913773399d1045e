//! The lock engine that ours is measured beside, in a process of its own.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// A running one. It ends with its input.
#[derive(Debug)]
pub(crate) struct Tinystore {
    _process: Child,
    asks: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Tinystore {
    /// Builds it, where that was not done, and starts it.
    pub(crate) fn start() -> Result<Self> {
        let folder = workspace::root().join("tests/bench/tinystore");
        let target = workspace::target().join("bench-tinystore");
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--release", "--locked", "--quiet"]).current_dir(folder);
        let built = build.arg("--target-dir").arg(&target).status().context("starting cargo")?;
        ensure!(built.success(), "building tinystore's side: {built}");
        let mut run = Command::new(target.join("release/leases-bench-tinystore"));
        let mut process = run.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let asks = process.stdin.take().context("its input")?;
        let answers = BufReader::new(process.stdout.take().context("its output")?).lines();
        Ok(Tinystore { _process: process, asks, answers })
    }

    /// How long it takes to hold its lock and give it back so many times.
    pub(crate) fn hold(&mut self, times: u32) -> Result<Duration> {
        writeln!(self.asks, "{times}")?;
        let answer = self.answers.next().context("tinystore's side has ended")??;
        Ok(Duration::from_nanos(answer.parse()?))
    }
}
