//! What is stored, when it is deleted by hand.

use leases::spec::Mode;
use leases::{Kind, Loss, Wait};
use tokio::task::{JoinSet, LocalSet};

use crate::live::{SECOND, ask, lease_key, semaphore_key, until_free, until_seen, view};
use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![
    h2_a_refresh_never_creates_what_was_deleted,
    h2_a_lease_that_lost_a_part_is_not_wedged,
    h2_a_semaphore_that_lost_a_part_is_not_wedged,
];

/// Case H2: a refresh of what was deleted by hand is lost, and makes nothing.
async fn h2_a_refresh_never_creates_what_was_deleted(on: On) {
    let site = on.start().await;
    let leases = site.connect().await;
    let mut lease = leases.lease("a").unwrap().acquire().await.unwrap();
    let mut permit = leases.semaphore("a", 2).unwrap().acquire().await.unwrap();
    let kept = leases.lease("b").unwrap().ttl(3 * SECOND).keep_alive().acquire().await.unwrap();
    for key in [lease_key("a"), semaphore_key("a"), lease_key("b")] {
        site.delete_holds(&key).await;
    }
    assert!(lease.refresh().await.is_err());
    assert!(permit.refresh().await.is_err());
    assert_eq!((lease.loss(), permit.loss()), (Some(Loss::Expired), Some(Loss::Expired)));
    // The keeper learns it with its next refresh, within a third of the ttl, and a second.
    let lost = tokio::time::timeout(2 * SECOND, kept.lost()).await;
    assert_eq!(lost.expect("it is told"), Loss::Expired);
    assert_eq!(site.records().await, 0);
}

async fn h2_a_lease_that_lost_a_part_is_not_wedged(on: On) {
    not_wedged(on, Kind::Lease).await;
}

async fn h2_a_semaphore_that_lost_a_part_is_not_wedged(on: On) {
    not_wedged(on, Kind::Semaphore).await;
}

/// Case H2: a part of a key that was deleted by hand wedges nothing: who held or waited may have to
/// ask again or be lost, and soon all works, with the right count and slots.
async fn not_wedged(on: On, kind: Kind) {
    let at_once = LocalSet::new();
    let each = |part: &&'static str| at_once.spawn_local(not_wedged_without(on, kind, part));
    let all: Vec<_> = on.parts(kind).iter().map(each).collect();
    at_once.await;
    for one in all {
        one.await.unwrap();
    }
}

async fn not_wedged_without(on: On, kind: Kind, part: &str) {
    let (limit, key) = match kind {
        Kind::Lease => (1, lease_key("a")),
        _ => (2, semaphore_key("a")),
    };
    let what = format!("{key}: {part}");
    let site = on.start().await;
    let (leases, bare) = (site.connect().await, site.backend("").await);
    let patience = bare.properties().patience;
    let holders: Vec<_> = (0..limit).map(|_| ask(&key, limit, Mode::Once)).collect();
    for holder in &holders {
        bare.ask(holder).await.unwrap();
    }
    let dead = ask(&key, limit, Mode::Wait { patience });
    bare.ask(&dead).await.unwrap();
    let mut waiting = JoinSet::new();
    for _ in 0..3 {
        let leases = leases.clone();
        waiting.spawn(async move {
            if limit == 1 {
                let lease = leases.lease("a").unwrap().wait(Wait::Forever);
                (lease.acquire().await.expect("it is admitted").release().await, 0)
            } else {
                let permit = leases.semaphore("a", limit).unwrap().wait(Wait::Forever);
                let mut permit = permit.acquire().await.expect("it is admitted");
                (permit.release().await, permit.slot())
            }
        });
    }
    until_seen(&leases, &key, limit as usize, 4).await;
    site.delete_part(&key, part).await;
    view(&leases, &key).await;
    for holder in &holders {
        bare.leave(&key, holder.holder).await.unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    for ended in waiting.join_all().await {
        assert!(ended.0.unwrap(), "{what}");
        assert!(ended.1 < limit, "{what}: slot {}", ended.1);
    }
    // The dead one's ticket lapses too.
    until_free(&leases, &key, patience + SECOND).await;
    site.every_record_ends().await;
}
