//! Figures that need a process of their own: this program runs itself.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum as _;
use serde_json::Value;

use crate::Child;
use crate::samples::Samples;

/// What several processes answered, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Answers(Vec<Value>);

impl Answers {
    /// Runs one more.
    pub(crate) fn ask(&mut self, child: Child) -> Result<()> {
        self.0.push(ask(child, &[])?);
        Ok(())
    }

    /// What they answered to one question.
    pub(crate) fn figures(&self, name: &str) -> Result<Samples> {
        let figure = |answer: &Value| answer.get(name).and_then(Value::as_f64);
        let figures: Option<Samples> = self.0.iter().map(figure).collect();
        figures.with_context(|| format!("a child did not answer {name}"))
    }
}

/// Runs one with these environment variables; answers what it does.
pub(crate) fn ask(child: Child, variables: &[(&str, &str)]) -> Result<Value> {
    let own = std::env::current_exe().context("finding this program")?;
    let name = child.to_possible_value().context("a child without a name")?;
    let mut command = Command::new(own);
    command.arg("--child").arg(name.get_name()).envs(variables.iter().copied());
    let output = command.stderr(Stdio::inherit()).output().context("starting a child")?;
    ensure!(output.status.success(), "{} failed: {}", name.get_name(), output.status);
    serde_json::from_slice(&output.stdout).context("reading a child's answer")
}
