//! Asking the backend again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leases::{Leases, Listed, NamePattern};
use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;

use crate::backend;
use crate::failure::{one_line, without_login};

/// The least time between the beginnings of two looks, however often something changes.
pub(super) const EVERY_MIN: Duration = Duration::from_millis(100);

/// What one look found.
pub(super) struct Looked {
    /// The keys in use, or in one line why the backend did not say.
    pub(super) answer: Result<Vec<Listed>, String>,
    /// When the answer came.
    pub(super) at: Instant,
}

/// Looks that go on until this is dropped.
pub(super) struct Looks {
    answers: mpsc::Receiver<Looked>,
    changed: Arc<Notify>,
}

impl Looks {
    /// Looks now, and then this often, and when the backend tells of a change. A look begins when what the one before it found was taken.
    pub(super) fn start(leases: Leases, names: NamePattern, every: Duration) -> Self {
        let (to, answers) = mpsc::channel(1);
        let changed = Arc::new(Notify::new());
        let told = Arc::clone(&changed);
        tokio::spawn(async move {
            let changes = leases.changes();
            loop {
                let started = Instant::now();
                let answer = leases.list(&names).await;
                let answer =
                    answer.map_err(|error| without_login(one_line(backend::causes(&error))));
                if to.send(Looked { answer, at: Instant::now() }).await.is_err() {
                    return;
                }
                let due = |after: Duration| sleep(after.saturating_sub(started.elapsed()));
                tokio::select! {
                    () = due(every) => {}
                    () = told.notified() => due(EVERY_MIN).await,
                    () = changes.changed() => due(EVERY_MIN).await,
                }
            }
        });
        Looks { answers, changed }
    }

    /// Does not wait for the next look to be due.
    pub(super) fn now(&self) {
        self.changed.notify_one();
    }

    /// What the next look found; nothing once a panic has ended them.
    ///
    /// # Cancellation
    /// Nothing is missed.
    pub(super) async fn next(&mut self) -> Option<Looked> {
        self.answers.recv().await
    }
}
