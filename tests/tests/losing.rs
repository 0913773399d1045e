//! Why a hold is gone: the reason that is told is the right one, and stays told.

use std::time::Duration;

use leases::{Key, Kind, Leases, Loss, Name};
use leases_tests::{Door, World};

const SECOND: Duration = Duration::from_secs(1);

fn world() -> (World, Leases) {
    let world = World::memory(Door::Native);
    let leases = world.leases();
    (world, leases)
}

#[tokio::test]
async fn a_release_that_finds_nothing_learns_why() {
    let (_, leases) = world();
    let request = leases.lease("a").unwrap().owner("job");
    let mut superseded = request.acquire().await.unwrap();
    let mut revoked = request.acquire().await.unwrap();
    let key = Key { kind: Kind::Lease, name: Name::new("a").unwrap() };
    assert_eq!(leases.revoke(&key, None).await.unwrap(), 1);
    assert!(!superseded.release().await.unwrap());
    assert!(!revoked.release().await.unwrap());
    assert_eq!(superseded.loss(), Some(Loss::Superseded));
    assert_eq!(revoked.loss(), Some(Loss::Revoked));
}

#[tokio::test]
async fn a_release_after_the_loss_does_not_change_its_reason() {
    let (world, leases) = world();
    let request = leases.lease("a").unwrap().ttl(60 * SECOND).max_hold(SECOND);
    let mut held = request.acquire().await.unwrap();
    world.pass(SECOND);
    assert_eq!(held.loss(), Some(Loss::MaxHold));
    assert!(!held.release().await.unwrap());
    assert_eq!(held.loss(), Some(Loss::MaxHold));
}
