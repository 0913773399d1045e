//! Where leases are kept.

mod state_file;

use std::convert::Infallible;
use std::error::Error as _;
use std::fmt;
use std::str::FromStr;

use leases::{Error, ErrorKind, Key, Kind, Leases, LeasesBuilder, Name, Origin};

use crate::environment::{DATABASE_URL, REDIS_URL};
use crate::failure::Failure;
pub(crate) use state_file::StateFile;

/// A backend's URL, as it was typed. It may hold a password, and is never shown.
#[derive(Clone)]
pub(crate) struct BackendUrl(String);

impl FromStr for BackendUrl {
    type Err = Infallible;

    /// Takes whatever was typed: a refusal here would be shown with the URL.
    fn from_str(url: &str) -> Result<Self, Infallible> {
        Ok(BackendUrl(url.to_owned()))
    }
}

impl fmt::Debug for BackendUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackendUrl(***)")
    }
}

/// Connects to what was typed, else to what the environment names, else to memory.
pub(crate) async fn connect(url: Option<&BackendUrl>) -> Result<Leases, Failure> {
    let (named_by, connected) = match url {
        Some(BackendUrl(url)) => ("--backend", Leases::builder_at(url).await),
        None => (named_by_environment(), Leases::builder_from_env().await),
    };
    let connected = connected.map(of_this_process);
    connected.map_err(|error| match error.kind() {
        ErrorKind::Invalid(invalid) => Failure::usage(format_args!("{named_by}: {invalid}")),
        _ => Failure::unavailable(format_args!("{named_by}: not reached: {}", causes(&error))),
    })
}

/// With notes that say by which process a hold is.
fn of_this_process(builder: LeasesBuilder) -> Leases {
    builder.origin(Origin::here()).build()
}

/// Connects for a command whose point is other processes: to what was typed, else to what the
/// environment names, else to the file of this user, whose tables are made.
pub(crate) async fn connect_shared(url: Option<&BackendUrl>) -> Result<Leases, Failure> {
    match (url, state_file(url)?) {
        (_, Some(file)) => file.connect_migrated().await,
        (Some(BackendUrl(url)), None) if url == "memory:" => Err(Failure::usage(
            "--backend: memory: ends with this command, and no other sees it: leave --backend out \
             for a file of this user's, or name one, as sqlite:leases.db",
        )),
        (_, None) => connect(url).await,
    }
}

/// The file that is used where neither an option nor the environment names a backend.
pub(crate) fn state_file(url: Option<&BackendUrl>) -> Result<Option<StateFile>, Failure> {
    let named = ["LEASES_REDIS_URL", "LEASES_DATABASE_URL"].map(std::env::var_os);
    match url.is_some() || named.iter().any(Option::is_some) {
        true => Ok(None),
        false => StateFile::of_this_user().map(Some),
    }
}

fn named_by_environment() -> &'static str {
    match std::env::var_os(REDIS_URL.name) {
        Some(_) => REDIS_URL.name,
        None => DATABASE_URL.name,
    }
}

/// What kind of backend is named, without where it is and who may use it: `redis`. None where it is
/// the default.
pub(crate) fn kind(url: Option<&BackendUrl>) -> Option<String> {
    let url = url.map(|BackendUrl(url)| url.clone());
    let url = url.or_else(|| std::env::var(named_by_environment()).ok())?;
    url.split_once(':').map(|(scheme, _)| scheme.to_owned())
}

/// Fails where the backend can't be used as it is: a database that has no tables, perhaps.
pub(crate) async fn check(leases: &Leases) -> Result<(), Failure> {
    let any = Name::new("leases").map_err(Failure::usage)?;
    let looked = leases.inspect(&Key { kind: Kind::Lease, name: any }).await;
    looked.map(drop).map_err(|error| Failure::unavailable(causes(&error)))
}

/// What lies under an error, the nearest first. Drivers say some of it twice.
pub(crate) fn causes(error: &Error) -> String {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes.dedup();
    causes.join(": ")
}
