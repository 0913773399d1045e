//! Replicas, Sentinel and Cluster in trouble.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use leases::{Leases, Loss, NamePattern, Verdict, Wait};
use leases_tests::live::{connect, is_unavailable, lease_key, timed, until_free, until_seen, view};
use leases_tests::servers::{Cluster, Redis, Sentinel};

const SECOND: Duration = Duration::from_secs(1);
/// What a machine that is busy with other tests may add to any time.
const MARGIN: Duration = Duration::from_secs(1);

async fn set_config(server: &Redis, name: &str, value: &str) {
    server.ask(redis::cmd("CONFIG").arg("SET").arg(name).arg(value)).await
}

/// Case R3: a failover under load. For each name the fences rise strictly over it, in the order in
/// which one client was granted them.
#[tokio::test]
async fn r3_fences_rise_over_a_failover_under_load() {
    let servers = Sentinel::start().await;
    let leases = connect(&servers.url()).await;
    let fences: Arc<Mutex<HashMap<String, Vec<u64>>>> = Arc::default();
    let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut working = tokio::task::JoinSet::new();
    for number in 0..4 {
        let (leases, fences, ended) = (leases.clone(), Arc::clone(&fences), Arc::clone(&ended));
        working.spawn(async move {
            let name = format!("l{number}");
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                match leases.lease(&name).unwrap().ttl(SECOND).acquire().await {
                    Ok(mut held) => {
                        let fence = held.fence().as_u64();
                        fences.lock().unwrap().entry(name.clone()).or_default().push(fence);
                        let _ = held.release().await;
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    Err(error) => assert!(is_unavailable(&error), "{error:?}"),
                }
            }
        });
    }
    let count = |least: usize| {
        let fences = Arc::clone(&fences);
        async move {
            leases_tests::servers::until("everybody was granted", || async {
                let fences = fences.lock().unwrap();
                (fences.len() == 4 && fences.values().all(|of| of.len() >= least)).then_some(())
            })
            .await;
        }
    };
    count(50).await;
    servers.primary().kill_9();
    servers.wait_for_failover().await;
    let most = fences.lock().unwrap().values().map(Vec::len).max().unwrap();
    count(most + 50).await;
    ended.store(true, std::sync::atomic::Ordering::Relaxed);
    working.join_all().await;
    for (name, fences) in fences.lock().unwrap().iter() {
        assert!(fences.is_sorted_by(|one, next| one < next), "{name}");
    }
}

/// Case R3, what Redis can't promise: a failover to a replica that lacks a grant gives the name to
/// a second holder while the first believes to hold. The second has the greater fence, and the
/// guard refuses the first.
#[tokio::test]
async fn r3_a_grant_that_a_failover_lost_is_fenced_off() {
    let servers = Sentinel::start().await;
    let leases = connect(&servers.url()).await;
    // The replica misses what comes now: its connection is closed, and it is too late to open
    // another.
    servers.replica().pause();
    let mut cut = redis::cmd("CLIENT");
    let replicas: u64 = servers.primary().ask(cut.arg("KILL").arg("TYPE").arg("replica")).await;
    assert_eq!(replicas, 1);
    let mut first = leases.lease("a").unwrap().acquire().await.unwrap();
    servers.primary().kill_9();
    servers.replica().resume();
    servers.wait_for_failover().await;
    let second = leases.lease("a").unwrap().acquire().await.unwrap();
    assert_eq!(first.loss(), None, "both believe to hold");
    assert!(second.fence() > first.fence());
    let guard = leases.guard("a").unwrap();
    assert_eq!(guard.admit(second.fence()).await.unwrap(), Verdict::Admitted);
    assert_eq!(guard.admit(first.fence()).await.unwrap(), Verdict::Stale(second.fence()));
    // And it learns it as soon as it asks.
    assert!(first.refresh().await.is_err() && first.is_lost());
    assert!(!first.release().await.unwrap());
    assert_eq!(second.loss(), None);
}

/// A hold and a waiter that the replica has survive a failover, the one kept alive and the other
/// in line.
#[tokio::test]
async fn holds_and_waiters_survive_a_failover() {
    let servers = Sentinel::start().await;
    let leases = connect(&format!("{}?min_replicas=1", servers.url())).await;
    let request = leases.lease("a").unwrap().ttl(10 * SECOND).keep_alive();
    let mut held = request.acquire().await.unwrap();
    let other = leases.clone();
    // In line, nothing is confirmed by replicas; a grant would be, of which there is none left.
    let waiting = tokio::spawn(async move {
        let waiter = other.lease("a").unwrap().wait(Wait::Forever);
        waiter.acquire().await.map(drop)
    });
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    servers.primary().kill_9();
    servers.wait_for_failover().await;
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    assert_eq!(held.loss(), None);
    held.refresh().await.unwrap();
    assert!(held.release().await.unwrap());
    let ended = tokio::time::timeout(15 * SECOND, waiting).await.expect("it ends").unwrap();
    assert!(is_unavailable(&ended.unwrap_err()), "no replica is left to confirm it");
    until_free(&leases, &lease_key("a"), 5 * SECOND).await;
}

/// Case R3: with `min_replicas` a grant that the replica does not confirm is given back, and
/// unavailable within about twice the request timeout. Without it nothing is waited for.
#[tokio::test]
async fn r3_a_grant_waits_for_its_replicas_where_it_is_told_to() {
    let servers = Sentinel::start().await;
    let url = servers.primary().url();
    let leases = connect(&format!("{url}?min_replicas=1&timeout=1s")).await;
    let without = connect(&format!("{url}?timeout=1s")).await;
    for name in ["a", "b"] {
        let mut lease = leases.lease(name).unwrap().acquire().await.unwrap();
        let mut permit = leases.semaphore(name, 2).unwrap().acquire().await.unwrap();
        assert!(lease.release().await.unwrap() && permit.release().await.unwrap());
    }
    servers.replica().pause();
    let mut asking = tokio::task::JoinSet::new();
    for number in 0..4 {
        let request = leases.lease(format!("l{number}")).unwrap();
        asking.spawn(async move { timed(request.acquire()).await });
    }
    for (answer, took) in asking.join_all().await {
        assert!(is_unavailable(&answer.unwrap_err()));
        assert!(took < 2 * SECOND + MARGIN, "{took:?}");
    }
    for number in 0..4 {
        until_free(&without, &lease_key(&format!("l{number}")), 2 * SECOND).await;
    }
    let (held, took) = timed(without.lease("l0").unwrap().acquire()).await;
    assert!(held.unwrap().release().await.unwrap());
    assert!(took < SECOND / 2, "{took:?}");
    servers.replica().resume();
    servers.wait_for_replica().await;
    leases_tests::servers::until("grants are confirmed again", || async {
        leases.lease("c").unwrap().acquire().await.ok().map(drop)
    })
    .await;
}

/// A name on each node, in the order of the nodes.
async fn names(cluster: &Cluster) -> Vec<String> {
    let mut names = HashMap::new();
    for number in 0.. {
        if names.len() == cluster.nodes().len() {
            break;
        }
        let name = format!("n{number}");
        let port = cluster.node_of(format!("{{{name}}}").as_bytes()).await.port();
        names.entry(port).or_insert(name);
    }
    cluster.nodes().iter().map(|node| names[&node.port()].clone()).collect()
}

/// Case R2: slots move while names of them are held, refreshed and waited for.
#[tokio::test]
async fn r2_slots_move_under_holders_and_waiters() {
    let cluster = Cluster::start().await;
    let leases = connect(&cluster.url()).await;
    let name = "a{b}}{c";
    let tag = "{a{b%7D%7D{c}";
    let request = leases.lease(name).unwrap().ttl(6 * SECOND).keep_alive();
    let mut held = request.acquire().await.unwrap();
    for round in 0..2 {
        let other = leases.clone();
        let waiting = tokio::spawn(async move {
            let waiter = other.lease(name).unwrap().wait(Wait::Forever);
            timed(waiter.acquire()).await.0
        });
        until_seen(&leases, &lease_key(name), 1, 1).await;
        let slot = cluster.slot_of(tag.as_bytes()).await;
        let old = cluster.owner_of(slot).await;
        assert!(!old.keys().await.is_empty());
        let new = cluster.nodes().iter().find(|node| node.port() != old.port()).unwrap();
        if round == 0 {
            let moving = cluster.begin_move(slot, new).await;
            moving.move_keys().await;
            // ASK: the keys are there, the slot is still here.
            held.refresh().await.unwrap();
            assert!(request.try_acquire().await.unwrap().is_none());
            assert_eq!(view(&leases, &lease_key(name)).await.waiters.len(), 1);
            moving.finish().await;
        } else {
            cluster.move_slot(slot, new).await;
        }
        held.refresh().await.unwrap();
        assert_eq!(view(&leases, &lease_key(name)).await.waiters.len(), 1);
        let began = Instant::now();
        assert!(held.release().await.unwrap());
        let mut next = waiting.await.unwrap().unwrap();
        // Told or not: within a sign of life and a claim time.
        assert!(began.elapsed() < Duration::from_millis(1750) + MARGIN, "{:?}", began.elapsed());
        assert!(next.fence() > held.fence());
        assert!(next.release().await.unwrap());
        held = request.acquire().await.unwrap();
    }
}

/// Case R2: a slot moves under a waiter that sleeps. Its subscription ends with that, and it is
/// told all the same.
#[tokio::test]
async fn r2_a_waiter_is_told_after_its_slot_has_moved() {
    let cluster = Cluster::start().await;
    let leases = connect(&cluster.url()).await;
    let mut kept = Vec::new();
    for number in 0..3 {
        // With these, signs of life go out at once.
        let request = leases.lease(format!("kept{number}")).unwrap().ttl(SECOND * 3 / 10);
        kept.push(request.keep_alive().acquire().await.unwrap());
    }
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let request = leases.lease("a").unwrap();
    let waiting = tokio::spawn(async move { request.acquire().await });
    until_seen(&leases, &lease_key("a"), 1, 1).await;
    tokio::time::sleep(SECOND).await; // It is subscribed.
    let slot = cluster.slot_of(b"{a}").await;
    let old = cluster.owner_of(slot).await;
    let new = cluster.nodes().iter().find(|node| node.port() != old.port()).unwrap();
    cluster.move_slot(slot, new).await;
    held.refresh().await.unwrap();
    let began = Instant::now();
    assert!(held.release().await.unwrap());
    drop(waiting.await.unwrap().unwrap());
    assert!(began.elapsed() < SECOND + MARGIN, "{:?}", began.elapsed());
}

/// Whose hold is revoked is told in a cluster too, whichever node has it; and what is in use is listed
/// over all of its nodes.
#[tokio::test]
async fn a_revocation_is_told_all_over_a_cluster() {
    let cluster = Cluster::start().await;
    let (leases, operator) = (connect(&cluster.url()).await, connect(&cluster.url()).await);
    let mut held = Vec::new();
    for name in names(&cluster).await {
        let lease = leases.lease(&name).unwrap().ttl(3600 * SECOND).acquire().await.unwrap();
        held.push((name, lease));
    }
    let listed = operator.list(&NamePattern::new("*").unwrap()).await.unwrap();
    assert_eq!(listed.len(), held.len());
    // From when it is heard; until then its refresh would tell.
    leases_tests::servers::until("revocations are heard", || async {
        let lease = leases.lease("first").unwrap().acquire().await.unwrap();
        assert_eq!(operator.revoke(&lease_key("first"), None).await.unwrap(), 1);
        tokio::time::timeout(SECOND / 2, lease.lost()).await.ok()
    })
    .await;
    for (name, lease) in &held {
        assert_eq!(operator.revoke(&lease_key(name), None).await.unwrap(), 1);
        let (loss, took) = timed(lease.lost()).await;
        assert_eq!(loss, Loss::Revoked);
        assert!(took < SECOND, "{took:?}");
    }
}

/// A node that is stopped costs nobody a hold on the others, and is itself unavailable in time. No
/// hold that nobody owns stays there when it goes on.
#[tokio::test]
async fn a_stopped_node_of_a_cluster_costs_the_others_nothing() {
    // Without replicas the others go on serving their own slots only if they are told to.
    let lines = ["cluster-require-full-coverage no", "cluster-allow-reads-when-down yes"];
    let cluster = Cluster::start_with(3, &lines).await;
    for node in cluster.nodes() {
        set_config(node, "cluster-node-timeout", "60000").await;
    }
    let leases = connect(&format!("{}?timeout=1s", cluster.url())).await;
    let names = names(&cluster).await;
    let mut held = Vec::new();
    for name in &names {
        let request = leases.lease(name).unwrap().ttl(3 * SECOND).keep_alive();
        held.push(request.acquire().await.unwrap());
    }
    let free = free_names(cluster.nodes()[0].port(), &cluster).await;
    cluster.nodes()[0].pause();
    let began = Instant::now();
    for name in [&names[..1], &free].concat() {
        let (answer, took) = timed(leases.lease(name).unwrap().acquire()).await;
        assert!(is_unavailable(&answer.unwrap_err()));
        assert!(took < SECOND + MARGIN, "{took:?}");
    }
    for name in &names[1..] {
        let (other, took) = timed(leases.lease(name).unwrap().try_acquire()).await;
        assert!(other.unwrap().is_none());
        assert!(took < SECOND / 2, "{took:?}");
    }
    tokio::time::sleep((5 * SECOND).saturating_sub(began.elapsed())).await;
    assert!(held[0].is_lost());
    for lease in &held[1..] {
        assert_eq!(lease.loss(), None, "{}", lease.name());
    }
    for lease in &mut held[1..] {
        assert!(lease.release().await.unwrap(), "{}", lease.name());
    }
    cluster.nodes()[0].resume();
    drop(held);
    for name in names.iter().chain(&free) {
        until_free(&leases, &lease_key(name), 8 * SECOND).await;
    }
}

/// Three names of a node that nobody asked for yet.
async fn free_names(port: u16, cluster: &Cluster) -> Vec<String> {
    let mut names = Vec::new();
    for number in 0.. {
        if names.len() == 3 {
            break;
        }
        let name = format!("free{number}");
        if cluster.node_of(format!("{{{name}}}").as_bytes()).await.port() == port {
            names.push(name);
        }
    }
    names
}

/// Case Q5 on a cluster: a release whose connection was cut is not told as if nothing had been
/// held, unless that is so.
#[tokio::test]
async fn q5_a_cut_release_is_not_answered_from_its_repetition() {
    let cluster = Cluster::start().await;
    let leases = connect(&cluster.url()).await;
    let (mut released, mut unknown) = (0, 0);
    let killing = async {
        loop {
            for node in cluster.nodes() {
                node.kill_clients().await;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let working = async {
        let began = Instant::now();
        while began.elapsed() < 3 * SECOND {
            let Ok(mut held) = acquire(&leases, released + unknown).await else { continue };
            match held.release().await {
                Ok(was_held) => {
                    assert!(was_held, "after {released} releases");
                    released += 1;
                }
                Err(error) => {
                    assert!(is_unavailable(&error));
                    unknown += 1;
                }
            }
        }
    };
    tokio::select! { () = killing => {}, () = working => {} }
    assert!(released > 20, "{released} released, {unknown} unknown");
}

async fn acquire(leases: &Leases, number: u32) -> Result<leases::Lease, leases::Error> {
    leases.lease(format!("l{number}")).unwrap().acquire().await
}
