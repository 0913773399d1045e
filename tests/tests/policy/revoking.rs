//! Revocation by the host: all of one plugin, whoever has its stores.

use leases::{Counts, Key, Loss, PluginView};
use leases_tests::world::{acquiring, key, take_turns};
use leases_tests::{Actor, Failure, lease, semaphore};

use super::{Host, SECOND, granting};

fn keys(view: &PluginView) -> (Vec<Key>, Vec<Key>) {
    (view.holds.iter().map(|hold| hold.key.clone()).collect(), view.waits.clone())
}

#[tokio::test]
async fn everything_of_a_plugin_is_listed_and_revoked_without_its_store() {
    for host in [Host::new(), Host::slow()] {
        let (scope, guest) = host.plugin("importer", granting("*")).await;
        let (other_scope, other) = host.plugin("exporter", granting("*")).await;
        let others = other.take(lease("c")).await;
        let kept = guest.take(lease("a").owner("job").kept()).await;
        let permit = guest.take(semaphore("b", 2)).await;
        let waiting_guest = host.guest(&scope).await;
        let waiting = acquiring(&waiting_guest, lease("c").waiting());
        let next = acquiring(&host.guest(&other_scope).await, lease("a").waiting());
        while scope.view().waits.is_empty() || other_scope.view().waits.is_empty() {
            tokio::task::yield_now().await;
        }
        let [a, b, c] = [lease("a"), semaphore("b", 2), lease("c")].map(|ask| key(&ask));
        let view = scope.view();
        assert_eq!(keys(&view), (vec![a, b], vec![c.clone()]));
        assert_eq!(view.holds[0].owner.as_ref().unwrap().as_str(), "importer/job");
        assert_eq!(view.holds[0].fence.as_u64(), kept.fence().await);

        let revoked = scope.revoke_all();
        assert_eq!(keys(&revoked), keys(&view));
        // At once, before the backend has it.
        for held in [&kept, &permit] {
            assert_eq!(held.look().await.lost, Some(Loss::Revoked));
            assert_eq!(held.look().await.remaining.as_nanos(), 0);
        }
        assert_eq!(waiting.end().await.err(), Some(Failure::Lost(Loss::Revoked)));
        let next = next.held().await;
        assert_eq!(others.look().await.lost, None, "another plugin's");
        assert!(host.leases.inspect(&c).await.unwrap().waiters.is_empty());
        assert_eq!(scope.view().waits, []);

        // The handles go on telling it, and end like any other.
        assert!(!kept.release().await.unwrap());
        permit.forget().await;
        host.until_gone(&scope).await;
        // It may ask again.
        guest.take(lease("d")).await;
        assert_eq!(scope.counts(), Counts { held: 1, waiting: 0 });
        assert_eq!(next.look().await.lost, None);
        drop((guest, waiting_guest));
        host.until_gone(&scope).await;
    }
}

/// An ask whose grant is on its way is meant too.
#[tokio::test]
async fn what_is_granted_while_it_is_revoked_is_revoked() {
    let host = Host::slow();
    for turns in 0..12 {
        let (scope, guest) = host.plugin("importer", granting("*")).await;
        let asking = acquiring(&guest, lease("a").waiting());
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        let started = scope.counts().held == 1;
        scope.revoke_all();
        match asking.end().await {
            Err(failure) => assert_eq!(failure, Failure::Lost(Loss::Revoked)),
            Ok(held) => {
                let lost = held.look().await.lost;
                assert_eq!(lost, started.then_some(Loss::Revoked), "after {turns} turns");
            }
        }
        drop(guest);
        host.until_gone(&scope).await;
        assert!(host.leases.lease("a").unwrap().try_acquire().await.unwrap().is_some());
    }
}

/// A waiter whose store is kept and whose call nobody polls holds up nobody once it is revoked.
#[tokio::test]
async fn a_waiter_that_nobody_polls_leaves_the_line_when_it_is_revoked() {
    let host = Host::new();
    let scope = host.scope("importer", granting("*"));
    let mut held = host.leases.lease("a").unwrap().ttl(60 * SECOND).acquire().await.unwrap();
    let request = scope.lease("a").unwrap().wait(leases::Wait::Forever);
    let mut unpolled = Box::pin(request.acquire());
    tokio::select! {
        biased;
        _ = &mut unpolled => unreachable!("it is held"),
        () = take_turns() => {}
    }
    let a = key(&lease("a"));
    assert_eq!(host.leases.inspect(&a).await.unwrap().waiters.len(), 1);
    scope.revoke_all();
    assert_eq!(host.leases.inspect(&a).await.unwrap().waiters.len(), 0);
    held.release().await.unwrap();
    let error = unpolled.await.unwrap_err();
    assert_eq!(error.kind(), &leases::ErrorKind::Lost(Loss::Revoked));
    host.until_gone(&scope).await;
}

/// The scope of a host's own door is revoked like a guest's.
#[tokio::test]
async fn a_native_hold_of_a_plugin_is_revoked_too() {
    let host = Host::new();
    let scope = host.scope("importer", granting("*"));
    let held = scope.lease("a").unwrap().acquire().await.unwrap();
    let lost = held.lost();
    scope.revoke_all();
    assert_eq!(lost.await, Loss::Revoked);
    assert_eq!(held.loss(), Some(Loss::Revoked));
    let again = host.guest(&scope).await;
    assert!(matches!(&again, Actor::Wasm(_)));
    again.take(lease("a")).await;
}
