//! What can be typed after `exec`.

use std::ffi::OsString;
use std::time::Duration;

use leases::{Invalid, Limit, MaxHold, Name, Note, Owner, Ttl, TtlBounds};

pub(crate) const ABOUT: &str = "\
Run a command while holding a name, kept alive.

The command begins once the name is held, and is given LEASES_NAME, LEASES_FENCE (the number of the \
grant) and LEASES_SLOT (of a permit; 0 of a lease). Standard input, output and error are the \
command's, and so is the terminal. When it has ended the name is given back, whatever it left \
running.

HUP, INT, QUIT, TERM, USR1 and USR2 are passed on to the command, unless they were ignored when \
this began. Not passed on is what the command has got already: the terminal's INT and QUIT, which \
go to all in the foreground, and what it sent itself. What is sent to a whole process group by kill \
reaches it twice. While the name is waited for, any of them ends the wait.

Once the hold is lost (expired, revoked, superseded by the same owner, at its --max-hold, or not \
confirmed in time) the command gets TERM, and KILL after 5 s. On Linux it gets KILL too when this \
is killed itself; the name is then held until its ttl ends it. Both reach the command alone, not \
what it started: in a script, exec the last step. While this is stopped, nothing is refreshed.

The status is the command's, and 128 + N where signal N ended it. 75: not acquired. 76: lost, even \
if the command succeeded. 69: a backend that can't be reached. 64: bad usage. 127: no such command. \
126: one that can't be run.";

pub(crate) const EXAMPLES: &str = "Examples:
  leases exec nightly-report --wait 0s -- ./report.sh
  leases exec downloads --limit 4 --wait 10m -- curl -fsSO https://example.org/a.iso
  leases exec deploy --owner \"$HOSTNAME\" --max-hold 1h --backend redis://cache:6379/0 -- make deploy";

#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// The name: 1 to 512 bytes without control characters.
    #[arg(value_name = "NAME", value_parser = name)]
    pub(super) name: Name,

    /// Take one of so many places of the name, 1 to 1000, in place of its lease. The lease of a name
    /// and its places are two different things: let all who share it say the same.
    #[arg(long, value_name = "N", value_parser = limit)]
    pub(super) limit: Option<Limit>,

    /// How long the name stays held when nobody refreshes it any more: 10ms to 24h, as 500ms, 30s, 5m
    /// or 1h. It is refreshed three times in each.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = ttl)]
    pub(super) ttl: Ttl,

    /// How long to wait in line for it. 0s is one attempt.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub(super) wait: Duration,

    /// The longest that the command may hold it, 10ms to 30d: then it is ended.
    #[arg(long, value_name = "DURATION", value_parser = max_hold)]
    pub(super) max_hold: Option<MaxHold>,

    /// Who holds, 1 to 128 bytes. The same owner takes it from its own earlier command at once,
    /// which is ended.
    #[arg(long, value_name = "TEXT", value_parser = owner)]
    pub(super) owner: Option<Owner>,

    /// For people who look at who holds what: at most 256 bytes.
    #[arg(long, value_name = "TEXT", value_parser = note)]
    pub(super) note: Option<Note>,

    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

fn name(text: &str) -> Result<Name, Invalid> {
    Name::new(text)
}

fn limit(text: &str) -> Result<Limit, String> {
    let limit = text.parse().ok().and_then(|limit| Limit::new(limit).ok());
    limit.ok_or_else(|| format!("1 to {}", leases::LIMIT_MAX))
}

fn ttl(text: &str) -> Result<Ttl, String> {
    let ttl = Ttl::new(duration(text)?, TtlBounds::default());
    ttl.map_err(|_| "10ms to 24h, as 500ms, 30s, 5m or 1h".to_owned())
}

fn max_hold(text: &str) -> Result<MaxHold, String> {
    let max_hold = MaxHold::new(duration(text)?, TtlBounds::default());
    max_hold.map_err(|_| "10ms to 30d, as 500ms, 30s, 5m or 1h".to_owned())
}

fn owner(text: &str) -> Result<Owner, Invalid> {
    Owner::new(text)
}

fn note(text: &str) -> Result<Note, Invalid> {
    Note::new(text)
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "as 0s, 500ms, 30s, 5m or 1h".to_owned())
}
