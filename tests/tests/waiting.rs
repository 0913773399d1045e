//! What a wait costs, and replies that come too late.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use leases::{
    Backend, ErrorKind, Grant, Leases, Loss, ManualClock, NamePattern, PluginId, Policy, Scope,
    Wait,
};
use leases_tests::faults::Slow;
use leases_tests::world::{memory, take_turns};

const SECOND: Duration = Duration::from_secs(1);

/// Memory, three polls away in each direction.
fn slow() -> (Leases, Arc<Slow>, ManualClock) {
    let time = ManualClock::new();
    let slow = Arc::new(Slow::new(Arc::new(memory(&time)), 3));
    let leases = Leases::builder(Arc::clone(&slow) as Arc<dyn Backend>).clock(time.clock()).build();
    (leases, slow, time)
}

/// Lets time pass while a reply is on its way back.
async fn with_a_late_reply<F: Future>(time: &ManualClock, late: Duration, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut polled = 0;
    poll_fn(|context| {
        polled += 1;
        if polled == 5 {
            time.advance(late);
        }
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(output),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Case A6, in the other spelling: one ask, which joins no line.
#[tokio::test]
async fn a6_at_most_nothing_is_one_attempt() {
    let (leases, slow, _) = slow();
    let _held = leases.lease("a").unwrap().acquire().await.unwrap();
    let before = slow.round_trips();
    let refused = leases.lease("a").unwrap().wait(Wait::AtMost(Duration::ZERO)).acquire().await;
    assert_eq!(refused.unwrap_err().kind(), &ErrorKind::NotAcquired);
    assert_eq!(slow.round_trips() - before, 1);
}

/// A grant whose reply leaves nothing of it is given back, and no hold.
#[tokio::test]
async fn a_grant_that_comes_too_late_is_given_back() {
    let (leases, slow, time) = slow();
    let request = leases.lease("a").unwrap().ttl(SECOND);
    let late = with_a_late_reply(&time, SECOND * 9 / 10, request.try_acquire()).await;
    assert!(late.unwrap().is_none());
    // By the backend's clock its end has not come: it was given back.
    let again = request.try_acquire().await.unwrap();
    assert!(again.is_some());
    drop(again);

    let before = slow.round_trips();
    let waits = request.wait(5 * SECOND);
    let held = with_a_late_reply(&time, SECOND * 9 / 10, waits.acquire()).await.unwrap();
    assert_eq!(held.remaining(), SECOND * 9 / 10, "of a second grant");
    assert!(slow.round_trips() - before >= 2);
}

/// Decision 2: a refresh whose confirmation leaves nothing is a loss, *unconfirmed*, and what was
/// told stays told.
#[tokio::test]
async fn a_refresh_that_is_confirmed_too_late_is_unconfirmed() {
    let (leases, _, time) = slow();
    let mut held = leases.lease("a").unwrap().ttl(SECOND).acquire().await.unwrap();
    let late = with_a_late_reply(&time, SECOND * 9 / 10, held.refresh()).await;
    assert_eq!(late.unwrap_err().kind(), &ErrorKind::Lost(Loss::Unconfirmed));
    assert_eq!(held.loss(), Some(Loss::Unconfirmed));
    let again = held.refresh().await;
    assert_eq!(again.unwrap_err().kind(), &ErrorKind::Lost(Loss::Unconfirmed));
}

/// Nothing of a duration's whole range panics or turns round.
#[tokio::test]
async fn a_wait_for_ever_and_a_day_is_a_wait() {
    let (leases, _, time) = slow();
    let held = leases.lease("a").unwrap().ttl(SECOND).acquire().await.unwrap();
    let request = leases.lease("a").unwrap().wait(Duration::MAX);
    let waiter = tokio::spawn(async move { request.acquire().await });
    take_turns().await;
    time.advance(SECOND);
    assert!(tokio::time::timeout(10 * SECOND, waiter).await.unwrap().unwrap().is_ok());
    drop(held);
}

/// Case P2, for a door of a host's own: an ask of a scope waits no longer than the scope allows.
#[tokio::test]
async fn p2_an_ask_of_a_scope_has_the_scopes_bound() {
    let (leases, _, time) = slow();
    let _held = leases.lease("a").unwrap().ttl(60 * SECOND).acquire().await.unwrap();
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("a").unwrap()));
    let policy = policy.wait_max(5 * SECOND).build().unwrap();
    let scope = Scope::new(leases, PluginId::new("plugin").unwrap(), policy);
    for wait in [Wait::Forever, Wait::AtMost(30 * SECOND), Wait::default()] {
        let request = scope.lease("a").unwrap().wait(wait);
        let waiter = tokio::spawn(async move { request.acquire().await });
        take_turns().await;
        time.advance(5 * SECOND);
        let ended = tokio::time::timeout(10 * SECOND, waiter).await.expect("its wait has ended");
        assert_eq!(ended.unwrap().unwrap_err().kind(), &ErrorKind::NotAcquired, "{wait:?}");
    }
}

/// Case A7, with a backend whose answer does not come: the wait covers that too.
#[tokio::test]
async fn a7_a_backend_that_does_not_answer_ends_with_the_wait() {
    let time = ManualClock::new();
    let silent = Slow::new(Arc::new(memory(&time)), u32::MAX);
    let leases = Leases::builder(Arc::new(silent)).clock(time.clock()).build();
    let request = leases.lease("a").unwrap().wait(5 * SECOND);
    let waiter = tokio::spawn(async move { request.acquire().await });
    take_turns().await;
    assert!(!waiter.is_finished());
    time.advance(5 * SECOND);
    let ended = tokio::time::timeout(10 * SECOND, waiter).await.expect("its wait has ended");
    assert_eq!(ended.unwrap().unwrap_err().kind(), &ErrorKind::NotAcquired);
}
