//! Changes that a server tells of to who shows them.

use std::time::Duration;

use leases::{Changes, Leases};
use leases_tests::servers::{Redis, until};
use tokio::time::timeout;

const SECOND: Duration = Duration::from_secs(1);

async fn told(changes: &Changes) {
    timeout(5 * SECOND, changes.changed()).await.expect("it is told");
}

/// Returns when nothing more is told: what was done before was told once or more.
async fn quiet(changes: &Changes) {
    while timeout(SECOND / 5, changes.changed()).await.is_ok() {}
}

#[tokio::test]
async fn whatever_changes_is_told() {
    let server = Redis::start().await;
    let url = |prefix: &str| format!("{}?prefix={prefix}:", server.url());
    let leases = Leases::connect(url("ours")).await.unwrap();
    let others = Leases::connect(url("theirs")).await.unwrap();
    let changes = Leases::connect(url("ours")).await.unwrap().changes();
    told(&changes).await; // It listens from now on.
    quiet(&changes).await;
    let mut lease = leases.lease("a").unwrap().acquire().await.unwrap();
    told(&changes).await;
    quiet(&changes).await;
    lease.refresh().await.unwrap();
    told(&changes).await;
    quiet(&changes).await;
    let place = leases.semaphore("a", 1).unwrap();
    let permit = place.acquire().await.unwrap();
    told(&changes).await;
    quiet(&changes).await;
    let waits = place.clone().wait(20 * SECOND);
    let waiting = tokio::spawn(async move { waits.acquire().await });
    told(&changes).await;
    drop(permit);
    assert!(waiting.await.unwrap().is_ok());
    told(&changes).await;
    quiet(&changes).await;
    let refused = leases.lease("a").unwrap().try_acquire().await.unwrap();
    assert!(refused.is_none(), "{lease:?} is held");
    drop(others.lease("a").unwrap().acquire().await.unwrap());
    let nothing = timeout(SECOND / 2, changes.changed()).await;
    assert!(nothing.is_err(), "neither a refusal nor somebody else's prefix");
}

#[tokio::test]
async fn a_connection_that_was_ended_is_opened_again() {
    let server = Redis::start().await;
    let leases = Leases::connect(server.url()).await.unwrap();
    let changes = leases.changes();
    told(&changes).await;
    quiet(&changes).await;
    let mut kill = redis::cmd("CLIENT");
    kill.arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"]);
    let killed: u64 = server.ask(&kill).await;
    assert!(killed > 0);
    told(&changes).await; // It listens again, and what was missed may be looked at.
    quiet(&changes).await;
    let lease = leases.lease("a").unwrap().acquire().await.unwrap();
    told(&changes).await;
    drop((lease, leases));
    let holds_none = || async { (clients(&server).await == 1).then_some(()) };
    drop(changes);
    until("its connection is closed", holds_none).await;
}

/// The connections that are no listeners for wake-ups, this question's own among them.
async fn clients(server: &Redis) -> usize {
    let mut list = redis::cmd("CLIENT");
    list.arg(&["LIST", "TYPE", "normal"]);
    let told: String = server.ask(&list).await;
    told.lines().count()
}
