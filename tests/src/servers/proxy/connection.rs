//! One client's connection through the proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

use super::control::{Fate, Mode, Shared};
use super::held::Held;
use super::pumps::{self, Replies, Requests};

/// What the two directions of a connection know of each other.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) shared: Arc<Shared>,
    /// The cuts that were made before it was there.
    cuts: u64,
    /// How often others fell silent before it was there.
    silences: u64,
    /// It lost bytes in a black hole.
    spoilt: AtomicBool,
    /// The reply that comes next is dropped, and the client's side closed.
    closes_at_reply: AtomicBool,
    /// The client's side is closed, or is to be.
    closed: watch::Sender<bool>,
}

impl Link {
    fn new(shared: Arc<Shared>) -> Self {
        let (cuts, silences) = (shared.cuts(), shared.silences());
        let (spoilt, closes_at_reply) = (AtomicBool::new(false), AtomicBool::new(false));
        let closed = watch::Sender::new(false);
        Link { shared, cuts, silences, spoilt, closes_at_reply, closed }
    }

    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    pub(super) async fn closed(&self) {
        // It can't fail: this end lives as long as we do.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    pub(super) fn is_cut(&self) -> bool {
        self.shared.cuts() != self.cuts
    }

    /// What becomes of a request that has just come.
    pub(super) fn fate_of_request(&self, held: &Held) -> Fate {
        let in_black_hole = self.shared.mode() == Mode::BlackHole;
        if self.is_cut() || self.is_spoilt() && !in_black_hole {
            return Fate::Close;
        }
        if !held.is_empty() || self.shared.silences() != self.silences {
            return Fate::Hold;
        }
        let fate = self.shared.fate_of_request();
        match fate {
            Fate::Swallow => self.spoil(),
            Fate::ForwardAsLast => self.closes_at_reply.store(true, Ordering::SeqCst),
            Fate::Forward | Fate::Hold | Fate::Close => {}
        }
        fate
    }

    /// Whether a reply that has just come is the end of this connection.
    pub(super) fn ends_with_reply(&self) -> bool {
        self.is_cut() || self.closes_at_reply.load(Ordering::SeqCst)
    }

    /// Whether a reply is lost; then this connection is good for nothing more.
    pub(super) fn loses_reply(&self) -> bool {
        if self.shared.mode() == Mode::BlackHole {
            self.spoil();
        }
        self.is_spoilt()
    }

    fn spoil(&self) {
        self.spoilt.store(true, Ordering::SeqCst);
    }

    fn is_spoilt(&self) -> bool {
        self.spoilt.load(Ordering::SeqCst)
    }
}

/// Serves a client until both sides are closed.
pub(super) async fn run(client: TcpStream, server: SocketAddr, shared: Arc<Shared>) {
    let link = Link::new(Arc::clone(&shared));
    let releases = shared.releases();
    match shared.mode() {
        Mode::Refuse => return,
        Mode::BlackHole => return swallow(client, &link).await,
        Mode::Pass | Mode::Delay(_) | Mode::Hold => {}
    }
    let Ok(server) = TcpStream::connect(server).await else {
        return;
    };
    for stream in [&client, &server] {
        let _ = stream.set_nodelay(true);
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let (queue, due) = mpsc::unbounded_channel();
    // Until both sides are closed: who waits for held bytes to be gone waits for that.
    let mut held = Held::new(shared);
    let requests = Requests { from_client, to_server, link: &link, held: &mut held, releases };
    let replies = Replies { from_server, queue, link: &link };
    tokio::join!(requests.pump(), replies.pump(), pumps::deliver(due, to_client, &link));
}

/// A connection that was made in the black hole never reaches the server.
async fn swallow(mut client: TcpStream, link: &Link) {
    let mut control = link.shared.watch();
    let mut buffer = [0; 1024];
    loop {
        let read = tokio::select! {
            read = client.read(&mut buffer) => read,
            _ = control.wait_for(|_| link.is_cut()) => return,
        };
        let goes_on = read.is_ok_and(|bytes| bytes > 0) && link.shared.mode() == Mode::BlackHole;
        if !goes_on {
            return;
        }
    }
}
