//! `leases run` over a Redis.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use leases::{Key, Kind, Leases, Name};
use leases_tests::servers::{Redis, until};

use crate::{Ran, leases, probe};

/// Runs the probe with this operation on the name `a`.
fn run(url: &str, operation: &str) -> Ran {
    Ran::to_its_end(&mut probing(url, &["--", operation, "a"]))
}

fn probing(url: &str, args: &[&str]) -> Command {
    let mut command = leases();
    command.args(["run", &probe(), "--backend", url, "--allow", "a"]).args(args);
    command
}

async fn is_free(leases: &Leases) -> bool {
    let request = leases.lease("a").expect("a name");
    match request.try_acquire().await.expect("it answers") {
        Some(mut held) => held.release().await.expect("it answers"),
        None => false,
    }
}

/// However a guest ends, what it held (for 30 s, if nobody gave it back) is free at the server when
/// the command has ended.
#[tokio::test]
async fn nothing_is_held_once_the_command_has_ended() {
    let redis = Redis::start().await;
    let leases = Leases::connect(redis.url()).await.expect("it is there");
    for (operation, status) in [("lease", 0), ("exit", 1), ("trap", 1)] {
        let ran = run(&redis.url(), operation);
        assert_eq!(ran.status, status, "{operation}: {}", ran.err);
        assert!(is_free(&leases).await, "{operation}");
        assert!(!ran.err.contains("left to their ttl"), "{operation}: {}", ran.err);
    }
}

/// A server that answers no more holds the command up for a bounded time, and it says what is left.
#[tokio::test]
async fn what_could_not_be_given_back_is_named() {
    let redis = Redis::start().await;
    let leases = Leases::connect(redis.url()).await.expect("it is there");
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("{}::/told", folder.path().display());
    let mut command = probing(&redis.url(), &["--dir", &dir, "--", "exit", "a", "/told/to-exit"]);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let key = Key { kind: Kind::Lease, name: Name::new("a").expect("a name") };
    until("the guest holds", || async {
        let view = leases.inspect(&key).await.expect("it answers");
        (!view.holders.is_empty()).then_some(())
    })
    .await;
    redis.pause();
    fs::write(folder.path().join("to-exit"), "").expect("it is written");
    let started = Instant::now();
    let ran = Ran::of(running.wait_with_output().expect("it ends"));
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert_eq!(ran.status, 1, "the guest's status: {}", ran.err);
    let said = "leases: not given back in time, and left to their ttl: lease a\n";
    assert!(ran.err.ends_with(said), "{}", ran.err);
    redis.resume();
}

/// Two commands exclude each other where they use one server: one of them waits for what the other
/// holds for a while.
#[tokio::test]
async fn commands_with_the_same_server_exclude_each_other() {
    let redis = Redis::start().await;
    let leases = Leases::connect(redis.url()).await.expect("it is there");
    let mut held = leases.lease("a").expect("a name").acquire().await.expect("it is free");
    let url = redis.url();
    let waiting = tokio::task::spawn_blocking(move || run(&url, "lease"));
    let key = Key { kind: Kind::Lease, name: Name::new("a").expect("a name") };
    until("the guest waits", || async {
        let view = leases.inspect(&key).await.expect("it answers");
        (!view.waiters.is_empty()).then_some(())
    })
    .await;
    let fence = held.fence().as_u64();
    assert!(held.release().await.expect("it answers"));
    let ran = waiting.await.expect("no panic");
    assert_eq!((ran.status, &*ran.err), (0, ""));
    let later = ran.out.trim_start_matches("fence ").trim_end().parse::<u64>().expect("a fence");
    assert!(later > fence, "{later} is after {fence}");
}

#[tokio::test]
async fn the_environment_names_the_backend_where_the_option_does_not() {
    let redis = Redis::start().await;
    let keys = redis.keys().await;
    let env_alone = |args: &[&str]| {
        let mut command = leases();
        command.env("LEASES_REDIS_URL", redis.url()).args(args);
        Ran::to_its_end(command.args(["run", &probe(), "--allow", "a", "--", "lease", "a"]))
    };
    assert_eq!(env_alone(&["--backend", "memory:"]).status, 0);
    assert_eq!(redis.keys().await, keys, "the option goes before");
    assert_eq!(env_alone(&[]).status, 0);
    assert_ne!(redis.keys().await, keys, "the name is known there");
}

/// Wrong or right, a password is in nothing that is printed, whatever is asked to be printed.
#[tokio::test]
async fn no_password_is_printed() {
    let redis = Redis::start().await;
    redis.ask::<()>(redis::cmd("CONFIG").arg("SET").arg("requirepass").arg("s3cr3t")).await;
    let gone = Redis::start().await;
    gone.kill_9();
    let of = |server: &Redis, login| format!("redis://{login}@{}?timeout=500ms", server.address());
    let chatty = |args: &[&str]| {
        let mut command = leases();
        command.env("RUST_BACKTRACE", "full").env("LEASES_LOG", "trace");
        let ran = Ran::to_its_end(command.args(args));
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains("s3cr3t") && !text.contains("wr0ng"), "{args:?}: {text}");
        }
        ran
    };
    let probe = probe();
    for (url, status, why) in [
        (of(&redis, ":s3cr3t"), 0, ""),
        (of(&redis, ":wr0ng"), 69, "leases: --backend: not reached: not let in: "),
        (of(&gone, "wr0ng:s3cr3t"), 69, "leases: --backend: not reached: "),
        ("redis://:s3cr3t@h:x".to_owned(), 64, "leases: --backend: invalid backend: needs hosts"),
        ("redis:s3cr3t".to_owned(), 64, "leases: --backend: invalid backend: needs a URL"),
        ("http://:s3cr3t@h".to_owned(), 64, "leases: --backend: invalid backend: needs memory:"),
        (String::new(), 64, "leases: --backend: invalid backend: needs memory:"),
    ] {
        let ran = chatty(&["run", &probe, "--backend", &url, "--allow", "a", "--", "lease", "a"]);
        assert_eq!(ran.status, status, "{why}: {}", ran.err);
        let last = ran.err.lines().last().unwrap_or_default();
        assert!(status == 0 || last.starts_with(why), "{why}: {last}");
    }
    let url = of(&redis, ":s3cr3t");
    for misplaced in [
        &["run", &url][..],
        &["run", &probe, &url],
        &["run", &probe, "--instances", &url],
        &["run", &probe, "--backend", &url, "--backend", &url],
        &["run", &probe, &format!("--backnd={url}")],
        &[&url, "run"],
    ] {
        assert_eq!(chatty(misplaced).status, 64, "{misplaced:?}");
    }
}
