//! Case P10: what a plugin asks for counts from the start of the ask until what came of it is gone.

use std::sync::Arc;
use std::time::Duration;

use leases::{
    Backend, Clock, Counts, Error, ErrorKind, Grant, Lease, Leases, MemoryBackend, MemoryConfig,
    Policy, PolicyBuilder, Quota, Rate, Scope,
};
use leases_tests::faults::{Fault, Faulty};
use leases_tests::trouble::cancelled_after;
use tokio::task::{JoinSet, yield_now};

use crate::stage::{backends, pattern};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(600);
const PATIENCE: Duration = Duration::from_secs(20);

/// Three holds, two waits.
fn policy() -> PolicyBuilder {
    let policy = Policy::builder().grant(Grant::new(pattern("*"))).held(3).waiting(2);
    policy.acquires(Rate::UNLIMITED).wait_max(LONG)
}

fn plugin(leases: &Leases, policy: PolicyBuilder) -> Scope {
    let plugin = leases::PluginId::new("plugin").expect("an identity");
    Scope::new(leases.clone(), plugin, policy.build().expect("a policy"))
}

fn over(backend: &Arc<dyn Backend>) -> Leases {
    Leases::builder(Arc::clone(backend)).build()
}

async fn once(scope: &Scope, name: &str) -> Result<Option<Lease>, Error> {
    scope.lease(name).expect("it is granted").ttl(LONG).try_acquire().await
}

/// Waits for as long as it takes, by itself.
fn waiting(scope: &Scope, name: &str) -> tokio::task::JoinHandle<Result<Lease, Error>> {
    let request = scope.lease(name).expect("it is granted").ttl(LONG).wait(LONG);
    tokio::spawn(async move { request.acquire().await })
}

#[track_caller]
fn refused<T>(answer: Result<T, Error>, quota: Quota) {
    match answer {
        Err(error) => assert_eq!(*error.kind(), ErrorKind::OverQuota(quota)),
        Ok(_) => panic!("more than {quota:?} allows"),
    }
}

async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let coming = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, coming).await;
    in_time.unwrap_or_else(|_| panic!("it did not come true that {what}"));
}

async fn until_counts(scope: &Scope, held: u32, waiting: u32) {
    let wanted = Counts { held, waiting };
    until(&format!("{wanted:?}, not {:?}", scope.counts()), async || scope.counts() == wanted)
        .await;
}

/// However many start together, and however long their grants are on their way.
#[tokio::test]
async fn p10_of_asks_that_start_together_no_more_than_may_be_held_get_through() {
    for backend in backends() {
        let leases = over(&backend);
        // Two scopes, as two instances have them: one plugin.
        let scopes = [plugin(&leases, policy()), plugin(&leases, policy())];
        for _ in 0..20 {
            let mut asking = JoinSet::new();
            for number in 0..12 {
                let scope = scopes[number % 2].clone();
                asking.spawn(async move { once(&scope, &format!("n{number}")).await });
            }
            let mut held = Vec::new();
            while let Some(answer) = asking.join_next().await {
                assert!(scopes[0].counts().held <= 3, "{:?}", scopes[0].counts());
                match answer.expect("it does not panic") {
                    Ok(lease) => held.push(lease.expect("nobody else asks for it")),
                    refusal => refused(refusal, Quota::Held),
                }
            }
            assert_eq!(held.len(), 3);
            assert_eq!(scopes[1].counts(), Counts { held: 3, waiting: 0 });
            drop(held);
            until_counts(&scopes[0], 0, 0).await;
        }
    }
}

#[tokio::test]
async fn p10_an_ask_that_waits_counts_from_its_start() {
    for backend in backends() {
        let leases = over(&backend);
        let scope = plugin(&leases, policy());
        let mut other = leases.lease("a").unwrap().ttl(LONG).acquire().await.unwrap();
        let (mut one, mut another) = (waiting(&scope, "a"), waiting(&scope, "a"));
        until_counts(&scope, 2, 2).await;
        refused(waiting(&scope, "a").await.unwrap(), Quota::Waiting);
        refused(waiting(&scope, "free").await.unwrap(), Quota::Waiting);
        assert_eq!(scope.counts(), Counts { held: 2, waiting: 2 }, "what is refused is no more");
        let third = once(&scope, "b").await.unwrap().expect("free");
        refused(once(&scope, "c").await, Quota::Held);
        other.release().await.unwrap();
        // Both were sent at once: either may be the first in line.
        let (first, second) = tokio::select! {
            held = &mut one => (held, another),
            held = &mut another => (held, one),
        };
        let mut first = first.unwrap().unwrap();
        assert_eq!(scope.counts(), Counts { held: 3, waiting: 1 }, "it waits no more, and holds");
        first.release().await.unwrap();
        drop(first);
        drop(second.await.unwrap().unwrap());
        drop(third);
        until_counts(&scope, 0, 0).await;
    }
}

#[tokio::test]
async fn p10_counts_come_back_whichever_way_an_ask_or_a_hold_ends() {
    for backend in backends() {
        let leases = over(&backend);
        let scope = plugin(&leases, policy());
        let other = leases.lease("a").unwrap().ttl(LONG).acquire().await.unwrap();
        assert!(once(&scope, "a").await.unwrap().is_none());
        assert_eq!(scope.counts(), Counts::default(), "refused");
        let in_time = scope.lease("a").unwrap().wait(Duration::from_millis(20)).acquire().await;
        assert_eq!(*in_time.unwrap_err().kind(), ErrorKind::NotAcquired);
        until_counts(&scope, 0, 0).await;
        let invalid = scope.lease("b").unwrap().ttl(Duration::ZERO).try_acquire().await;
        assert!(matches!(invalid.unwrap_err().kind(), ErrorKind::Invalid(_)));
        assert_eq!(scope.counts(), Counts::default(), "invalid");
        let cancelled = waiting(&scope, "a");
        until_counts(&scope, 1, 1).await;
        cancelled.abort();
        until_counts(&scope, 0, 0).await;
        let mut held = once(&scope, "b").await.unwrap().expect("free");
        assert!(held.release().await.unwrap());
        drop(held);
        assert_eq!(scope.counts(), Counts::default(), "released");
        let held = once(&scope, "b").await.unwrap().expect("free");
        let waits = waiting(&scope, "a");
        until_counts(&scope, 2, 1).await;
        assert_eq!(scope.revoke_all().holds.len(), 1);
        assert!(waits.await.unwrap().is_err());
        drop(held);
        until_counts(&scope, 0, 0).await;
        let held = once(&scope, "b").await.unwrap().expect("free");
        let waits = waiting(&scope, "a");
        until_counts(&scope, 2, 1).await;
        leases.close(PATIENCE).await.unwrap();
        assert!(waits.await.unwrap().is_err());
        drop((held, other));
        until_counts(&scope, 0, 0).await;
    }
}

/// Whatever the backend answers, or does not. What cannot be given back is left to its ttl, and
/// counts until that is given up.
#[tokio::test]
async fn p10_counts_come_back_after_errors() {
    let memory = || Arc::new(MemoryBackend::new(MemoryConfig::default()));
    for fault in [Fault::Fail, Fault::LoseRequest, Fault::LoseReply] {
        let faulty = Arc::new(Faulty::new(memory(), Clock::system()));
        let leases = over(&(Arc::clone(&faulty) as Arc<dyn Backend>));
        let scope = plugin(&leases, policy());
        for wait in [Duration::ZERO, LONG] {
            faulty.next(&[fault, Fault::None]);
            let asked = scope.lease("a").unwrap().ttl(LONG).wait(wait).acquire().await;
            let kind = asked.unwrap_err().kind().clone();
            assert!(matches!(kind, ErrorKind::Unavailable(_)), "{fault:?}: {kind:?}");
            until_counts(&scope, 0, 0).await;
            let mut held = scope.lease("a").unwrap().try_acquire().await.unwrap().expect("free");
            faulty.next(&[fault, Fault::None]);
            assert!(held.release().await.is_err());
            assert_eq!(scope.counts().held, 1, "it may be held, and its handle lives");
            drop(held);
            until_counts(&scope, 0, 0).await;
        }
    }
}

/// Case P1: a grant whose asker is gone by the time that it arrives is given back at once, and
/// counts until it is: dropped after 0, 1, 2, … polls.
#[tokio::test]
async fn p1_and_p10_a_grant_that_nobody_gets_is_given_back_and_counts_until_then() {
    for backend in backends() {
        let leases = over(&backend);
        let scope = plugin(&leases, policy().held(1).waiting(1));
        let (mut cancelled, mut polls) = (0, 0);
        for _ in 0..200 {
            let request = scope.lease("a").unwrap().ttl(LONG).wait(LONG);
            match cancelled_after(polls, request.acquire()).await {
                None => (cancelled, polls) = (cancelled + 1, polls + 1),
                Some(held) => {
                    drop(held.expect("nobody else asks for it"));
                    polls = 0;
                }
            }
            if scope.counts().held == 0 {
                let others = leases.lease("a").unwrap().try_acquire().await.unwrap();
                drop(others.expect("what counts no more is given back"));
            }
            until_counts(&scope, 0, 0).await;
            until("it is free", async || {
                leases.lease("a").unwrap().try_acquire().await.unwrap().is_some()
            })
            .await;
            yield_now().await;
        }
        assert!(cancelled > 50, "{cancelled}");
    }
}
