//! What carries a connection's bytes: requests up, replies down, and replies out when they are due.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::time::Instant;

use super::connection::Link;
use super::control::{Control, Fate, Mode};
use super::held::Held;

const BUFFER_BYTES: usize = 64 * 1024;

/// A reply, and when the client may have it.
pub(super) type Due = (Instant, Vec<u8>);

/// From the client to the server.
pub(super) struct Requests<'a> {
    pub(super) from_client: OwnedReadHalf,
    pub(super) to_server: OwnedWriteHalf,
    pub(super) link: &'a Link,
    pub(super) held: &'a mut Held,
    /// The releases after which nothing of it was held.
    pub(super) releases: u64,
}

impl Requests<'_> {
    /// Ends when the client's side is closed and all that it sent has met its fate. A server sees
    /// the end after the last byte: all that was forwarded is applied.
    pub(super) async fn pump(mut self) {
        let mut control = self.link.shared.watch();
        let _ = self.carry(&mut control).await;
        self.link.close();
        if !self.held.is_empty() {
            let _ = control.wait_for(|control| control.releases != self.releases).await;
            let _ = self.to_server.write_all(self.held.bytes()).await;
        }
        let _ = control.wait_for(|control| control.mode != Mode::BlackHole).await;
        let _ = self.to_server.shutdown().await;
    }

    /// Until either side is closed.
    async fn carry(&mut self, control: &mut watch::Receiver<Control>) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        while !self.link.is_cut() {
            let read = tokio::select! {
                biased;
                () = self.link.closed() => return Ok(()),
                _ = control.changed() => None,
                read = self.from_client.read(&mut buffer) => Some(read?),
            };
            let releases = control.borrow_and_update().releases;
            if releases != self.releases {
                self.to_server.write_all(self.held.bytes()).await?;
                self.held.clear();
                self.releases = releases;
            }
            let Some(length) = read else {
                continue;
            };
            if length == 0 {
                return Ok(());
            }
            let request = &buffer[..length];
            match self.link.fate_of_request(self.held) {
                Fate::Forward | Fate::ForwardAsLast => self.to_server.write_all(request).await?,
                Fate::Hold => self.held.push(request),
                Fate::Swallow => {}
                Fate::Close => return Ok(()),
            }
        }
        Ok(())
    }
}

/// From the server to those that are due.
pub(super) struct Replies<'a> {
    pub(super) from_server: OwnedReadHalf,
    pub(super) queue: UnboundedSender<Due>,
    pub(super) link: &'a Link,
}

impl Replies<'_> {
    /// Ends when the server's side is closed.
    pub(super) async fn pump(mut self) {
        let mut buffer = vec![0; BUFFER_BYTES];
        self.carry(&mut buffer).await;
        drop(self.queue);
        // Closed with unread replies, the server's side would be reset, and requests lost that are
        // on their way.
        while self.from_server.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
    }

    /// Until either side is closed.
    async fn carry(&mut self, buffer: &mut [u8]) {
        loop {
            let read = tokio::select! {
                biased;
                () = self.link.closed() => return,
                read = self.from_server.read(buffer) => read,
            };
            let length = read.unwrap_or(0);
            if length == 0 {
                return self.hide_end().await;
            }
            if self.link.ends_with_reply() {
                return self.link.close();
            }
            if !self.link.loses_reply() {
                let due = Instant::now() + self.delay();
                // The other end is dropped when the client's side is closed.
                let _ = self.queue.send((due, buffer[..length].to_vec()));
            }
        }
    }

    fn delay(&self) -> Duration {
        match self.link.shared.mode() {
            Mode::Delay(delay) => delay,
            _ => Duration::ZERO,
        }
    }

    /// In a black hole nobody learns that the server has closed.
    async fn hide_end(&self) {
        let mut control = self.link.shared.watch();
        tokio::select! {
            () = self.link.closed() => {}
            _ = control.wait_for(|control| control.mode != Mode::BlackHole) => {}
        }
    }
}

/// Gives the client its replies, each when it is due, until either side is closed.
pub(super) async fn deliver(
    mut due: UnboundedReceiver<Due>,
    mut to_client: OwnedWriteHalf,
    link: &Link,
) {
    let delivering = async {
        while let Some((instant, reply)) = due.recv().await {
            tokio::time::sleep_until(instant).await;
            if link.is_cut() {
                return;
            }
            if !link.loses_reply() && to_client.write_all(&reply).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        () = link.closed() => {}
        () = delivering => {}
    }
    link.close();
}
