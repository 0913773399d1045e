//! Grants that nobody picks up: replies that came for a future which is kept and no longer polled.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::leases::Shared;
use crate::backend::Reply;
use crate::clock::{Clock, Moment};
use crate::error::BackendError;
use crate::holder::{HolderId, HolderMap};
use crate::name::Key;
use crate::spec::Rules;

/// The asks that are on their way over a network.
///
/// A future learns of its reply when it is polled. One that has been woken and is not polled for
/// the claim time (a guest's call in a store that its host keeps, a branch that a program forgot)
/// may hold a grant that nobody knows of: it is given back.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    asks: Mutex<Asks>,
}

#[derive(Debug, Default)]
struct Asks {
    under_way: HolderMap<Arc<Claim>>,
    /// Whether the task runs, and whether an ask began since it last looked.
    running: bool,
    any_since: bool,
}

/// One ask's claim to its reply. Wakes the one who polls, and notes when.
#[derive(Debug)]
struct Claim {
    key: Key,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Who polled last.
    waker: Option<Waker>,
    /// Since when there is something to pick up; none once it polls.
    woken_at: Option<Moment>,
    given_back: bool,
}

/// Its reply was not picked up in time. Whatever it was granted is being given back.
#[derive(Debug)]
pub(super) struct GivenBack;

/// An ask on its way, which has a claim to its reply while it is polled.
pub(super) struct Claimed<'a, T> {
    reply: Reply<'a, T>,
    holder: HolderId,
    claim: Arc<Claim>,
    shared: &'a Shared,
}

impl Claims {
    /// Watches over an ask. Called where a runtime is at hand.
    pub(super) fn watch<'a, T>(
        shared: &'a Arc<Shared>,
        key: &Key,
        holder: HolderId,
        reply: Reply<'a, T>,
    ) -> Claimed<'a, T> {
        let claim =
            Claim { key: key.clone(), clock: shared.clock.clone(), state: Mutex::default() };
        let claim = Arc::new(claim);
        let mut asks = shared.claims.lock();
        asks.under_way.insert(holder, Arc::clone(&claim));
        asks.any_since = true;
        if !asks.running {
            asks.running = true;
            tokio::spawn(look(Running { shared: Arc::clone(shared), is_over: false }));
        }
        Claimed { reply, holder, claim, shared }
    }

    /// Those who have not picked up for the claim time; they have no claim any more.
    fn take_unclaimed(&self, now: Moment) -> Vec<(Key, HolderId)> {
        let overdue = |_: &HolderId, claim: &mut Arc<Claim>| {
            let mut state = claim.lock();
            let woken_at = state.woken_at;
            let is_overdue =
                woken_at.is_some_and(|woken_at| now.since(woken_at) >= Rules::default().claim_time);
            state.given_back |= is_overdue;
            is_overdue
        };
        let mut asks = self.lock();
        let unclaimed = asks.under_way.extract_if(overdue);
        unclaimed.map(|(holder, claim)| (claim.key.clone(), holder)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Asks> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Claim {
    fn wake(self: Arc<Self>) {
        let waker = {
            let now = self.clock.now();
            let mut state = self.lock();
            state.woken_at.get_or_insert(now);
            state.waker.clone()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T: Unpin> Future for Claimed<'_, T> {
    type Output = Result<Result<T, BackendError>, GivenBack>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        {
            let mut state = self.claim.lock();
            if state.given_back {
                return Poll::Ready(Err(GivenBack));
            }
            state.woken_at = None;
            state.waker = Some(context.waker().clone());
        }
        let waker = Waker::from(Arc::clone(&self.claim));
        Pin::new(&mut self.reply).poll(&mut Context::from_waker(&waker)).map(Ok)
    }
}

impl<T> Drop for Claimed<'_, T> {
    fn drop(&mut self) {
        self.shared.claims.lock().under_way.remove(&self.holder);
    }
}

/// The task's hold on the claims: however it ends, they know that it has.
struct Running {
    shared: Arc<Shared>,
    /// It ended because there was nothing to do; another may run by now.
    is_over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            self.shared.claims.lock().running = false;
        }
    }
}

/// Looks for replies that nobody picked up, until no ask began for a while and none is under way.
async fn look(mut running: Running) {
    let shared = Arc::clone(&running.shared);
    loop {
        let next = shared.clock.now().after(Rules::default().claim_time / 4);
        shared.clock.sleep_until(next).await;
        for (key, holder) in shared.claims.take_unclaimed(shared.clock.now()) {
            tracing::debug!(%key, "nobody picked up what was asked for: it is given back");
            shared.give_back.give_back(&key, holder);
        }
        let mut asks = shared.claims.lock();
        if asks.under_way.is_empty() && !asks.any_since {
            asks.running = false;
            running.is_over = true;
            return;
        }
        asks.any_since = false;
    }
}
