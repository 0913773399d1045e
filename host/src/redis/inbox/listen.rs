//! The task that listens: it subscribes, hears, and subscribes again when the connection is lost.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use redis::{PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::Ear;
use crate::holder::HolderId;
use crate::redis::connection::{Connection, Hears};

const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Listens until it is aborted.
pub(super) async fn listen(ear: Arc<Ear>) {
    let mut pause = PAUSE_MIN;
    loop {
        let (pushes, pushed) = unbounded_channel();
        let hears: Hears = Box::new(move |push| drop(pushes.send(push)));
        match timeout(ear.link.timeout(), ear.source.open(hears)).await {
            Ok(Ok(connection)) => {
                let why = Session::new(&ear, connection).run(pushed).await;
                match &why {
                    Why::NotSubscribed(error) => ear.failed(error),
                    _ => pause = PAUSE_MIN,
                }
                tracing::debug!(?why, "the connection for wake-ups is opened again");
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "no connection for wake-ups yet");
                ear.failed(&error);
            }
            Err(_) => tracing::debug!("no connection for wake-ups in time"),
        }
        for channel in ear.channels.names() {
            ear.channels.set_ready(&channel, false);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// One connection's time.
struct Session<'a> {
    ear: &'a Ear,
    connection: Connection,
    subscribed: HashSet<String>,
    /// Those whose confirmation was not heard yet.
    unconfirmed: HashSet<String>,
}

/// Why a session ended.
#[derive(Debug)]
enum Why {
    Disconnected,
    NotSubscribed(RedisError),
    Silent,
    /// Commands go over a new connection by now, to another server perhaps.
    Moved,
}

impl<'a> Session<'a> {
    fn new(ear: &'a Ear, connection: Connection) -> Self {
        let (subscribed, unconfirmed) = Default::default();
        Session { ear, connection, subscribed, unconfirmed }
    }

    async fn run(mut self, mut pushed: UnboundedReceiver<PushInfo>) -> Why {
        let Ear { link, channels, wakes, .. } = self.ear;
        let mut opened = link.opened();
        if let Err(error) = self.subscribe().await {
            return Why::NotSubscribed(error);
        }
        // Whoever was to be woken while nobody listened.
        wakes.wake_all();
        let connection = self.connection.clone();
        let hearing_revoked = hear_revoked(connection, &self.ear.revoked, link.timeout());
        tokio::pin!(hearing_revoked);
        let mut hears_revoked = false;
        loop {
            tokio::select! {
                () = &mut hearing_revoked, if !hears_revoked => hears_revoked = true,
                push = pushed.recv() => match push {
                    Some(push) if self.goes_on(&push) => self.hear(push),
                    _ => return Why::Disconnected,
                },
                () = channels.changed() => if let Err(error) = self.subscribe().await {
                    return Why::NotSubscribed(error);
                },
                Ok(()) = opened.changed(), if !self.connection.mends() => return Why::Moved,
                () = tokio::time::sleep(link.timeout()) => if !self.answers().await {
                    return Why::Silent;
                },
            }
        }
    }

    /// A connection to a cluster opens its parts again, and subscribes again there.
    fn goes_on(&self, push: &PushInfo) -> bool {
        push.kind != PushKind::Disconnection || self.connection.mends()
    }

    fn hear(&mut self, PushInfo { kind, data }: PushInfo) {
        match (kind, data.as_slice()) {
            (
                PushKind::Message | PushKind::SMessage,
                [Value::BulkString(channel), Value::BulkString(holders)],
            ) => {
                let (holders, _) = holders.as_chunks::<16>();
                let holders: Vec<_> =
                    holders.iter().map(|bytes| HolderId::from_bytes(*bytes)).collect();
                match *channel == *self.ear.revoked.as_bytes() {
                    true => self.ear.wakes.revoked(&holders),
                    false => self.ear.wakes.wake(&holders),
                }
            }
            (PushKind::SSubscribe, [Value::BulkString(channel), ..]) => {
                let first = str::from_utf8(channel).is_ok_and(|it| self.unconfirmed.remove(it));
                if !first {
                    // Again, after a part of the cluster was lost, or moved.
                    self.ear.wakes.wake_all();
                }
            }
            (PushKind::SUnsubscribe, [Value::BulkString(channel), ..]) => {
                // By the server, where its slot has moved: it is subscribed to again.
                if let Ok(channel) = str::from_utf8(channel)
                    && self.subscribed.remove(channel)
                {
                    self.ear.channels.lost(channel);
                }
            }
            _ => {}
        }
    }

    /// Makes the wanted channels the subscribed ones.
    async fn subscribe(&mut self) -> RedisResult<()> {
        let wanted: HashSet<String> = self.ear.channels.names().into_iter().collect();
        for channel in self.subscribed.extract_if(|channel| !wanted.contains(channel)) {
            let gone = self.connection.unsubscribe(&channel);
            timeout(self.ear.link.timeout(), gone).await.map_err(timed_out)??;
        }
        for channel in wanted {
            if !self.subscribed.contains(&channel) {
                self.unconfirmed.insert(channel.clone());
                let subscribed = self.connection.subscribe(&channel);
                timeout(self.ear.link.timeout(), subscribed).await.map_err(timed_out)??;
                self.subscribed.insert(channel.clone());
            }
            self.ear.channels.set_ready(&channel, true);
        }
        Ok(())
    }

    async fn answers(&mut self) -> bool {
        self.connection.mends() || self.ping().await.is_ok()
    }

    async fn ping(&mut self) -> RedisResult<()> {
        timeout(self.ear.link.timeout(), self.connection.ping()).await.map_err(timed_out)?
    }
}

/// Returns when it is heard whose holds are revoked. What is told before that is learned by the next
/// refresh: wake-ups do not wait for it, and do not end with it.
async fn hear_revoked(mut connection: Connection, channel: &str, within: Duration) {
    let mut pause = PAUSE_MIN;
    loop {
        match timeout(within, connection.subscribe_everywhere(channel)).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => tracing::debug!(%error, "revocations are not heard yet"),
            Err(_) => tracing::debug!("revocations are not heard yet"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

fn timed_out(_: Elapsed) -> RedisError {
    io::Error::from(io::ErrorKind::TimedOut).into()
}
