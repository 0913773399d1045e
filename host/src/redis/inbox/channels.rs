//! Which channels are wanted, and which are subscribed to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

/// The wanted channels. The listening task makes them the subscribed ones.
#[derive(Debug, Default)]
pub(super) struct Channels {
    wanted: Mutex<HashMap<String, Channel>>,
    changed: Notify,
}

#[derive(Debug)]
struct Channel {
    listeners: usize,
    ready: watch::Sender<bool>,
}

impl Channels {
    /// Wants a channel until it is removed as often as it was added.
    pub(super) fn add(&self, channel: &str) {
        let mut wanted = self.wanted();
        if let Some(known) = wanted.get_mut(channel) {
            known.listeners += 1;
            return;
        }
        let new = Channel { listeners: 1, ready: watch::Sender::new(false) };
        wanted.insert(channel.to_owned(), new);
        self.changed.notify_one();
    }

    pub(super) fn remove(&self, channel: &str) {
        let mut wanted = self.wanted();
        let Some(known) = wanted.get_mut(channel) else { return };
        known.listeners -= 1;
        if known.listeners == 0 {
            wanted.remove(channel);
            self.changed.notify_one();
        }
    }

    /// Returns when a channel is subscribed to; at once if nobody wants it.
    pub(super) async fn ready(&self, channel: &str) {
        let ready = self.wanted().get(channel).map(|known| known.ready.subscribe());
        if let Some(mut ready) = ready {
            let _ = ready.wait_for(|ready| *ready).await; // It fails when nobody wants it any more.
        }
    }

    /// Returns when every channel is subscribed to.
    pub(super) async fn all_ready(&self) {
        for channel in self.names() {
            self.ready(&channel).await;
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.wanted().keys().cloned().collect()
    }

    /// A channel is subscribed to, or is no longer.
    pub(super) fn set_ready(&self, channel: &str, is_ready: bool) {
        if let Some(known) = self.wanted().get(channel) {
            known.ready.send_replace(is_ready);
        }
    }

    /// A channel is to be subscribed to again, if anybody still wants it.
    pub(super) fn lost(&self, channel: &str) {
        self.set_ready(channel, false);
        self.changed.notify_one();
    }

    /// Returns when a channel was added or removed since the last time.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn wanted(&self) -> MutexGuard<'_, HashMap<String, Channel>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
