//! Reaching a backend by a URL.

use std::env;
use std::ffi::OsString;
use std::sync::Arc;

use super::leases::{Leases, LeasesBuilder};
use crate::error::{Error, Operation};
use crate::invalid::{Argument, Invalid};
use crate::memory::{MemoryBackend, MemoryConfig};

/// Where the URL of a Redis is looked for, and of a database where there is none.
const REDIS_URL: &str = "LEASES_REDIS_URL";
const DATABASE_URL: &str = "LEASES_DATABASE_URL";

/// The schemes of databases.
const DATABASES: [&str; 5] = ["postgres", "postgresql", "sqlite", "mysql", "mariadb"];

impl Leases {
    /// Over the backend that a URL names: `memory:` for this process's own memory; with the feature
    /// `redis` what `RedisConfig::from_url` reads; with `postgres`, `sqlite` or `mysql` what
    /// `SqlConfig::from_url` reads.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// let leases = leases::Leases::connect("memory:").await?;
    /// let cron = leases.lease("cron")?.acquire().await?;
    /// # drop(cron); Ok(()) }
    /// ```
    ///
    /// # Errors
    /// - [`Invalid`](crate::ErrorKind::Invalid) for a URL that names no backend of this build. The
    ///   error does not hold the URL: that may hold a password.
    /// - [`Unavailable`](crate::ErrorKind::Unavailable) when the backend did not answer in time.
    ///
    /// # Cancellation
    /// Nothing happened.
    pub async fn connect(url: impl AsRef<str>) -> Result<Self, Error> {
        Ok(Leases::builder_at(url).await?.build())
    }

    /// As [`connect`](Leases::connect), with settings to make before the handle is built.
    ///
    /// # Errors
    /// As for [`connect`](Leases::connect).
    ///
    /// # Cancellation
    /// Nothing happened.
    pub async fn builder_at(url: impl AsRef<str>) -> Result<LeasesBuilder, Error> {
        let url = url.as_ref();
        match url.split_once(':') {
            Some(("memory", "")) => Ok(memory()),
            Some((scheme, _)) if scheme.starts_with("redis") => connect_redis(url).await,
            Some((scheme, _)) if DATABASES.contains(&scheme) => connect_sql(url).await,
            _ => {
                Err(invalid("memory:, or a URL that begins with redis, postgres, mysql or sqlite"))
            }
        }
    }

    /// Over the backend that the environment names: `LEASES_REDIS_URL` where it is set, else
    /// `LEASES_DATABASE_URL`, else memory.
    ///
    /// # Errors
    /// As for [`connect`](Leases::connect). What is set and can't be reached is an error, and never
    /// replaced by memory.
    ///
    /// # Cancellation
    /// Nothing happened.
    pub async fn from_env() -> Result<Self, Error> {
        Ok(Leases::builder_from_env().await?.build())
    }

    /// As [`from_env`](Leases::from_env), with settings to make before the handle is built.
    ///
    /// # Errors
    /// As for [`from_env`](Leases::from_env).
    ///
    /// # Cancellation
    /// Nothing happened.
    pub async fn builder_from_env() -> Result<LeasesBuilder, Error> {
        let read = |name| env::var_os(name).map(OsString::into_string);
        match (read(REDIS_URL), read(DATABASE_URL)) {
            (None, None) => Ok(memory()),
            (Some(Ok(url)), _) if url.starts_with("redis") => connect_redis(&url).await,
            (Some(_), _) => Err(invalid("in LEASES_REDIS_URL a URL that begins with redis")),
            (None, Some(Ok(url))) if is_database(&url) => connect_sql(&url).await,
            (None, Some(_)) => Err(invalid("in LEASES_DATABASE_URL the URL of a database")),
        }
    }
}

fn memory() -> LeasesBuilder {
    Leases::builder(Arc::new(MemoryBackend::new(MemoryConfig::default())))
}

fn is_database(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| DATABASES.contains(&scheme))
}

#[cfg(feature = "redis")]
async fn connect_redis(url: &str) -> Result<LeasesBuilder, Error> {
    use crate::redis::{RedisBackend, RedisConfig};

    let backend = RedisBackend::connect(RedisConfig::from_url(url)?).await?;
    Ok(Leases::builder(Arc::new(backend)))
}

#[cfg(not(feature = "redis"))]
async fn connect_redis(_url: &str) -> Result<LeasesBuilder, Error> {
    Err(invalid("a build with the feature redis"))
}

#[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
async fn connect_sql(url: &str) -> Result<LeasesBuilder, Error> {
    use crate::sql::{SqlBackend, SqlConfig};

    let backend = SqlBackend::connect(SqlConfig::from_url(url)?).await?;
    Ok(Leases::builder(Arc::new(backend)))
}

#[cfg(not(any(feature = "postgres", feature = "sqlite", feature = "mysql")))]
async fn connect_sql(_url: &str) -> Result<LeasesBuilder, Error> {
    Err(invalid("a build with the feature postgres, sqlite or mysql"))
}

fn invalid(wanted: &'static str) -> Error {
    Error::invalid(Invalid::new(Argument::Backend, format!("needs {wanted}")), Operation::Connect)
}
