//! Giving back what was dropped.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};

use super::live::Live;
use crate::backend::{Backend, Properties};
use crate::holder::HolderId;
use crate::measures::Measures;
use crate::name::Key;
use crate::policy::Place;

/// The most that are dropped and not yet given back. Beyond, their ttl ends them.
const QUEUED_MAX: usize = 10_000;
/// How many are given back at once.
const AT_ONCE_MAX: usize = 32;
/// How often one is tried, each time after twice the pause, before it is left to its ttl.
const TRIES_MAX: u32 = 6;
const PAUSE_FIRST: Duration = Duration::from_millis(100);

/// Gives back dropped holds and abandoned asks, without I/O in the one who drops.
#[derive(Debug)]
pub(crate) struct GiveBack {
    backend: Arc<dyn Backend>,
    properties: Properties,
    live: Arc<Live>,
    measures: Measures,
    queue: Mutex<Option<mpsc::Sender<Dropped>>>,
}

/// What is to be given back. Dropped before it was, with the queue or a task of a runtime that
/// ended, it is left to its ttl.
#[derive(Debug)]
struct Dropped {
    key: Key,
    holder: HolderId,
    live: Arc<Live>,
    measures: Measures,
    is_given_back: bool,
}

impl Drop for Dropped {
    fn drop(&mut self) {
        self.measures.given_back(self.is_given_back);
        if self.is_given_back {
            self.live.remove(self.holder);
        } else {
            if !self.live.is_closed() {
                tracing::warn!(key = %self.key, "not given back, and left to its ttl");
            }
            self.live.leave_to_ttl(self.holder); // Who closes is told.
        }
    }
}

impl GiveBack {
    pub(crate) fn new(
        backend: &Arc<dyn Backend>,
        properties: Properties,
        live: &Arc<Live>,
        measures: &Measures,
    ) -> Self {
        let (backend, live, measures) = (Arc::clone(backend), Arc::clone(live), measures.clone());
        GiveBack { backend, properties, live, measures, queue: Mutex::default() }
    }

    /// Makes sure that what is dropped from now on finds a task to give it back. Called where a
    /// runtime is at hand; a task that ended with its runtime is replaced.
    pub(crate) fn start(&self) {
        if self.properties.at_once {
            return;
        }
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.as_ref().is_none_or(mpsc::Sender::is_closed) {
            let (sender, receiver) = mpsc::channel(QUEUED_MAX);
            tokio::spawn(give_back_all(Arc::clone(&self.backend), receiver));
            *queue = Some(sender);
        }
    }

    /// Gives back whatever this holder has of the key: a grant or a ticket.
    pub(crate) fn give_back(&self, key: &Key, holder: HolderId) {
        self.give_back_counted(key, holder, None);
    }

    /// The same, of an ask that need not be listed; `place` counts it until then.
    pub(crate) fn give_back_counted(
        &self,
        key: &Key,
        holder: HolderId,
        place: Option<&Arc<Place>>,
    ) {
        if self.properties.at_once && self.leave_now(key, holder) {
            self.live.remove(holder);
            return;
        }
        if !self.live.leaving(holder, key, place) {
            return;
        }
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (key, live) = (key.clone(), Arc::clone(&self.live));
        let measures = self.measures.clone();
        let dropped = Dropped { key, holder, live, measures, is_given_back: false };
        if let Some(queue) = queue {
            let _ = queue.try_send(dropped); // It is full, or has ended.
        }
    }

    /// Leaves in one poll; says whether that was enough.
    fn leave_now(&self, key: &Key, holder: HolderId) -> bool {
        let left = pin!(self.backend.leave(key, holder));
        let polled = left.poll(&mut Context::from_waker(Waker::noop()));
        matches!(polled, Poll::Ready(Ok(())))
    }
}

/// Gives back what comes, some at a time, until nothing can come any more.
async fn give_back_all(backend: Arc<dyn Backend>, mut queue: mpsc::Receiver<Dropped>) {
    let places = Arc::new(Semaphore::new(AT_ONCE_MAX));
    while let Some(mut dropped) = queue.recv().await {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let backend = Arc::clone(&backend);
        tokio::spawn(async move {
            dropped.is_given_back = leave_with_patience(&*backend, &dropped).await;
            drop((dropped, place));
        });
    }
}

/// Says whether it was given back.
async fn leave_with_patience(backend: &dyn Backend, dropped: &Dropped) -> bool {
    let mut pause = PAUSE_FIRST;
    for _ in 0..TRIES_MAX {
        match backend.leave(&dropped.key, dropped.holder).await {
            Ok(()) => return true,
            Err(error) => tracing::debug!(key = %dropped.key, ?error, "not given back yet"),
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    false
}
