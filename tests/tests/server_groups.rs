//! A sentinel fails over and a cluster moves its slots, as other tests rely on.

use leases_tests::servers::{Cluster, Redis, Sentinel};
use redis::RedisResult;

async fn set(server: &Redis, key: &str, value: &str) -> RedisResult<()> {
    let mut connection = server.connection().await;
    redis::cmd("SET").arg(key).arg(value).query_async(&mut connection).await
}

async fn get(server: &Redis, key: &str) -> RedisResult<Option<String>> {
    redis::cmd("GET").arg(key).query_async(&mut server.connection().await).await
}

/// Waits until a replica has what was written before.
async fn replicated(server: &Redis, key: &str, value: &str) {
    let mut connection = server.connection().await;
    set(server, key, value).await.expect("it is a primary");
    let mut set_and_wait = redis::pipe();
    set_and_wait.cmd("SET").arg(key).arg(value).ignore().cmd("WAIT").arg(1).arg(10_000);
    let (replicas,): (u64,) = set_and_wait.query_async(&mut connection).await.expect("it answers");
    assert_eq!(replicas, 1);
}

#[tokio::test]
async fn a_sentinel_fails_over_from_a_killed_primary() {
    let servers = Sentinel::start().await;
    assert_eq!(servers.url(), format!("redis+sentinel://{}/main", servers.sentinel().address()));
    replicated(servers.primary(), "a", "1").await;
    servers.primary().kill_9();
    let now = servers.wait_for_failover().await;
    assert_eq!(now.port(), servers.replica().port());
    assert_eq!(get(now, "a").await.unwrap().as_deref(), Some("1"));
    set(now, "a", "2").await.unwrap();
}

#[tokio::test]
async fn a_sentinel_fails_over_from_a_paused_primary_and_back() {
    let servers = Sentinel::start().await;
    servers.primary().pause();
    let now = servers.wait_for_failover().await;
    assert_eq!(now.port(), servers.replica().port());
    servers.primary().resume();
    servers.wait_for_replica().await;
    replicated(now, "a", "1").await;
    servers.replica().kill_9();
    let now = servers.wait_for_failover().await;
    assert_eq!(now.port(), servers.primary().port());
    assert_eq!(get(now, "a").await.unwrap().as_deref(), Some("1"));
}

/// A key of each node, in the order of the nodes.
const KEYS: [&str; 3] = ["b", "c", "a"];

fn code<T>(reply: RedisResult<T>) -> Option<String> {
    reply.err().and_then(|error| error.code().map(String::from))
}

#[tokio::test]
async fn a_cluster_answers_moved_for_the_slots_of_other_nodes() {
    let cluster = Cluster::start().await;
    let [first, second, third] = cluster.nodes() else { panic!("three nodes") };
    let addresses = [first.address(), second.address(), third.address()].join(",");
    assert_eq!(cluster.url(), format!("redis+cluster://{addresses}"));
    for (key, owner) in KEYS.iter().zip(cluster.nodes()) {
        assert_eq!(cluster.node_of(key.as_bytes()).await.port(), owner.port());
        for node in cluster.nodes() {
            let reply = set(node, key, "1").await;
            if node.port() == owner.port() {
                reply.expect("it is there");
            } else {
                let moved = reply.expect_err("it is elsewhere");
                let slot = cluster.slot_of(key.as_bytes()).await;
                let whereto = moved.redirect_node().expect("it says where");
                assert_eq!(moved.code(), Some("MOVED"));
                assert_eq!(whereto, (&*owner.address(), slot));
            }
        }
    }
}

#[tokio::test]
async fn a_slot_moves_with_its_keys() {
    let cluster = Cluster::start().await;
    let slot = cluster.slot_of(b"a").await;
    let old = cluster.node_of(b"a").await;
    let new = cluster.nodes().iter().find(|node| node.port() != old.port()).unwrap();
    set(old, "a", "1").await.unwrap();
    cluster.move_slot(slot, new).await;
    assert_eq!(cluster.node_of(b"a").await.port(), new.port());
    assert_eq!(get(new, "a").await.unwrap().as_deref(), Some("1"));
    assert_eq!(code(get(old, "a").await).as_deref(), Some("MOVED"));
}

#[tokio::test]
async fn a_slot_on_its_way_answers_ask_for_the_keys_that_left() {
    let cluster = Cluster::start().await;
    let slot = cluster.slot_of(b"a").await;
    let old = cluster.node_of(b"a").await;
    let new = cluster.nodes().iter().find(|node| node.port() != old.port()).unwrap();
    set(old, "a", "1").await.unwrap();
    let moving = cluster.begin_move(slot, new).await;
    assert_eq!(get(old, "a").await.unwrap().as_deref(), Some("1"));
    assert_eq!(code(get(old, "{a}").await).as_deref(), Some("ASK"));
    moving.move_keys().await;
    assert_eq!(code(get(old, "a").await).as_deref(), Some("ASK"));
    assert_eq!(code(get(new, "a").await).as_deref(), Some("MOVED"));
    moving.finish().await;
    assert_eq!(get(new, "a").await.unwrap().as_deref(), Some("1"));
}

#[tokio::test]
async fn a_node_that_was_killed_comes_back_with_its_slots() {
    let cluster = Cluster::start_with(2, &["appendonly yes", "appendfsync always"]).await;
    let owner = cluster.node_of(b"a").await;
    set(owner, "a", "1").await.unwrap();
    owner.kill_9();
    owner.restart().await;
    cluster.wait_until_ok().await;
    assert_eq!(cluster.node_of(b"a").await.port(), owner.port());
    assert_eq!(get(owner, "a").await.unwrap().as_deref(), Some("1"));
}
