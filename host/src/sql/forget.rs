//! Forgetting what nobody used for a long time: a task that looks at a few records at a time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::attempt::Attempt;
use super::store::{Forgotten, Store};

/// The pause after a few records, and after all.
const BETWEEN: Duration = Duration::from_millis(250);
const ROUND_MIN: Duration = Duration::from_millis(250);
const ROUND_MAX: Duration = Duration::from_secs(60);

/// The forgetting of one handle; it ends with it.
#[derive(Debug)]
pub(super) struct Forgetting {
    store: Arc<dyn Store>,
    retention: Duration,
    timeout: Duration,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Forgetting {
    pub(super) fn new(store: Arc<dyn Store>, retention: Duration, timeout: Duration) -> Self {
        let forgetting = Forgetting { store, retention, timeout, task: Mutex::default() };
        forgetting.start();
        forgetting
    }

    /// Makes sure that the task runs, where a runtime is at hand; one that ended with its runtime is
    /// replaced.
    pub(super) fn start(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_none_or(JoinHandle::is_finished) {
            let store = Arc::clone(&self.store);
            *task = Some(tokio::spawn(forget(store, self.retention, self.timeout)));
        }
    }
}

impl Drop for Forgetting {
    fn drop(&mut self) {
        if let Some(task) = self.task.get_mut().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}

async fn forget(store: Arc<dyn Store>, retention: Duration, timeout: Duration) {
    let round = (retention / 8).clamp(ROUND_MIN, ROUND_MAX);
    let mut done = Forgotten::All;
    loop {
        let pause = if done == Forgotten::All { round } else { BETWEEN };
        tokio::time::sleep(pause).await;
        let attempt = Attempt::default();
        let looked = store.forget(&done, retention, &attempt);
        done = match tokio::time::timeout(timeout, looked).await {
            Ok(Ok(done)) => done,
            Ok(Err(failure)) => {
                tracing::debug!(%failure, "idle names are forgotten later");
                Forgotten::All
            }
            Err(_) => Forgotten::All,
        };
    }
}
