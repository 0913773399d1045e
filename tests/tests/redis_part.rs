//! A cluster of which a part does not answer.

use std::collections::btree_map::{BTreeMap, Entry};
use std::time::Duration;

use leases::{Lease, Leases, Loss};
use leases_tests::servers::Cluster;

const TTL: Duration = Duration::from_secs(3);

/// Kept holds, one on each master; the last one is stopped. The others are held on, and the one
/// that can't be refreshed is lost at its own deadline.
#[tokio::test]
async fn a_silent_master_loses_no_hold_of_the_others() {
    // Redis itself stops a whole cluster that misses a part, unless it is told otherwise.
    let cluster = Cluster::start_with(3, &["cluster-require-full-coverage no"]).await;
    let url = format!("{}?timeout=1s", cluster.url());
    let leases = Leases::connect(url).await.unwrap();
    let mut kept = one_on_each(&cluster, &leases).await;
    let (silent, lost) = kept.pop_last().unwrap();
    let silent = cluster.nodes().iter().find(|node| node.port() == silent).unwrap();
    silent.pause();
    let loss = tokio::time::timeout(TTL, lost.lost()).await;
    assert_eq!(loss.expect("its deadline is before its ttl"), Loss::Unconfirmed);
    tokio::time::sleep(2 * TTL).await; // Two ttls, in which the others are refreshed or lost.
    for (port, held) in &kept {
        assert_eq!(held.loss(), None, "on the master at {port}");
    }
    for (_, mut held) in kept {
        assert!(held.release().await.unwrap());
    }
    silent.resume();
    drop(lost);
}

async fn one_on_each(cluster: &Cluster, leases: &Leases) -> BTreeMap<u16, Lease> {
    let mut kept = BTreeMap::new();
    for number in 0.. {
        if kept.len() == cluster.nodes().len() {
            break;
        }
        let name = format!("hold {number}");
        let node = cluster.node_of(format!("{{{name}}}").as_bytes()).await.port();
        if let Entry::Vacant(first) = kept.entry(node) {
            let lease = leases.lease(name).unwrap().ttl(TTL).keep_alive();
            first.insert(lease.acquire().await.unwrap());
        }
    }
    kept
}
