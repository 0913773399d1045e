//! Reading a database's URL: what is ours behind the `?`, and the rest, which is the driver's.

use std::time::Duration;

#[cfg(any(feature = "postgres", feature = "mysql"))]
use url::Url;
use url::form_urlencoded;

use super::config::{Database, SqlConfig};
use crate::invalid::{Argument, Invalid};

#[cfg(feature = "mysql")]
use super::mysql;
#[cfg(feature = "postgres")]
use super::postgres;
#[cfg(feature = "sqlite")]
use super::sqlite;

pub(super) type Read<T> = Result<T, Invalid>;

/// The parameters that every database has.
const OURS: [&str; 3] = ["timeout", "retention", "connections"];

pub(super) fn parse(url: &str) -> Read<SqlConfig> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let (url, [ours, theirs]) = split(url, &postgres::OURS)?;
            let settings = postgres::Settings::read(&url, &theirs)?;
            set_all(SqlConfig::new(Database::Postgres(settings)), &ours)
        }
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
            let [ours, theirs, rest] = divide(query, &sqlite::OURS);
            if !rest.is_empty() {
                return Err(invalid("mode, timeout, retention and connections behind the ?"));
            }
            let settings = sqlite::Settings::read(path, &theirs)?;
            set_all(SqlConfig::new(Database::Sqlite(settings)), &ours)
        }
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => {
            let (url, [ours, _]) = split(url, &[])?;
            let settings = mysql::Settings::read(&url)?;
            set_all(SqlConfig::new(Database::MySql(settings)), &ours)
        }
        _ => {
            let _ = rest;
            Err(invalid(SCHEMES))
        }
    }
}

/// What can be asked for.
const SCHEMES: &str =
    match (cfg!(feature = "postgres"), cfg!(feature = "sqlite"), cfg!(feature = "mysql")) {
        (true, true, true) => "a scheme of a database: postgres, sqlite, mysql or mariadb",
        (true, true, false) => "a scheme of a database that this build has: postgres or sqlite",
        (true, false, true) => {
            "a scheme of a database that this build has: postgres, mysql or mariadb"
        }
        (false, true, true) => {
            "a scheme of a database that this build has: sqlite, mysql or mariadb"
        }
        (true, false, false) => "a scheme of a database that this build has: postgres",
        (false, true, false) => "a scheme of a database that this build has: sqlite",
        _ => "a scheme of a database that this build has: mysql or mariadb",
    };

/// What stands behind the `?`.
pub(super) type Parameters = Vec<(String, String)>;

/// The URL without the parameters that are all databases' and those that are this one's; and both.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn split(url: &str, its: &[&str]) -> Read<(Url, [Parameters; 2])> {
    let mut url = Url::parse(url).map_err(|_| invalid("a URL such as postgres://host/database"))?;
    let [ours, theirs, rest] = divide(url.query().unwrap_or_default(), its);
    url.set_query(None);
    if !rest.is_empty() {
        url.query_pairs_mut().extend_pairs(rest);
    }
    Ok((url, [ours, theirs]))
}

/// The parameters that are all databases', those that are this one's, and the rest.
fn divide(query: &str, its: &[&str]) -> [Parameters; 3] {
    let (mut ours, mut theirs, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in form_urlencoded::parse(query.as_bytes()).into_owned() {
        let list = match &*name {
            name if OURS.contains(&name) => &mut ours,
            name if its.contains(&name) => &mut theirs,
            _ => &mut rest,
        };
        list.push((name, value));
    }
    [ours, theirs, rest]
}

fn set_all(config: SqlConfig, parameters: &[(String, String)]) -> Read<SqlConfig> {
    parameters.iter().try_fold(config, |config, (name, value)| {
        Ok(match &**name {
            "timeout" => config.request_timeout(duration(name, value)?),
            "retention" => config.retention(duration(name, value)?),
            _ => config.connections(value.parse().map_err(|_| invalid("a number of connections"))?),
        })
    })
}

fn duration(name: &str, value: &str) -> Read<Duration> {
    let duration = humantime::parse_duration(value).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| {
        Invalid::new(Argument::Backend, format!("{name} as 500ms, 3s, 5m or 24h, not {value:?}"))
    })
}

/// What is wanted in the URL. Never what stands there: that may be a password.
pub(super) fn invalid(wanted: &'static str) -> Invalid {
    Invalid::new(Argument::Backend, format!("needs {wanted}"))
}
