//! Learning whom others woke: by notifications where the database has them, else by looking.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::attempt::Attempt;
use super::error::Failure;
use super::store::{Doing, Store};
use crate::wake::Wakes;

/// How often is looked while somebody of this process waits: at first, and when nothing was found
/// for a while. One look is about all who wait here.
const BETWEEN_MIN: Duration = Duration::from_millis(5);
const BETWEEN_MAX: Duration = Duration::from_millis(50);

/// Listens for the wake-ups of one handle.
#[derive(Debug)]
pub(super) struct Ear {
    hears: Hears,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// By what it learns of them.
#[derive(Debug)]
pub(super) enum Hears {
    /// By looking, while anybody waits.
    Looking { store: Arc<dyn Store>, wakes: Wakes, timeout: Duration },
    /// By what the database tells.
    Told(Arc<dyn Listens>),
}

/// What listens on a connection of its own.
pub(super) trait Listens: Debug + Send + Sync + 'static {
    /// Returns when it listens.
    fn ready(&self) -> Doing<'_, ()>;

    /// Listens until it is dropped; connects again whenever the connection is lost.
    fn listen(self: Arc<Self>) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
}

impl Ear {
    pub(super) fn new(hears: Hears) -> Self {
        Ear { hears, task: Arc::default() }
    }

    /// Returns when what is told is heard.
    pub(super) async fn open(&self, timeout: Duration) -> Result<(), Failure> {
        let Hears::Told(listens) = &self.hears else { return Ok(()) };
        self.start();
        let ready = tokio::time::timeout(timeout, listens.ready()).await;
        ready.unwrap_or(Err(Failure::NotConnected { within: timeout, last: None }))
    }

    /// Makes sure that the task runs, where a runtime is at hand; one that ended is replaced.
    /// Called after somebody began to wait.
    pub(super) fn start(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        *task = Some(match &self.hears {
            Hears::Told(listens) => tokio::spawn(Arc::clone(listens).listen()),
            Hears::Looking { store, wakes, timeout } => {
                let (store, wakes) = (Arc::clone(store), wakes.clone());
                tokio::spawn(look(store, wakes, *timeout, Arc::clone(&self.task)))
            }
        });
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        if let Some(task) = &*self.task.lock().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}

/// Looks for who was woken, until nobody waits here.
async fn look(
    store: Arc<dyn Store>,
    wakes: Wakes,
    timeout: Duration,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
) {
    let mut pause = BETWEEN_MIN;
    loop {
        tokio::time::sleep(pause).await;
        {
            // Under the lock: who begins to wait now starts the next one.
            let mut task = task.lock().unwrap_or_else(PoisonError::into_inner);
            if wakes.is_empty() {
                *task = None;
                return;
            }
        }
        let attempt = Attempt::default();
        let woken = match tokio::time::timeout(timeout, store.woken(&attempt)).await {
            Ok(Ok(woken)) => woken,
            Ok(Err(failure)) => {
                tracing::debug!(%failure, "could not look who was woken");
                Vec::new()
            }
            Err(_) => Vec::new(),
        };
        wakes.wake(&woken);
        pause = if woken.is_empty() { (pause * 5 / 4).min(BETWEEN_MAX) } else { BETWEEN_MIN };
    }
}
