//! One line to standard error, and a status.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

/// Bad usage: an argument that is none, or names something that is not there.
pub(crate) const USAGE: u8 = 64;
/// Bad data: a file that is not what it has to be.
pub(crate) const DATA: u8 = 65;

/// Why the command did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    /// Bad usage.
    pub(crate) fn usage(message: impl Display) -> Self {
        Failure { status: USAGE, message: one_line(message) }
    }

    /// Bad data.
    pub(crate) fn data(message: impl Display) -> Self {
        Failure { status: DATA, message: one_line(message) }
    }

    /// What was to be printed could not be.
    pub(crate) fn output(error: std::io::Error) -> Self {
        Failure { status: 1, message: one_line(format_args!("standard output: {error}")) }
    }

    /// Says why; answers the status to end with.
    pub(crate) fn report(self) -> ExitCode {
        say(&self.message);
        ExitCode::from(self.status)
    }
}

/// One line to standard error. Where nobody reads it, nobody is told.
pub(crate) fn say(line: impl Display) {
    drop(writeln!(std::io::stderr(), "leases: {line}"));
}

/// A message without its line breaks and indentation.
pub(crate) fn one_line(message: impl Display) -> String {
    message.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
