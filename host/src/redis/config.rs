//! What a Redis backend can be told.

use std::fmt;
use std::time::Duration;

use super::url;
use crate::clock::{Clock, ManualClock};
use crate::error::{Error, Operation};
use crate::invalid::{Argument, Invalid};

const PREFIX_BYTES_MAX: usize = 256;

/// The settings of a Redis backend.
///
/// With access control lists, its user needs the commands `+eval +evalsha +get +set +del +hget
/// +hset +hmget +hdel +zadd +zrem +zcard +zrank +zrange +zrangebyscore +zscore +pexpire +time
/// +publish +subscribe +unsubscribe +ping +hello` on the keys and channels of its prefix
/// (`~leases:* &leases:*`); `+client|info +client|kill` too, so that a connection that was given up
/// is surely ended; in a cluster `+cluster|slots +spublish +ssubscribe +sunsubscribe`; for
/// `min_replicas` also `+wait`; for a database other than 0 `+select`. An operator, who lists what is in
/// use, needs `+scan +getrange` too, and `+client|tracking` to be told of changes.
///
/// ```
/// use leases::RedisConfig;
/// use std::time::Duration;
///
/// let config = RedisConfig::from_url("redis://app:secret@db.example/0?prefix=app:")?
///     .request_timeout(Duration::from_secs(1));
/// assert!(!format!("{config:?}").contains("secret"));
/// # Ok::<(), leases::Error>(())
/// ```
#[derive(Clone)]
pub struct RedisConfig {
    pub(super) servers: Servers,
    pub(super) tls: bool,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
    pub(super) prefix: String,
    pub(super) request_timeout: Duration,
    pub(super) retention: Duration,
    pub(super) min_replicas: u32,
    pub(super) told_time: Option<Clock>,
}

/// Where Redis is.
#[derive(Debug, Clone)]
pub(super) enum Servers {
    Single(Address),
    Sentinel { sentinels: Vec<Address>, service: String },
    Cluster(Vec<Address>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
}

impl RedisConfig {
    pub(super) fn new(servers: Servers) -> Self {
        RedisConfig {
            servers,
            tls: false,
            user: None,
            password: None,
            database: 0,
            prefix: "leases:".to_owned(),
            request_timeout: Duration::from_secs(3),
            retention: Duration::from_secs(24 * 60 * 60),
            min_replicas: 0,
            told_time: None,
        }
    }

    /// Reads a URL:
    ///
    /// - `redis://[user][:password]@host[:6379][/database]`, one server;
    /// - `redis+sentinel://[user][:password]@host[:26379],…/service[/database]`, the primary that
    ///   these Sentinels name; user and password are those of Redis;
    /// - `redis+cluster://[user][:password]@host[:6379],…`, a cluster that these nodes are of;
    /// - with `rediss` for `redis`, each of them over TLS.
    ///
    /// In user and password, what would end them (`:`, `/`, `?`, `#`, `@`) and `%` are written
    /// percent-encoded.
    ///
    /// Behind a `?`, what the methods below set: `prefix`, `timeout` and `retention` (`500ms`,
    /// `3s`, `24h`), `min_replicas`.
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) with what is wrong, and without the URL: it may hold
    /// a password.
    pub fn from_url(url: &str) -> Result<Self, Error> {
        url::parse(url).map_err(|invalid| Error::invalid(invalid, Operation::Connect))
    }

    /// What every key and channel begins with; `leases:` unless it is set. At most 256 bytes, and
    /// no braces.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        RedisConfig { prefix: prefix.into(), ..self }
    }

    /// How long an operation may take until it counts as not confirmed, with connecting and
    /// connecting again; 3 seconds unless it is set. A millisecond to an hour.
    #[must_use]
    pub fn request_timeout(self, request_timeout: Duration) -> Self {
        RedisConfig { request_timeout, ..self }
    }

    /// How long an idle name is remembered after its last end, and a guard after its last admit;
    /// 24 hours unless it is set. A millisecond to 365 days. A name is kept up to an eighth longer.
    #[must_use]
    pub fn retention(self, retention: Duration) -> Self {
        RedisConfig { retention, ..self }
    }

    /// How many replicas must have a grant before it is told; none unless it is set. If they do
    /// not confirm within the request timeout, the grant is given back and the ask is
    /// *unavailable*. That narrows the window in which a failover forgets a hold, and does not
    /// close it: a replica that lacks the grant may be promoted.
    #[must_use]
    pub fn min_replicas(self, min_replicas: u32) -> Self {
        RedisConfig { min_replicas, ..self }
    }

    /// Checks what can't be told from one value's type.
    pub(super) fn check(&self) -> Result<(), Error> {
        let bounds = [
            ("timeout", self.request_timeout, Duration::from_secs(60 * 60)),
            ("retention", self.retention, Duration::from_secs(365 * 24 * 60 * 60)),
        ];
        let out_of_bounds = bounds
            .into_iter()
            .find(|(_, value, max)| !(Duration::from_millis(1)..=*max).contains(value));
        let bound = match out_of_bounds {
            Some((name, value, max)) => format!("needs a {name} of 1ms to {max:?}, not {value:?}"),
            None if self.prefix.len() > PREFIX_BYTES_MAX => {
                format!("needs a prefix of at most {PREFIX_BYTES_MAX} bytes")
            }
            None if self.prefix.contains(['{', '}']) => {
                "needs a prefix without braces: they would decide on the slot".to_owned()
            }
            None => return Ok(()),
        };
        Err(Error::invalid(Invalid::new(Argument::Backend, bound), Operation::Connect))
    }

    /// For tests: this clock decides on ends, in place of the server's. Every program on the same
    /// keys has to be told the same one.
    #[must_use]
    pub fn manual_clock(self, time: &ManualClock) -> Self {
        RedisConfig { told_time: Some(time.clock()), ..self }
    }
}

/// Shows where Redis is, and no password.
impl fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisConfig")
            .field("servers", &self.servers)
            .field("tls", &self.tls)
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("database", &self.database)
            .field("prefix", &self.prefix)
            .field("request_timeout", &self.request_timeout)
            .field("retention", &self.retention)
            .field("min_replicas", &self.min_replicas)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(change: impl FnOnce(RedisConfig) -> RedisConfig) -> Result<(), String> {
        let config = RedisConfig::from_url("redis://h").unwrap();
        change(config).check().map_err(|error| error.to_string())
    }

    #[test]
    fn what_no_type_forbids_is_checked() {
        assert_eq!(checked(|config| config), Ok(()));
        for too_long in [Duration::ZERO, Duration::MAX, Duration::from_secs(3601)] {
            assert!(checked(|config| config.request_timeout(too_long)).is_err(), "{too_long:?}");
        }
        for bad in [Duration::ZERO, Duration::MAX] {
            assert!(checked(|config| config.retention(bad)).is_err(), "{bad:?}");
        }
        for braces in ["{", "{}", "a}"] {
            assert!(checked(|config| config.prefix(braces)).is_err(), "{braces:?}");
        }
        let error = checked(|config| config.prefix("x".repeat(257))).unwrap_err();
        assert_eq!(error, "connect: invalid backend: needs a prefix of at most 256 bytes");
    }
}
