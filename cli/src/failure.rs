//! One line to standard error, and a status.

use std::fmt::Display;
use std::process::ExitCode;

use tracing::Level;

use crate::log;

/// Bad usage: an argument that is none, or names something that is not there.
pub(crate) const USAGE: u8 = 64;
/// Bad data: a file that is not what it has to be.
pub(crate) const DATA: u8 = 65;
/// A backend that can't be reached.
pub(crate) const UNAVAILABLE: u8 = 69;
/// A fault of the command.
pub(crate) const INTERNAL: u8 = 70;

/// What a status says, of whichever command.
pub(crate) const STATUSES: [(u8, &str); 9] = [
    (0, "What was asked for is done."),
    (
        1,
        "It is not: nobody held what was to be revoked, a guest failed, or standard output could not \
        be written. Of leases run it may be the guest's own status, as any other may.",
    ),
    (USAGE, "Bad usage: an argument that is none, or names something that is not there."),
    (DATA, "Bad data: a file that is not what it has to be."),
    (UNAVAILABLE, "A backend that can't be reached, or does not answer."),
    (INTERNAL, "A fault of the command itself."),
    (NOT_ACQUIRED, "Of leases exec: somebody else holds the name, and the command was not run."),
    (LOST, "Of leases exec: the hold was lost while the command ran, and the command was ended."),
    (
        NOT_FOUND,
        "Of leases exec: there is no such command; 126 where it can't be run. All others are the \
        command's own, 128 + N where signal N ended it.",
    ),
];

/// What was asked for was not to be had in time.
pub(crate) const NOT_ACQUIRED: u8 = 75;
/// A hold was lost.
pub(crate) const LOST: u8 = 76;
/// No such command, as shells say it.
pub(crate) const NOT_FOUND: u8 = 127;

/// Why the command did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    /// Bad usage.
    pub(crate) fn usage(message: impl Display) -> Self {
        Failure::of(USAGE, message)
    }

    /// Bad data.
    pub(crate) fn data(message: impl Display) -> Self {
        Failure::of(DATA, message)
    }

    /// A backend that can't be reached.
    pub(crate) fn unavailable(message: impl Display) -> Self {
        Failure::of(UNAVAILABLE, message)
    }

    /// What was to be printed could not be.
    pub(crate) fn output(error: std::io::Error) -> Self {
        Failure::of(1, format_args!("standard output: {error}"))
    }

    /// The terminal could not be read or written.
    pub(crate) fn terminal(error: std::io::Error) -> Self {
        Failure::of(1, format_args!("terminal: {error}"))
    }

    /// A part of the command has panicked, and said so.
    pub(crate) fn panicked() -> Self {
        Failure::of(INTERNAL, "ended by a panic")
    }

    /// With a status of a command's own.
    pub(crate) fn of(status: u8, message: impl Display) -> Self {
        Failure { status, message: without_login(one_line(message)) }
    }

    /// Says why; answers the status to end with.
    pub(crate) fn report(self) -> ExitCode {
        log::say(Level::ERROR, &self.message);
        ExitCode::from(self.status)
    }
}

/// One line to standard error, of something that went wrong and is not the end. Where nobody reads
/// it, nobody is told.
pub(crate) fn say(line: impl Display) {
    log::say(Level::WARN, &line.to_string());
}

/// A message without its line breaks and indentation.
pub(crate) fn one_line(message: impl Display) -> String {
    message.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text without what stands before the host of a URL in it: a URL that was typed in a wrong
/// place is shown, and its password is not.
pub(crate) fn without_login(text: String) -> String {
    let shown = text.split_once("://").and_then(|(scheme, rest)| {
        let (_, host) = rest.rsplit_once('@')?;
        Some(format!("{scheme}://***@{host}"))
    });
    shown.unwrap_or(text)
}
