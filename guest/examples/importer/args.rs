//! What the plugin is told: arguments, and the number of its instance.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// The arguments, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Args {
    /// Which of the instances this is, from 0.
    pub(crate) instance: usize,
    /// The host that the tables come from.
    pub(crate) source: String,
    /// The folder of the tables.
    pub(crate) tables: PathBuf,
    /// The folder that the rows go to.
    pub(crate) out: PathBuf,
    /// The ttl of a table's lease; a place at the source has a quarter of it.
    pub(crate) ttl: Duration,
    /// How long to wait for a table that somebody else is at.
    pub(crate) wait: Duration,
    /// How many rows are written at once; at least 1.
    pub(crate) batch_rows: usize,
    /// A pause before each batch, as a slow source would make it.
    pub(crate) pace: Duration,
    /// The table in the middle of which the first instance to be there traps, once.
    pub(crate) trap_in: Option<String>,
}

impl Default for Args {
    fn default() -> Self {
        Args {
            instance: 0,
            source: "tz".to_owned(),
            tables: PathBuf::from("/tables"),
            out: PathBuf::from("/out"),
            ttl: Duration::from_secs(30),
            wait: Duration::from_secs(60),
            batch_rows: 100,
            pace: Duration::ZERO,
            trap_in: None,
        }
    }
}

impl Args {
    /// Reads the arguments, and the instance's number from the environment.
    pub(crate) fn parse(given: impl Iterator<Item = String>) -> Result<Self> {
        let instance = match std::env::var("LEASES_INSTANCE") {
            Ok(number) => parsed("LEASES_INSTANCE", &number)?,
            Err(_) => 0,
        };
        Args { instance, ..Args::default() }.with(given)
    }

    fn with(mut self, mut given: impl Iterator<Item = String>) -> Result<Self> {
        while let Some(name) = given.next() {
            let value = given.next().with_context(|| format!("{name} needs a value"))?;
            self.set(&name, value)?;
        }
        Ok(self)
    }

    fn set(&mut self, name: &str, value: String) -> Result<()> {
        match name {
            "--source" => self.source = value,
            "--tables" => self.tables = PathBuf::from(value),
            "--out" => self.out = PathBuf::from(value),
            "--ttl" => self.ttl = Duration::from_secs(parsed(name, &value)?),
            "--wait" => self.wait = Duration::from_secs(parsed(name, &value)?),
            "--batch" => {
                self.batch_rows = parsed(name, &value)?;
                ensure!(self.batch_rows > 0, "--batch is at least 1");
            }
            "--pace" => self.pace = Duration::from_millis(parsed(name, &value)?),
            "--trap-in" => self.trap_in = Some(value),
            _ => bail!("unknown argument {name}"),
        }
        Ok(())
    }
}

fn parsed<N: FromStr>(name: &str, value: &str) -> Result<N> {
    value.parse().ok().with_context(|| format!("{name} needs a whole number, not {value:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(given: &[&str]) -> Result<Args> {
        Args::default().with(given.iter().map(ToString::to_string))
    }

    #[test]
    fn every_argument_is_read() {
        let args = with(&[
            "--source",
            "mirror",
            "--tables",
            "/t",
            "--out",
            "/o",
            "--ttl",
            "5",
            "--wait",
            "7",
            "--batch",
            "10",
            "--pace",
            "3",
            "--trap-in",
            "europe",
        ]);
        let expected = Args {
            instance: 0,
            source: "mirror".to_owned(),
            tables: PathBuf::from("/t"),
            out: PathBuf::from("/o"),
            ttl: Duration::from_secs(5),
            wait: Duration::from_secs(7),
            batch_rows: 10,
            pace: Duration::from_millis(3),
            trap_in: Some("europe".to_owned()),
        };
        assert_eq!(args.unwrap(), expected);
    }

    #[test]
    fn wrong_arguments_are_named() {
        let message = |given: &[&str]| with(given).unwrap_err().to_string();
        assert_eq!(message(&["--ttl"]), "--ttl needs a value");
        assert_eq!(message(&["--ttl", "-1"]), "--ttl needs a whole number, not \"-1\"");
        assert_eq!(message(&["--batch", "0"]), "--batch is at least 1");
        assert_eq!(message(&["--speed", "9"]), "unknown argument --speed");
    }
}
