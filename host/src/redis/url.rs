//! Reading a backend's URL.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use url::{Url, form_urlencoded};

use super::config::{Address, RedisConfig, Servers};
use crate::invalid::{Argument, Invalid};

type Read<T> = Result<T, Invalid>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Single,
    Sentinel,
    Cluster,
}

pub(super) fn parse(url: &str) -> Read<RedisConfig> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(invalid("a URL such as redis://host:6379"));
    };
    let (tls, scheme) = scheme_of(scheme)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let addresses = addresses(hosts, scheme)?;
    let (service, database) = match scheme {
        Scheme::Sentinel => path.split_once('/').unwrap_or((path, "")),
        Scheme::Single | Scheme::Cluster => ("", path),
    };
    let mut config = RedisConfig::new(servers(scheme, addresses, service)?);
    config.tls = tls;
    (config.user, config.password) = user_and_password(login)?;
    config.database = database_of(database, scheme)?;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        config = set(config, &name, &value)?;
    }
    Ok(config)
}

fn scheme_of(scheme: &str) -> Read<(bool, Scheme)> {
    let (protocol, how) = scheme.split_once('+').unwrap_or((scheme, ""));
    let tls = match protocol {
        "redis" => false,
        "rediss" => true,
        _ => return Err(invalid("a scheme of redis or rediss")),
    };
    match how {
        "" => Ok((tls, Scheme::Single)),
        "sentinel" => Ok((tls, Scheme::Sentinel)),
        "cluster" => Ok((tls, Scheme::Cluster)),
        _ => Err(invalid("+sentinel, +cluster or nothing behind the scheme")),
    }
}

fn servers(scheme: Scheme, mut addresses: Vec<Address>, service: &str) -> Read<Servers> {
    match scheme {
        Scheme::Cluster => Ok(Servers::Cluster(addresses)),
        Scheme::Sentinel if service.is_empty() => {
            Err(invalid("the name of the service behind the Sentinels: /service"))
        }
        Scheme::Sentinel => {
            Ok(Servers::Sentinel { sentinels: addresses, service: decoded(service)? })
        }
        Scheme::Single => match (addresses.pop(), addresses.is_empty()) {
            (Some(address), true) => Ok(Servers::Single(address)),
            _ => Err(invalid("one host; several are for redis+sentinel and redis+cluster")),
        },
    }
}

fn addresses(hosts: &str, scheme: Scheme) -> Read<Vec<Address>> {
    let default_port = if scheme == Scheme::Sentinel { 26379 } else { 6379 };
    let address = |host: &str| {
        let url = Url::parse(&format!("redis://{host}")).ok();
        let url = url.filter(|url| url.host_str().is_some_and(|host| !host.is_empty()));
        let url = url.filter(|url| url.path().is_empty());
        let url = url.ok_or_else(|| invalid("hosts such as db.example or 10.0.0.1:6379"))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        Ok(Address { host, port: url.port().unwrap_or(default_port) })
    };
    hosts.split(',').map(address).collect()
}

fn user_and_password(login: &str) -> Read<(Option<String>, Option<String>)> {
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let some = |text: &str| {
        let text = decoded(text)?;
        Ok((!text.is_empty()).then_some(text))
    };
    Ok((some(user)?, some(password)?))
}

fn database_of(database: &str, scheme: Scheme) -> Read<i64> {
    let number = match database {
        "" => 0,
        number => number.parse::<u16>().map_err(|_| invalid("a database number behind the /"))?,
    };
    if scheme == Scheme::Cluster && number != 0 {
        return Err(invalid("no database number: a cluster has one database"));
    }
    Ok(i64::from(number))
}

fn set(config: RedisConfig, name: &str, value: &str) -> Read<RedisConfig> {
    Ok(match name {
        "prefix" => config.prefix(value),
        "timeout" => config.request_timeout(duration(name, value)?),
        "retention" => config.retention(duration(name, value)?),
        "min_replicas" => {
            let number = value.parse().map_err(|_| invalid("a number for min_replicas"))?;
            config.min_replicas(number)
        }
        _ => return Err(invalid("prefix, timeout, retention or min_replicas behind the ?")),
    })
}

fn duration(name: &str, value: &str) -> Read<Duration> {
    let duration = humantime::parse_duration(value).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| {
        Invalid::new(Argument::Backend, format!("{name} as 500ms, 3s, 5m or 24h, not {value:?}"))
    })
}

fn decoded(text: &str) -> Read<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| invalid("UTF-8 behind every %"))
}

/// What is wanted in the URL. Never what stands there: that may be a password.
fn invalid(wanted: &'static str) -> Invalid {
    Invalid::new(Argument::Backend, format!("needs {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(host: &str, port: u16) -> Address {
        Address { host: host.to_owned(), port }
    }

    #[test]
    fn one_server() {
        let config = parse("rediss://u%40x:p%2F:w@h:7000/3?prefix=a%26b:&timeout=500ms").unwrap();
        assert!(matches!(&config.servers, Servers::Single(one) if *one == address("h", 7000)));
        assert!(config.tls);
        assert_eq!(config.user.as_deref(), Some("u@x"));
        assert_eq!(config.password.as_deref(), Some("p/:w"));
        assert_eq!(config.database, 3);
        assert_eq!(config.prefix, "a&b:");
        assert_eq!(config.request_timeout, Duration::from_millis(500));
    }

    #[test]
    fn a_password_without_a_user_and_a_host_alone() {
        let config = parse("redis://:secret@[::1]").unwrap();
        assert_eq!((config.user, config.password.as_deref()), (None, Some("secret")));
        assert!(matches!(&config.servers, Servers::Single(one) if *one == address("::1", 6379)));
    }

    #[test]
    fn sentinels_and_clusters_have_several_hosts() {
        let config = parse("redis+sentinel://a,b:1/main/2?min_replicas=1").unwrap();
        let Servers::Sentinel { sentinels, service } = &config.servers else {
            panic!("{config:?}")
        };
        assert_eq!(*sentinels, [address("a", 26379), address("b", 1)]);
        assert_eq!((service.as_str(), config.database, config.min_replicas), ("main", 2, 1));
        let config = parse("redis+cluster://a,b:1,c").unwrap();
        let Servers::Cluster(nodes) = &config.servers else { panic!("{config:?}") };
        assert_eq!(*nodes, [address("a", 6379), address("b", 1), address("c", 6379)]);
    }

    #[test]
    fn what_is_wrong_is_told_without_the_password() {
        for bad in [
            "redis:secret",
            "http://:secret@h",
            "redis+x://:secret@h",
            "redis://:secret@",
            "redis://:secret@a,b",
            "redis://:secret@h/x",
            "redis://:secret@h:99999",
            "redis://:secret@h?x=1",
            "redis://:secret@h?timeout=1",
            "redis://:secret@h?timeout=0s",
            "redis://:secret@h?min_replicas=-1",
            "redis://:secret%ff@h",
            "redis+sentinel://:secret@h",
            "redis+cluster://:secret@h/1",
        ] {
            let error = RedisConfig::from_url(bad).unwrap_err();
            let told = format!("{error} {error:?}");
            assert!(told.contains("invalid backend"), "{told}");
            assert!(!told.contains("secret"), "{told}");
        }
    }
}
