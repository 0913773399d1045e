//! Passwords.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use leases::{Applied, Error, ErrorKind, Leases, RedisConfig, SqlConfig};

use crate::live::{is_unavailable, timed};
use crate::{Case, Database, On, listed};

pub(super) const CASES: &[Case<On>] =
    listed![no_password_is_told, a_wrong_password_is_told_at_once];

/// All that is logged in this thread, at every level.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn start(&self) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || log.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

const SECRET: &str = "s3cr3t-of-mine";

/// What can be printed of settings.
fn printed(on: On, url: &str) -> String {
    match on.database {
        Database::Redis => format!("{:?}", RedisConfig::from_url(url).unwrap()),
        _ => format!("{:?}", SqlConfig::from_url(url).unwrap()),
    }
}

fn shown(error: &Error) -> String {
    format!("{error} {error:?} {:?}", std::error::Error::source(error))
}

/// No password is told: not by errors, not by what can be printed, not by what is logged, whether
/// it is right, wrong, missing, or the server goes away.
async fn no_password_is_told(on: On) {
    let (site, logins) = on.start_with_logins(SECRET).await;
    let log = Log::default();
    let _logging = log.start();
    let mut told = String::new();
    let right = logins.right.iter().map(|login| (login, true));
    for (login, works) in right.chain(logins.wrong.iter().map(|login| (login, false))) {
        let url = format!("{}?timeout=500ms", site.url_of(login));
        told += &printed(on, &url);
        match site.backend_at(&url).await {
            Ok(backend) => {
                assert!(works, "{login}");
                told += &format!("{backend:?}");
                let leases = Leases::builder(backend).build();
                leases.migrate().await.unwrap();
                let mut held = leases.lease("a").unwrap().keep_alive().acquire().await.unwrap();
                told += &format!("{held:?} {leases:?}");
                assert!(held.release().await.unwrap());
                site.server().pause();
                let error = leases.lease("a").unwrap().acquire().await.unwrap_err();
                site.server().resume();
                told += &shown(&error);
            }
            Err(error) => {
                assert!(!works && is_unavailable(&error), "{login}: {error:?}");
                told += &shown(&error);
            }
        }
    }
    // What can't be read is not told either.
    for address in ["127.0.0.1:port", "[", ""] {
        let url = site.url_of(&format!("app:{SECRET}")).replace(&site.address(), address);
        told += &shown(&Leases::connect(&url).await.expect_err("it is no address"));
    }
    told += &log.text();
    // What shows that it is listened to; nothing of MariaDB is logged here.
    let logged = match on.database {
        Database::Redis => "no connection to Redis yet",
        Database::Postgres => "sqlx::query",
        _ => "",
    };
    assert!(told.contains(logged), "something was logged: {told}");
    assert!(!told.contains(SECRET), "{told}");
}

/// Trying again would be no use.
async fn a_wrong_password_is_told_at_once(on: On) {
    let (site, logins) = on.start_with_logins("right").await;
    for login in logins.wrong {
        let url = format!("{}?timeout=20s", site.url_of(&login));
        let (answer, took) = timed(Leases::connect(url)).await;
        let error = answer.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable(Applied::No), "{error:?}");
        assert!(took < Duration::from_secs(5), "{login}: {took:?}");
    }
}
