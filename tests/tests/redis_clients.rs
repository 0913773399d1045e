//! What clients of a Redis server bring along: their clocks, their passwords, their runtimes.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use leases::{Applied, ErrorKind, Leases, RedisBackend, RedisConfig};
use leases_tests::redis::{
    Program, connect, is_unavailable, lease_key, timed, until_free, until_seen,
};
use leases_tests::servers::Redis;

const SECOND: Duration = Duration::from_secs(1);

/// A client whose wall clock is an hour off, by `faketime` (`apt-get install faketime`).
fn skewed(by: &str, url: &str, ttl_ms: u32) -> Program {
    let mut command = Command::new("faketime");
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    command.args(["-f", by, env!("CARGO_BIN_EXE_client"), url, "hold", "a", "0"]);
    Program::start(command.arg(ttl_ms.to_string()))
}

/// Case H10: clients whose wall clocks differ by an hour exclude each other all the same, and are
/// granted fences in order.
#[tokio::test]
async fn h10_no_clients_clock_decides() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    for by in ["+3600", "-3600"] {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let mut held = leases.lease("a").unwrap().ttl(60 * SECOND).acquire().await.unwrap();
        let mut other = skewed(by, &server.url(), 2500);
        let its_now: u64 = other.says().parse().unwrap();
        assert!(its_now.abs_diff(now) > 3500, "{now}, {its_now}");
        // By its clock the hold has ended, or has an hour more; by the server's it is held.
        until_seen(&leases, &lease_key("a"), 1, 1).await;
        tokio::time::sleep(SECOND).await;
        until_seen(&leases, &lease_key("a"), 1, 1).await;
        assert!(held.release().await.unwrap());
        let fence: u64 = other.says().parse().unwrap();
        assert!(fence > held.fence().as_u64());
        // And its hold is held, for its ttl of 2.5 s less what saying so took, and not for longer.
        let began = Instant::now();
        assert!(leases.lease("a").unwrap().try_acquire().await.unwrap().is_none());
        let mut next = leases.lease("a").unwrap().acquire().await.unwrap();
        let took = began.elapsed();
        assert!((SECOND..4 * SECOND).contains(&took), "{took:?}");
        assert!(next.fence().as_u64() > fence);
        assert!(next.release().await.unwrap());
    }
}

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

/// No password is told: not by errors, not by what can be printed, not by what is logged, whether
/// it is right, wrong, missing, or the server goes away.
#[tokio::test(flavor = "current_thread")]
async fn no_password_is_told() {
    let server = Redis::start_with(&[&format!("user app on >{SECRET}-app ~* &* +@all")]).await;
    let mut set = redis::cmd("CONFIG");
    server.ask::<()>(set.arg("SET").arg("requirepass").arg(SECRET)).await;
    let log = Log::default();
    let _logging = log.start();
    let mut told = String::new();
    let address = server.address();
    for (login, works) in [
        (format!(":{SECRET}"), true),
        (format!("app:{SECRET}-app"), true),
        (format!("app:{SECRET}-wrong"), false),
        (format!(":{SECRET}-wrong"), false),
        (format!("nobody:{SECRET}"), false),
        (String::new(), false),
    ] {
        let url = format!("redis://{login}@{address}/?timeout=500ms");
        let config = RedisConfig::from_url(&url).unwrap();
        told += &format!("{config:?}");
        match RedisBackend::connect(config).await {
            Ok(backend) => {
                assert!(works, "{login}");
                told += &format!("{backend:?}");
                let leases = Leases::builder(Arc::new(backend)).build();
                let mut held = leases.lease("a").unwrap().keep_alive().acquire().await.unwrap();
                told += &format!("{held:?} {leases:?}");
                assert!(held.release().await.unwrap());
                server.pause();
                let error = leases.lease("a").unwrap().acquire().await.unwrap_err();
                server.resume();
                told += &format!("{error} {error:?} {:?}", std::error::Error::source(&error));
            }
            Err(error) => {
                assert!(!works && is_unavailable(&error), "{login}: {error:?}");
                told += &format!("{error} {error:?} {:?}", std::error::Error::source(&error));
            }
        }
    }
    told += &log.text();
    assert!(told.contains("no connection to Redis yet"), "something was logged: {told}");
    assert!(!told.contains(SECRET), "{told}");
}

/// Trying again would be no use.
#[tokio::test]
async fn a_wrong_password_is_told_at_once() {
    let server = Redis::start().await;
    server.ask::<()>(redis::cmd("CONFIG").arg(&["SET", "requirepass", "right"])).await;
    for login in ["", ":wrong@", "nobody:wrong@"] {
        let url = format!("redis://{login}{}?timeout=20s", server.address());
        let (answer, took) = timed(Leases::connect(url)).await;
        let error = answer.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable(Applied::No), "{error:?}");
        assert!(took < Duration::from_secs(5), "{login}: {took:?}");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A handle, and a hold of it that is kept alive, go on in a second runtime once the first has
/// ended: commands, wake-ups, what gives back.
#[test]
fn a_handle_goes_on_in_a_second_runtime() {
    let servers = runtime();
    let server = servers.block_on(Redis::start());
    let (leases, mut held) = {
        let first = runtime();
        first.block_on(async {
            let leases = connect(&server.url()).await;
            let request = leases.lease("a").unwrap().keep_alive();
            let held = request.acquire().await.unwrap();
            let waiter = leases.lease("a").unwrap();
            // It is dropped in line, with its runtime.
            tokio::spawn(async move { waiter.acquire().await.map(drop) });
            until_seen(&leases, &lease_key("a"), 1, 1).await;
            (leases, held)
        })
    };
    for _ in 0..2 {
        held = runtime().block_on(async {
            held.refresh().await.unwrap();
            let request = leases.lease("a").unwrap();
            let waiting = tokio::spawn(async move { request.acquire().await });
            // The dead one's ticket lapses, or is gone already.
            until_seen(&leases, &lease_key("a"), 1, 1).await;
            let began = Instant::now();
            assert!(held.release().await.unwrap());
            let next = waiting.await.unwrap().unwrap();
            assert!(began.elapsed() < 3 * SECOND / 2, "{:?}", began.elapsed());
            drop(leases.lease("b").unwrap().acquire().await.unwrap());
            until_free(&leases, &lease_key("b"), SECOND).await;
            next
        });
    }
}

/// The runtime that listens for wake-ups ends while a waiter sleeps in another, whose keeper sends
/// signs of life at once, with other things: the waiter is told by its sign of life.
#[test]
fn a_waiter_outlives_the_runtime_that_listened() {
    let (servers, first, second) = (runtime(), runtime(), runtime());
    let server = servers.block_on(Redis::start());
    let leases = first.block_on(connect(&server.url()));
    second.block_on(async {
        let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
        let request = leases.lease("a").unwrap();
        let waiting = tokio::spawn(async move { request.acquire().await });
        until_seen(&leases, &lease_key("a"), 1, 1).await;
        first.shutdown_background();
        tokio::time::sleep(SECOND / 2).await; // Its tasks have ended.
        let mut kept = Vec::new();
        for number in 0..3 {
            let request = leases.lease(format!("kept{number}")).unwrap().ttl(SECOND * 3 / 10);
            kept.push(request.keep_alive().acquire().await.unwrap());
        }
        let began = Instant::now();
        assert!(held.release().await.unwrap());
        drop(waiting.await.unwrap().unwrap());
        assert!(began.elapsed() < 3 * SECOND / 2, "{:?}", began.elapsed());
    });
}
