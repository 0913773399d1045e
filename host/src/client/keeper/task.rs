//! The task: it sleeps until something is due, sends it in one batch, and deals with the answer.

use std::sync::Arc;

use super::holds::Batch;
use crate::backend::Refresh;
use crate::client::leases::Shared;
use crate::client::vitals::Refreshing;
use crate::clock::Moment;
use crate::error::Applied;

/// Starts the task, where a runtime is at hand.
pub(super) fn start(shared: &Arc<Shared>) {
    tokio::spawn(keep_all(Running { shared: Arc::clone(shared), is_over: false }));
}

/// The task's hold on the keeper: however the task ends, the keeper knows that it has.
struct Running {
    shared: Arc<Shared>,
    /// It ended because there was nothing to do; another may run by now.
    is_over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let Shared { keeper, clock, give_back, .. } = &*self.shared;
        let given_up = {
            let mut holds = keeper.holds();
            holds.running = false;
            holds.batch_was_dropped(clock.now())
        };
        keeper.batch_ended.notify_waiters();
        for (key, holder) in given_up {
            give_back.give_back(&key, holder);
        }
    }
}

/// Refreshes until nothing is kept any more.
async fn keep_all(mut running: Running) {
    let shared = Arc::clone(&running.shared);
    let (shared, keeper) = (&*shared, &shared.keeper);
    loop {
        let batch = {
            let mut holds = keeper.holds();
            if holds.is_empty() {
                holds.running = false;
                running.is_over = true;
                return;
            }
            holds.take_due(shared.clock.now())
        };
        if batch.refreshes.is_empty() {
            sleep_until_due(shared).await;
        } else {
            refresh(shared, batch).await;
        }
    }
}

async fn sleep_until_due(shared: &Shared) {
    let earlier = shared.keeper.earlier.notified();
    let next = shared.keeper.holds().next();
    match next {
        None => earlier.await, // All that is kept is being refreshed by hand.
        Some(next) => tokio::select! {
            () = earlier => {}
            () = shared.clock.sleep_until(next) => {}
        },
    }
}

/// Sends one batch and deals with its answer.
async fn refresh(shared: &Shared, batch: Batch) {
    let answered = tokio::select! {
        biased;
        answered = shared.backend.refresh(&batch.refreshes) => answered,
        () = shared.clock.sleep_until(waited_for_until(shared, &batch)) => Ok(Vec::new()),
    };
    let is_confirmed = answered.as_ref().is_ok_and(|answers| !answers.is_empty());
    shared.measures.batch(batch.refreshes.len(), is_confirmed);
    let (answers, applied) = answered.map_or_else(
        |error| {
            tracing::debug!(batch = batch.refreshes.len(), ?error, "a refresh was not confirmed");
            (Vec::new(), error.applied)
        },
        |answers| (answers, Applied::Unknown),
    );
    let mut answers = answers.into_iter();
    let given_up = {
        let now = shared.clock.now();
        let mut holds = shared.keeper.holds();
        let sent = batch.refreshes.iter().zip(&batch.sent);
        let over = |(refresh, sent): (&Refresh, &Refreshing)| {
            let given_up = holds.answered(refresh.holder, sent, answers.next(), applied, now);
            given_up.then(|| (refresh.key.clone(), refresh.holder))
        };
        sent.filter_map(over).collect::<Vec<_>>()
    };
    shared.keeper.batch_ended.notify_waiters();
    for (key, holder) in given_up {
        shared.give_back.give_back(&key, holder);
    }
    for (sign, answer) in batch.signs.into_iter().zip(answers) {
        let _ = sign.send(answer); // A waiter that no longer listens is gone.
    }
}

/// How long an answer is waited for: the shortest hold, or ticket, wants another try.
fn waited_for_until(shared: &Shared, batch: &Batch) -> Moment {
    let shortest = batch.refreshes.iter().map(|one| one.extend.lasts()).min().unwrap_or_default();
    shared.clock.now().after(shortest / 6)
}
