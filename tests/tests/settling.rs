//! That a world which has settled is at rest, also where its backend is at the end of a network:
//! nothing here waits for a condition.

use std::sync::Arc;
use std::time::Duration;

use leases::spec::KeyView;
use leases::{Backend, HolderId, Key, Kind, ManualClock, Name};
use leases_tests::faults::Remote;
use leases_tests::{Counted, Door, Setting, World, lease, world};

const SECOND: Duration = Duration::from_secs(1);

/// Each is run so often that what travels has arrived late many times.
const ROUNDS: u32 = 50;

fn remote() -> World {
    let time = ManualClock::new();
    let remote = Arc::new(Remote::new(time.clock()));
    World::new(Setting::new(remote, time), Door::Native)
}

#[tokio::test]
async fn a_waiter_has_been_woken_and_admitted() {
    let world = remote();
    let ask = lease("a").waiting();
    let mut held = world.actor().await.take(ask.clone()).await;
    for round in 0..ROUNDS {
        let waiter = world.in_line(&ask).await;
        held.release().await.unwrap();
        world.settle().await;
        assert!(waiter.is_finished(), "round {round}");
        held = waiter.held().await;
    }
}

/// Each that is admitted releases, which wakes the next.
#[tokio::test]
async fn a_whole_line_has_gone_through() {
    let world = remote();
    let ask = lease("a").waiting();
    for round in 0..ROUNDS / 5 {
        let held = world.actor().await.take(ask.clone()).await;
        for _ in 0..10 {
            let (actor, ask) = (world.actor().await, ask.clone());
            tokio::spawn(async move { actor.take(ask).await.release().await.unwrap() });
        }
        world.settle().await;
        assert_eq!(world.view(&ask).await.waiters.len(), 10, "round {round}");
        held.release().await.unwrap();
        world.settle().await;
        assert_eq!(world.view(&ask).await, KeyView::default(), "round {round}");
    }
}

#[tokio::test]
async fn a_waiter_has_looked_at_an_end_that_came_by_itself() {
    let world = remote();
    let ask = lease("a").ttl(SECOND).waiting();
    let mut held = world.actor().await.take(ask.clone()).await;
    for round in 0..ROUNDS {
        let waiter = world.in_line(&ask).await;
        world.pass(SECOND);
        world.settle().await;
        assert!(waiter.is_finished(), "round {round}");
        drop(std::mem::replace(&mut held, waiter.held().await));
    }
}

#[tokio::test]
async fn what_was_dropped_has_been_given_back() {
    let world = remote();
    let ask = lease("a").waiting();
    for round in 0..ROUNDS {
        let held = world.actor().await.take(ask.clone()).await;
        let waiter = world.in_line(&ask).await;
        waiter.cancel().await;
        world.settle().await;
        assert_eq!(world.view(&ask).await.waiters, [], "round {round}");
        held.forget().await;
        world.settle().await;
        assert_eq!(world.view(&ask).await, KeyView::default(), "round {round}");
    }
}

#[tokio::test]
async fn kept_holds_have_been_refreshed() {
    let world = remote();
    let ask = lease("a").ttl(SECOND).kept();
    let _held = world.actor().await.take(ask.clone()).await;
    world.settle().await;
    for round in 0..ROUNDS {
        world.pass(SECOND / 3);
        world.settle().await;
        assert_eq!(world.view(&ask).await.holders[0].ends_in, SECOND, "round {round}");
    }
}

#[tokio::test]
async fn an_operation_is_in_flight_from_its_call_until_it_is_answered_or_dropped() {
    let counted = Counted::new(Arc::new(world::memory(&ManualClock::new())));
    let key = Key { kind: Kind::Lease, name: Name::new("a").unwrap() };
    let unpolled = counted.leave(&key, HolderId::random());
    let dropped = counted.inspect(&key);
    assert_eq!((counted.began(), counted.in_flight()), (2, 2));
    drop(dropped);
    assert_eq!((counted.began(), counted.in_flight()), (2, 1));
    let mut ended = Box::pin(counted.all_ended());
    assert!(tokio::time::timeout(Duration::ZERO, &mut ended).await.is_err());
    unpolled.await.unwrap();
    ended.await;
    assert_eq!((counted.began(), counted.in_flight()), (2, 0));
}
