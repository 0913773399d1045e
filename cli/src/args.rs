//! What can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand, error::ErrorKind};
use leases::{NamePattern, PluginId};

use crate::backend::BackendUrl;
use crate::completions::CompletionsArgs;
#[cfg(unix)]
use crate::exec::args::{self as exec_args, ExecArgs};
use crate::failure::Failure;
use crate::log;
use crate::looking::{ListArgs, RevokeArgs, ShowArgs};
use crate::manual::ManArgs;
use crate::typed::{self, Typed};
use crate::watch::WatchArgs;

/// Leases, semaphores and fences for programs and the WebAssembly plugins in them.
#[derive(Debug, Parser)]
#[command(name = "leases", version, propagate_version = true)]
pub(crate) struct Cli {
    /// Where leases are kept; without it what LEASES_REDIS_URL says, else LEASES_DATABASE_URL, else
    /// for run memory:, and for the others a file of this user, leases/leases.db in XDG_STATE_HOME
    /// or ~/.local/state
    ///
    ///   memory:                                     this command's own memory
    ///   redis://host:6379/0                         one server
    ///   redis+sentinel://host:26379,host/service/0  the primary that these Sentinels name
    ///   redis+cluster://host:6379,host              a cluster
    ///   postgres://host:5432/database               PostgreSQL
    ///   mysql://host:3306/database                  MySQL or MariaDB
    ///   sqlite:path/to/file                         a file of this machine
    ///
    /// rediss for redis is over TLS. [user][:password]@ may stand before the hosts, and behind a ?
    /// timeout= and retention=, for Redis prefix= and min_replicas=, for databases connections=,
    /// joined by &. The tables in a database are made by `leases migrate`.
    ///
    /// What is typed can be seen by other users of the machine: a password is better off in
    /// LEASES_REDIS_URL or LEASES_DATABASE_URL.
    #[arg(long, global = true, value_name = "URL", verbatim_doc_comment)]
    pub(crate) backend: Option<BackendUrl>,

    /// How log lines and messages on standard error are written. How many there are, LEASES_LOG says:
    /// error, warn (without it), info, debug or trace.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) log: log::Format,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a WASI command component that may use leases on the names you allow.
    ///
    /// Leases are kept where --backend says. In memory, the instances of this command exclude each
    /// other, and other commands do not see them; in Redis, all exclude each other that use the same
    /// one. What is still held when the instances have ended is given back.
    ///
    /// The status is the guest's, and 1 if it trapped or was stopped; with several instances, 1 if any
    /// failed. 64 is bad usage; 65 is a file that is not such a component, or no policy; 69 is a
    /// backend that can't be reached.
    #[command(after_help = "Examples:\n  leases run importer.wasm --plugin importer \
        --allow 'import:*' --instances 8 --dir ./tables::/tables -- --source tz\n  \
        leases run importer.wasm --plugin importer --policy plugins.toml")]
    Run(Box<RunArgs>),

    /// Run a command while holding a name, kept alive.
    #[cfg(unix)]
    #[command(long_about = exec_args::ABOUT, after_help = exec_args::EXAMPLES)]
    Exec(Box<ExecArgs>),

    /// Show who holds and who waits, of every name in use.
    ///
    /// A line for each holder and, behind those of its name, for each waiter in its place. SINCE is how
    /// long it has held or waited; ENDS IN is when the hold ends unless it is refreshed, as most are
    /// all the time; PROCESS is where it runs, where it says so. What would deceive a reader in a name,
    /// an owner or a note is written as its number: \u{202e}.
    ///
    /// Nothing is printed where nothing is in use. What changes while it looks may be seen on one name
    /// and not on another. 64 is bad usage; 69 is a backend that can't be reached.
    #[command(after_help = "Examples:\n  leases list\n  leases list 'import:*' --json")]
    List(ListArgs),

    /// Show who holds a name, by slot, and who waits for it, by place.
    ///
    /// A lease and a semaphore of one name are two things, and both are shown. LIMIT is under how many
    /// places a waiter waits. 64 is bad usage; 69 is a backend that can't be reached.
    #[command(after_help = "Examples:\n  leases show import:42\n  leases show uploads --json")]
    Show(ShowArgs),

    /// Show who holds and who waits, of every name in use, and go on showing it.
    ///
    /// The lines of `leases list` fill the terminal, and change when what they say does. Between two
    /// looks the times go on by this machine's clock. Columns that a narrow terminal has no room for
    /// are left off, FENCE first. Where the backend does not answer, what it said last stays, with a
    /// line that says for how long and why, until it answers again.
    ///
    /// Keys: q, Esc and Ctrl-C end it; r looks at once; the arrows, j, k, PgUp, PgDn, Home and End
    /// scroll. The log is not written while it fills the terminal that it would be written to.
    ///
    /// With --json there is no full screen, but a line for each look: the document of
    /// `leases list --json`, or {"error": "why"} where there was no answer.
    ///
    /// The status is 0, and 128 and the signal's number where a signal has ended it. 64 is bad usage,
    /// and standard output that is no terminal; 69 is a backend that can't be reached, or does not
    /// answer the first look.
    #[command(after_help = "Examples:\n  leases watch\n  leases watch 'import:*' --every 5s\n  \
        leases watch --json | jq '.keys | length'")]
    Watch(WatchArgs),

    /// End holds of a name, whoever has them.
    ///
    /// Their holders are told "revoked": at once over Redis and PostgreSQL, else when they next
    /// refresh, within a third of their ttl. They stop by themselves: guard what they write by their
    /// fences where they may not. Who waits is let in.
    ///
    /// The status is 1 where nobody held it. 64 is bad usage; 69 is a backend that can't be reached, and
    /// that may have ended them.
    #[command(
        after_help = "Examples:\n  leases revoke import:42\n  leases revoke uploads --slot 3"
    )]
    Revoke(RevokeArgs),

    /// Make the tables of a database, or bring them to this version's layout.
    ///
    /// Safe to run from many machines at once, and again. Of a database that a later version has
    /// changed, nothing is touched. Elsewhere than in a database there is nothing to do. Where no
    /// backend is named it is the file of this user, which it names.
    ///
    /// 64 is bad usage; 69 is a backend that can't be reached, or is of a later version.
    #[command(after_help = "Example:\n  leases migrate --backend postgres://app@db.example/app")]
    Migrate(MigrateArgs),

    /// Print what a shell reads to complete what is typed.
    ///
    /// The status is 0. 64 is bad usage.
    #[command(after_help = "Examples:\n  \
        leases completions bash > /etc/bash_completion.d/leases\n  \
        leases completions fish > ~/.config/fish/completions/leases.fish")]
    Completions(CompletionsArgs),

    /// Write the manual's pages, as man reads them.
    ///
    /// The status is 0. 64 is bad usage, and a folder that can't be written to.
    #[command(
        after_help = "Examples:\n  leases man | man -l -\n  leases man /usr/local/share/man/man1"
    )]
    Man(ManArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct MigrateArgs {
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The component: a WebAssembly component that exports wasi:cli/run.
    #[arg(value_name = "COMPONENT.wasm")]
    pub(crate) component: PathBuf,

    /// The plugin's identity: 1 to 64 of A-Z a-z 0-9 . _ -
    #[arg(long, value_name = "ID", default_value = "plugin", value_parser = parse_plugin)]
    pub(crate) plugin: PluginId,

    /// A TOML file of what plugins may do, by their identities; this one must be in it.
    /// Instead of --allow.
    ///
    ///   [plugins.importer]           # what is not granted is denied
    ///   held = 8                     # holds at once, asks under way counted
    ///   waiting = 4                  # asks that wait at once
    ///   acquires-per-second = 50
    ///   ttl-max = "5m"               # 500ms, 30s, 5m, 1h; so are hold-max and wait-max
    ///
    ///   [[plugins.importer.grants]]
    ///   names = "jobs/*"             # one name, or a prefix that ends in *
    ///   primitives = ["semaphore"]   # lease, semaphore, fence; else all three
    ///   prefix = "importer/"         # it sees jobs/1; kept is importer/jobs/1
    ///   limit-max = 4                # of these names, in place of the plugin's
    ///
    /// A plugin has calls-per-second, names-per-day, owner-bytes-max and note-bytes-max too.
    #[arg(long, value_name = "FILE", conflicts_with = "allow", verbatim_doc_comment)]
    pub(crate) policy: Option<PathBuf>,

    /// Names that the plugin may use: one name, or a prefix that ends in *. Without any it may use
    /// none. May be given again.
    #[arg(long, value_name = "PATTERN", value_parser = parse_pattern)]
    pub(crate) allow: Vec<NamePattern>,

    /// How many instances run at once, each in a sandbox of its own: 1 to 1000. Each finds its
    /// number, from 0, in LEASES_INSTANCE.
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) instances: u32,

    /// The most memory of each instance, its linear memories and tables together: 64KiB to 1TiB, as
    /// 64MiB or 1GiB. It is refused more, and most guests trap then. It has at most 10,000 handles,
    /// and hands over at most 2 MiB in one call to the host.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = typed::size)]
    pub(crate) memory_max: Typed<usize>,

    /// The longest that each instance may run, whether it computes or waits: 1ms or more, as 500ms,
    /// 30s, 5m or 1h. At the end of it the instance is stopped wherever it is and counts as failed,
    /// and what it held is given back at once.
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = typed::duration)]
    pub(crate) time_max: Typed<Duration>,

    /// A folder of the host that the guest sees under another path. May be given again.
    #[arg(long, value_name = "HOST::GUEST", value_parser = parse_dir)]
    pub(crate) dir: Vec<SharedDir>,

    /// Serve measures to Prometheus at http://ADDR/metrics while the instances run, as
    /// 127.0.0.1:9464. Whoever reaches the address can read them. With port 0 the system chooses one.
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<SocketAddr>,

    /// Print one JSON document on standard output; what the guest prints goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,

    /// The guest's own arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// A folder of the host and the path under which a guest sees it.
#[derive(Debug, Clone)]
pub(crate) struct SharedDir {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
}

/// What was typed; else the status to end with, once help was shown or one line said why not.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let shown = error.print();
            let asked = error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
            if asked && shown.is_ok() { ExitCode::SUCCESS } else { crate::failure::USAGE.into() }
        }
        _ => {
            let text = error.to_string();
            let why = text.split("\n\n").next().unwrap_or_default();
            Failure::usage(why.strip_prefix("error: ").unwrap_or(why)).report()
        }
    })
}

fn parse_plugin(id: &str) -> Result<PluginId, leases::Invalid> {
    PluginId::new(id)
}

fn parse_pattern(pattern: &str) -> Result<NamePattern, leases::Invalid> {
    NamePattern::new(pattern)
}

fn parse_dir(dir: &str) -> Result<SharedDir, String> {
    match dir.split_once("::") {
        Some((host, guest)) if !host.is_empty() && guest.starts_with('/') => {
            Ok(SharedDir { host: host.into(), guest: guest.to_owned() })
        }
        _ => Err("HOST::GUEST, GUEST starting with /".to_owned()),
    }
}
