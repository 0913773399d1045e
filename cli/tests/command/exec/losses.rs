//! Holds that are lost, and holders that are killed.

use std::path::Path;
use std::time::{Duration, Instant};

use leases::Leases;
use leases_tests::live::{lease_key, until_seen};
use leases_tests::servers::{Proxy, Redis};
use rustix::process::Signal;

use super::{Place, is_alive, send, until, written_pid};
use crate::Ran;
use crate::kept::Kept;

const SECOND: Duration = Duration::from_secs(1);

async fn revoked(
    place: &Place,
    leases: &Leases,
    script: &str,
    longest: Duration,
) -> (Ran, Duration) {
    let mut command = place.exec("a", &["--ttl", "3s"], script);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("it runs");
    place.until_written("begun", "\n");
    let began = Instant::now();
    assert_eq!(leases.revoke(&lease_key("a"), None).await.unwrap(), 1);
    let ran = Ran::of(child.wait_with_output().expect("it is ours"));
    let took = began.elapsed();
    assert!(took < longest, "{took:?}");
    (ran, took)
}

/// The command is told, and may end as it likes: the loss is the status.
async fn ends_by_term(kept: Kept, longest: Duration) {
    let leases = kept.connect().await;
    let place = Place::on(kept);
    let script = "trap 'echo told; exit 0' TERM; echo > begun; while :; do sleep 0.05; done";
    let (ran, _) = revoked(&place, &leases, script, longest).await;
    assert_eq!((ran.status, &*ran.out), (76, "told\n"));
    assert_eq!(ran.err, "leases: lease a: lost: revoked\n");
}

#[tokio::test]
async fn a_revoked_command_is_ended_at_once_over_redis() {
    ends_by_term(Kept::in_redis().await, 2 * SECOND).await;
}

#[tokio::test]
async fn a_revoked_command_is_ended_at_once_over_postgres() {
    ends_by_term(Kept::in_postgres().await, 2 * SECOND).await;
}

/// At the next refresh, within a third of 3 s.
#[tokio::test]
async fn a_revoked_command_is_ended_over_mariadb() {
    ends_by_term(Kept::in_mariadb().await, 3 * SECOND).await;
}

#[tokio::test]
async fn a_revoked_command_is_ended_over_sqlite() {
    ends_by_term(Kept::in_sqlite().await, 3 * SECOND).await;
}

#[tokio::test]
async fn a_command_that_does_not_listen_is_killed_after_five_seconds() {
    let kept = Kept::in_redis().await;
    let leases = kept.connect().await;
    let place = Place::on(kept);
    let script = "trap '' TERM; echo > begun; while :; do sleep 0.05; done";
    let (ran, took) = revoked(&place, &leases, script, 9 * SECOND).await;
    assert_eq!((ran.status, &*ran.err), (76, "leases: lease a: lost: revoked\n"));
    assert!(took >= 5 * SECOND, "{took:?}");
}

/// By the command too, as an operator has it.
#[test]
fn the_longest_hold_ends_the_command() {
    let place = Place::of_the_user();
    let ran = Ran::to_its_end(&mut place.exec("a", &["--max-hold", "300ms"], "exec sleep 60"));
    assert_eq!((ran.status, &*ran.err), (76, "leases: lease a: lost: reached its max-hold\n"));
    assert!(place.is_free("a"));
}

#[test]
fn the_same_owner_takes_over() {
    let place = Place::of_the_user();
    let args = ["--owner", "me", "--ttl", "1s"];
    let mut first = place.exec("a", &args, "echo > begun; exec sleep 60").spawn().expect("it runs");
    place.until_written("begun", "\n");
    let second = place.exec("a", &args, "true").status().expect("it runs");
    assert_eq!(second.code(), Some(0));
    assert_eq!(first.wait().expect("it is ours").code(), Some(76));
}

/// A wait that ends while the answer is on its way has taken nothing, whatever was granted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_granted_too_late_is_given_back() {
    let server = Redis::start().await;
    let proxy = Proxy::in_front_of(&server).await;
    let leases = Leases::connect(server.url()).await.unwrap();
    proxy.delay(SECOND * 2 / 5);
    let place = Place::of_the_user();
    let through = format!("redis://{}", proxy.address());
    let args = ["--backend", &through, "--wait", "100ms", "--ttl", "1h"];
    let mut command = place.exec("a", &args, "echo > run");
    let ran = tokio::task::spawn_blocking(move || Ran::to_its_end(&mut command)).await.unwrap();
    assert_eq!((ran.status, ran.err.lines().count()), (75, 1), "{}", ran.err);
    assert!(leases.inspect(&lease_key("a")).await.unwrap().is_empty(), "nothing of it is left");
    assert!(!place.path("run").exists());
}

/// A holder that is killed takes its command with it; who is next has the name when its ttl is over.
async fn killed(kept: Kept) {
    let leases = kept.connect().await;
    let place = Place::on(kept);
    let script = "echo $$ > process; exec sleep 60";
    let mut holder = place.exec("a", &["--ttl", "2s"], script).spawn().expect("it runs");
    let command = written_pid(&place, Path::new("process"));
    assert!(is_alive(command));
    let mut next = place.exec("a", &["--wait", "1m"], "echo > next").spawn().expect("it runs");
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    let killed_at = Instant::now();
    send(Signal::KILL, &holder);
    assert_eq!(holder.wait().expect("it is ours").code(), None);
    until("its command has ended", || !is_alive(command));
    assert_eq!(next.wait().expect("it is ours").code(), Some(0));
    let took = killed_at.elapsed();
    assert!(took < 4 * SECOND, "{took:?}");
    assert_eq!(place.read("next"), "\n");
}

#[tokio::test]
async fn a_killed_holder_is_followed_within_its_ttl_over_sqlite() {
    killed(Kept::in_sqlite().await).await;
}

#[tokio::test]
async fn a_killed_holder_is_followed_within_its_ttl_over_redis() {
    killed(Kept::in_redis().await).await;
}

#[tokio::test]
async fn a_killed_holder_is_followed_within_its_ttl_over_postgres() {
    killed(Kept::in_postgres().await).await;
}
