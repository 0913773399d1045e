//! Being told when to ask again: this process's inbox, and the channels by which it is reached.

mod channels;
mod listen;

use std::sync::{Arc, Mutex, PoisonError};

use rand::RngExt as _;
use rand::distr::Alphanumeric;
use redis::RedisError;
use tokio::task::JoinHandle;

use super::connection::{Link, Source};
use super::keys::Keys;
use crate::holder::HolderId;
use crate::name::Key;
use crate::wake::{Hearing, Tell, Wakes, Watch};

use channels::Channels;

/// How many bytes an inbox is called by; the scripts know it.
pub(super) const INBOX_BYTES: usize = 8;

/// The inbox of one backend handle. A script that lets waiters in writes their holder ids to it.
#[derive(Debug)]
pub(super) struct Inbox {
    ear: Arc<Ear>,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// What the listening task shares with the handle.
#[derive(Debug)]
struct Ear {
    name: String,
    wakes: Wakes,
    channels: Channels,
    /// On which is heard whose holds were revoked.
    revoked: String,
    source: Source,
    link: Arc<Link>,
    /// Why it last could not listen.
    failure: Mutex<Option<RedisError>>,
}

impl Ear {
    fn failed(&self, error: &RedisError) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
    }
}

impl Inbox {
    pub(super) fn new(source: Source, link: Arc<Link>, keys: &Keys) -> Self {
        let letters = rand::rng().sample_iter(Alphanumeric).take(INBOX_BYTES);
        let name: String = letters.map(char::from).collect();
        let channels = Channels::default();
        if !source.is_cluster() {
            channels.add(&[&keys.channel(), &*name].concat());
        }
        let (revoked, (wakes, failure)) = (keys.revoked_channel(), Default::default());
        let ear = Ear { name, wakes, channels, revoked, source, link, failure };
        Inbox { ear: Arc::new(ear), task: Mutex::default() }
    }

    /// What the scripts call it.
    pub(super) fn name(&self) -> &str {
        &self.ear.name
    }

    /// Listens from now on, and returns when the first channel is subscribed to.
    pub(super) async fn open(&self) {
        self.start();
        self.ear.channels.all_ready().await;
    }

    /// Why it last could not listen, if it could not.
    pub(super) fn failure(&self) -> Option<RedisError> {
        self.ear.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Listens for a waiter.
    pub(super) fn watch(&self, keys: &Keys, key: &Key, holder: HolderId) -> Watch {
        self.start();
        let watch = self.ear.wakes.watch(holder);
        if !self.ear.source.is_cluster() {
            return watch;
        }
        let channel = [&keys.channel_of(key), self.name()].concat();
        let listening = Listening { ear: Arc::clone(&self.ear), channel };
        self.ear.channels.add(&listening.channel);
        watch.with(listening)
    }

    /// Listens for holds that are revoked.
    pub(super) fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.ear.wakes.on_revoked(tell)
    }

    /// These were revoked by this process.
    pub(super) fn revoked(&self, holders: &[HolderId]) {
        self.ear.wakes.revoked(holders);
    }

    /// Returns when what is written for a waiter of this key is heard: at once, where nobody
    /// watches it or one channel serves every key.
    pub(super) async fn ready(&self, keys: &Keys, key: &Key) {
        if self.ear.source.is_cluster() {
            let channel = [&keys.channel_of(key), self.name()].concat();
            self.ear.channels.ready(&channel).await;
        }
    }

    /// Makes sure that the task runs; one that ended with its runtime is replaced.
    fn start(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_none_or(JoinHandle::is_finished) {
            *task = Some(tokio::spawn(listen::listen(Arc::clone(&self.ear))));
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let task = self.task.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = task {
            task.abort();
        }
    }
}

/// A waiter's share in a channel; the last one to go lets the channel go.
#[derive(Debug)]
struct Listening {
    ear: Arc<Ear>,
    channel: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.ear.channels.remove(&self.channel);
    }
}
