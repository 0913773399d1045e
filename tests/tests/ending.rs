//! Ending a handle, and carrying a hold from one to another.

use std::sync::Arc;
use std::time::Duration;

use leases::spec::KeyView;
use leases::{Backend, ErrorKind, Lease, Leases, Loss, ManualClock, Permit, Wait};
use leases_tests::faults::{Fault, Faulty, Slow};
use leases_tests::world::{acquiring_with, key, memory};
use leases_tests::{Door, Failure, World, lease, semaphore};

const SECOND: Duration = Duration::from_secs(1);

fn world() -> (World, Arc<Faulty>) {
    let time = ManualClock::new();
    let backend = Arc::new(Faulty::new(Arc::new(memory(&time)), time.clock()));
    (World::in_process(Arc::clone(&backend) as Arc<dyn Backend>, time, Door::Native), backend)
}

#[tokio::test]
async fn close_gives_back_what_is_held_and_what_waits() {
    for world in [world().0, World::memory(Door::Native)] {
        let leases = world.leases();
        let plain = leases.lease("a").unwrap().acquire().await.unwrap();
        let kept = leases.semaphore("b", 2).unwrap().keep_alive().acquire().await.unwrap();
        let lost = kept.lost();
        let other = world.leases().lease("c").unwrap().acquire().await.unwrap();
        let waiter = acquiring_with(leases.lease("c").unwrap());
        world.settle().await;
        assert_eq!(world.view(&lease("c")).await.waiters.len(), 1);
        leases.close(SECOND).await.unwrap();
        for ask in [lease("a"), semaphore("b", 2)] {
            world.until_free(&ask).await;
        }
        assert_eq!(waiter.end().await.err(), Some(Failure::Unavailable));
        assert_eq!(world.view(&lease("c")).await.waiters.len(), 0);
        assert_eq!((plain.loss(), lost.await), (Some(Loss::Released), Loss::Released));
        let refused = leases.lease("d").unwrap().acquire().await.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Unavailable(_)), "{refused}");
        assert!(!other.is_lost(), "another handle's");
        leases.close(SECOND).await.unwrap();
    }
}

#[tokio::test]
async fn close_says_what_it_could_not_give_back() {
    let (world, backend) = world();
    let leases = world.leases();
    let _a = leases.lease("a").unwrap().acquire().await.unwrap();
    let _b = leases.semaphore("b", 2).unwrap().acquire().await.unwrap();
    backend.always(Fault::Hang);
    let closing = tokio::spawn({
        let leases = leases.clone();
        async move { leases.close(SECOND).await }
    });
    world.settle().await;
    world.pass(SECOND);
    let left = closing.await.unwrap().unwrap_err();
    assert_eq!(left.keys(), [key(&lease("a")), key(&semaphore("b", 2))]);
    let said = "not given back in time, and left to their ttl: lease a, semaphore b";
    assert_eq!(left.to_string(), said);
}

#[tokio::test]
async fn what_was_dropped_before_is_waited_for() {
    let (world, backend) = world();
    let leases = world.leases();
    let held = leases.lease("a").unwrap().acquire().await.unwrap();
    backend.always(Fault::DelayReply(SECOND));
    drop(held);
    world.settle().await;
    let closing = tokio::spawn(async move { leases.close(2 * SECOND).await });
    world.settle().await;
    assert!(!closing.is_finished());
    world.pass(SECOND);
    closing.await.unwrap().unwrap();
}

/// An ask that was on its way when its handle was closed: what it was granted is given back before
/// the close has answered.
#[tokio::test]
async fn close_waits_for_asks_on_their_way() {
    for turns in 0..16 {
        for wait in [Wait::Never, Wait::Forever] {
            let time = ManualClock::new();
            let backend = Arc::new(Slow::new(Arc::new(memory(&time)), 3));
            let world = World::in_process(backend, time, Door::Native);
            let leases = world.leases();
            let asking = acquiring_with(leases.lease("a").unwrap().wait(wait));
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            leases.close(SECOND).await.unwrap();
            let free = world.view(&lease("a")).await == KeyView::default();
            assert!(free, "after {turns} turns, {wait:?}");
            if let Ok(held) = asking.end().await {
                assert_eq!(held.look().await.lost, Some(Loss::Released));
            }
            world.settle().await;
            assert_eq!(world.view(&lease("a")).await, KeyView::default());
        }
    }
}

/// Its handle is dropped while it is being given back: that it is dropped gives nothing back.
#[tokio::test]
async fn a_handle_dropped_while_closing_is_waited_for() {
    for kept in [false, true] {
        let (world, backend) = world();
        let leases = world.leases();
        let request = leases.lease("a").unwrap().ttl(10 * SECOND);
        let request = if kept { request.keep_alive() } else { request };
        let held = request.acquire().await.unwrap();
        backend.always(Fault::DelayReply(SECOND));
        if kept {
            world.pass_slowly(4 * SECOND).await; // A refresh is on its way.
        }
        let closing = tokio::spawn(async move { leases.close(20 * SECOND).await });
        world.settle().await;
        drop(held);
        world.settle().await;
        assert!(!closing.is_finished(), "kept {kept}");
        world.pass_slowly(3 * SECOND).await;
        closing.await.unwrap().unwrap();
        world.until_free(&lease("a")).await;
    }
}

/// From a scheduler to a worker: another handle on the same backend.
#[tokio::test]
async fn a_hold_is_carried_to_another_handle() {
    let (world, _) = world();
    let scheduler: Leases = world.leases();
    let request = scheduler.lease("import/é").unwrap().ttl(SECOND).owner("job 7").keep_alive();
    let held = request.acquire().await.unwrap();
    let (fence, lost) = (held.fence(), held.lost());
    let text = held.detach().await.unwrap();
    assert_eq!(lost.await, Loss::Released, "of the first handle");
    assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)), "{text}");
    world.pass(SECOND / 2);
    let worker: Leases = world.leases();
    let mut taken = worker.attach::<Lease>(&text).await.unwrap().keep_alive();
    assert_eq!((taken.name(), taken.owner(), taken.fence()), ("import/é", Some("job 7"), fence));
    world.pass_slowly(3 * SECOND).await;
    assert!(!taken.is_lost());
    assert!(taken.release().await.unwrap());
    let late = worker.attach::<Lease>(&text).await.unwrap_err();
    assert_eq!(late.kind(), &ErrorKind::Lost(Loss::Expired));
}

#[tokio::test]
async fn a_permit_is_carried_with_its_slot() {
    let (world, _) = world();
    let leases = world.leases();
    let request = leases.semaphore("b", 3).unwrap();
    let _zero = request.acquire().await.unwrap();
    let text = request.acquire().await.unwrap().detach().await.unwrap();
    assert_eq!(world.view(&semaphore("b", 3)).await.holders.len(), 2, "detached, and held");
    let bad = leases.attach::<Lease>(&text).await.unwrap_err();
    assert!(matches!(bad.kind(), ErrorKind::Invalid(_)), "of the other kind: {bad}");
    assert_eq!(leases.attach::<Permit>(&text).await.unwrap().slot(), 1);
}

#[tokio::test]
async fn a_detached_hold_ends_with_its_ttl() {
    let (world, _) = world();
    let leases = world.leases();
    let held = leases.lease("a").unwrap().ttl(SECOND).acquire().await.unwrap();
    let text = held.detach().await.unwrap();
    world.pass(SECOND);
    let late = leases.attach::<Lease>(&text).await.unwrap_err();
    assert_eq!(late.kind(), &ErrorKind::Lost(Loss::Expired));
    let lost = leases.lease("a").unwrap().ttl(SECOND).acquire().await.unwrap();
    world.pass(SECOND);
    assert_eq!(lost.detach().await.unwrap_err().kind(), &ErrorKind::Lost(Loss::Expired));
}

#[tokio::test]
async fn a_text_that_is_none_is_refused() {
    let (world, _) = world();
    let leases = world.leases();
    let text = leases.lease("a").unwrap().acquire().await.unwrap().detach().await.unwrap();
    let parts: Vec<&str> = text.split('.').collect();
    let mut bad = vec![String::new(), "hold1".to_owned(), format!("{text}.x"), "é".to_owned()];
    for at in 0..parts.len() - 1 {
        let mut changed = parts.clone();
        changed[at] = "?";
        bad.push(changed.join("."));
        bad.push(parts[..at].join("."));
    }
    for text in bad {
        let refused = leases.attach::<Lease>(&text).await.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{text:?}: {refused}");
        assert_eq!(refused.to_string(), "attach: invalid hand-over: a text that detach answered");
    }
}

/// Each of two handles on one hold can end the other's, and no more: others are kept on.
#[tokio::test]
async fn a_hold_that_is_attached_twice_and_kept_hinders_no_other() {
    let (world, _) = world();
    let leases = world.leases();
    let kept = |name: &str| leases.lease(name).unwrap().ttl(SECOND).keep_alive();
    let other = kept("b").acquire().await.unwrap();
    let text = kept("a").acquire().await.unwrap().detach().await.unwrap();
    let mut first = leases.attach::<Lease>(&text).await.unwrap().keep_alive();
    let second = leases.attach::<Lease>(&text).await.unwrap().keep_alive();
    world.pass_slowly(2 * SECOND).await;
    assert_eq!(second.loss(), None);
    first.release().await.unwrap();
    drop((first, second));
    world.pass_slowly(3 * SECOND).await;
    assert_eq!(other.loss(), None);
}

#[tokio::test]
async fn close_leaves_a_detached_hold() {
    let (world, _) = world();
    let leases = world.leases();
    let text = leases.lease("a").unwrap().acquire().await.unwrap().detach().await.unwrap();
    leases.close(SECOND).await.unwrap();
    let _attached = world.leases().attach::<Lease>(&text).await.unwrap();
}
