//! Operations that the backend did not confirm: never reported as held, never as lost before the
//! deadline, and nothing stays behind.

use std::sync::Arc;
use std::time::Duration;

use leases::{Applied, Backend, ErrorKind, Leases, ManualClock};
use leases_tests::faults::{Fault, Faulty};
use leases_tests::world::memory;
use leases_tests::{Ask, Door, World, lease};

const SECOND: Duration = Duration::from_secs(1);

struct Unreliable {
    world: World,
    leases: Leases,
    backend: Arc<Faulty>,
}

impl Unreliable {
    fn new() -> Self {
        let time = ManualClock::new();
        let backend = Arc::new(Faulty::new(Arc::new(memory(&time)), time.clock()));
        let world = World::in_process(Arc::clone(&backend) as Arc<dyn Backend>, time, Door::Native);
        let leases = world.leases();
        Unreliable { world, leases, backend }
    }
}

fn a() -> Ask {
    lease("a")
}

#[tokio::test]
async fn a_grant_whose_reply_was_lost_is_given_back() {
    for (fault, applied) in [(Fault::LoseReply, Applied::Unknown), (Fault::Fail, Applied::No)] {
        let Unreliable { world, leases, backend } = Unreliable::new();
        let request = leases.lease("a").unwrap();
        backend.next(&[fault, Fault::None]);
        let failed = request.try_acquire().await.unwrap_err();
        assert_eq!(failed.kind(), &ErrorKind::Unavailable(applied));
        world.until_free(&a()).await;
        backend.next(&[fault, Fault::None]);
        let failed = request.acquire().await.unwrap_err();
        assert_eq!(failed.kind(), &ErrorKind::Unavailable(applied));
        world.until_free(&a()).await;
    }
}

/// It has a ticket when its second ask fails: the ticket goes too.
#[tokio::test]
async fn a_waiter_whose_ask_failed_leaves_no_ticket() {
    for fault in [Fault::LoseReply, Fault::LoseRequest, Fault::Fail] {
        let Unreliable { world, leases, backend } = Unreliable::new();
        let held = leases.lease("a").unwrap().ttl(60 * SECOND).acquire().await.unwrap();
        let waiter = world.in_line(&a().waiting()).await;
        backend.always(fault);
        world.pass_slowly(SECOND).await;
        assert!(waiter.end().await.is_err());
        backend.always(Fault::None);
        world.until("nobody waits", async || world.view(&a()).await.waiters.is_empty()).await;
        drop(held);
        world.until_free(&a()).await;
    }
}

/// What is dropped while the backend fails is given back when it answers again.
#[tokio::test]
async fn giving_back_is_tried_again() {
    let Unreliable { world, leases, backend } = Unreliable::new();
    let held = leases.lease("a").unwrap().acquire().await.unwrap();
    backend.next(&[Fault::Fail, Fault::Fail, Fault::None]);
    drop(held);
    world.until_free(&a()).await;
    assert_eq!(backend.still_to_come(), 0);
}

/// Case H8: after a release that was not confirmed it may be released again, or dropped.
#[tokio::test]
async fn h8_a_release_that_failed_can_be_tried_again() {
    let Unreliable { world, leases, backend } = Unreliable::new();
    let request = leases.lease("a").unwrap();
    let mut held = request.acquire().await.unwrap();
    backend.next(&[Fault::Fail, Fault::None]);
    assert!(held.release().await.is_err());
    assert_eq!(held.loss(), None, "it is not known to be gone");
    assert!(held.release().await.unwrap());

    let mut held = request.acquire().await.unwrap();
    backend.next(&[Fault::LoseReply, Fault::None]);
    assert!(held.release().await.is_err());
    assert!(!held.release().await.unwrap(), "the first had been applied");

    let mut held = request.acquire().await.unwrap();
    backend.next(&[Fault::Fail, Fault::None]);
    assert!(held.release().await.is_err());
    drop(held);
    world.until_free(&a()).await;
}

/// Case H5: one failure gives up nothing. The hold counts on the nearer of its two possible ends,
/// and on its own where the refresh was surely not applied.
#[tokio::test]
async fn h5_a_refresh_that_failed_is_no_loss() {
    let Unreliable { leases, backend, .. } = Unreliable::new();
    let mut held = leases.lease("a").unwrap().ttl(10 * SECOND).acquire().await.unwrap();
    backend.next(&[Fault::Fail, Fault::None]);
    assert!(held.refresh_for(SECOND).await.is_err());
    assert_eq!(held.remaining(), 9 * SECOND);
    backend.next(&[Fault::LoseReply, Fault::None]);
    assert!(held.refresh_for(60 * SECOND).await.is_err());
    assert_eq!(held.remaining(), 9 * SECOND);
    backend.next(&[Fault::LoseReply, Fault::None]);
    assert!(held.refresh_for(SECOND).await.is_err());
    assert_eq!(held.remaining(), SECOND * 9 / 10);
    assert_eq!(held.loss(), None);
    assert_eq!(held.refresh().await.unwrap(), 9 * SECOND);
}
