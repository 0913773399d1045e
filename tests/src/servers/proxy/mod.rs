//! A TCP proxy that makes the trouble that networks make.

mod connection;
mod control;
mod held;
mod pumps;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::{Server, until};
use control::{Control, Cut, Mode, Shared};

/// A proxy in front of one server, on a port of its own. What it does to bytes can be changed at
/// any time, and holds at once for all connections, open or new. Dropped, it closes all of them.
///
/// It knows no protocol: a request is what a client writes at once.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

impl Proxy {
    /// A proxy that [passes](Self::pass) everything to and from this server. The server may be down
    /// meanwhile: then connections are closed.
    pub async fn in_front_of(server: &Server) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared::default());
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
        let acceptor = tokio::spawn(accept(listener, server, Arc::clone(&shared)));
        Proxy { port, shared, acceptor }
    }

    /// The port that clients connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// `redis://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// How many connections clients made, also those that were refused.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted()
    }

    /// Forwards bytes as they come. A connection that lost bytes in a
    /// [black hole](Self::black_hole) is closed when its client next sends some, as if the peer had
    /// forgotten it; one that has [held](Self::hold) bytes holds all later ones too.
    pub fn pass(&self) {
        self.set(Mode::Pass);
    }

    /// Accepts connections and swallows all bytes, in both directions. Neither side learns that the
    /// other has closed.
    pub fn black_hole(&self) {
        self.set(Mode::BlackHole);
    }

    /// Passes, with each reply this much later.
    pub fn delay(&self, delay: Duration) {
        self.set(Mode::Delay(delay));
    }

    /// Closes new connections at once; open ones pass.
    pub fn refuse(&self) {
        self.set(Mode::Refuse);
    }

    /// Holds back what clients send, until [`let_go`](Self::let_go). Replies pass. To let late
    /// requests come after those of a newer connection, call [`pass`](Self::pass) between.
    pub fn hold(&self) {
        self.set(Mode::Hold);
    }

    /// From now on holds back what clients send on the connections that are open now, as if the way
    /// had forgotten them. New ones are as they would be.
    pub fn hold_open_ones(&self) {
        self.shared.change(|control| control.silences += 1);
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.shared.held()
    }

    /// Waits until something is held back.
    pub async fn until_held(&self) {
        until("a request is held", || async { (self.held() > 0).then_some(()) }).await;
    }

    /// Passes, and forwards what was held back, each connection's bytes in their order, also those
    /// of clients that have gone since. Waits until that is done; for clients that have gone, until
    /// the server has taken all and closed.
    pub async fn let_go(&self) {
        self.shared.change(Control::let_go);
        until("what was held is forwarded", || async { (self.held() == 0).then_some(()) }).await;
    }

    /// Closes all open connections. No byte that is sent after this call passes through them.
    /// What they hold back stays held.
    pub fn cut_now(&self) {
        self.shared.change(|control| control.cuts += 1);
    }

    /// Forwards the next request of any client; when the server has replied, drops the reply and
    /// closes that connection: applied, and the client can't know.
    pub fn cut_after_next_request(&self) {
        self.shared.change(|control| control.next_cut = Some(Cut::AfterRequest));
    }

    /// Closes the connection of the client that next sends something, and drops that: not applied,
    /// and the client can't know.
    pub fn cut_before_next_request(&self) {
        self.shared.change(|control| control.next_cut = Some(Cut::BeforeRequest));
    }

    fn set(&self, mode: Mode) {
        self.shared.change(|control| control.mode = mode);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

/// Aborted with its task, the set aborts the connections.
async fn accept(listener: TcpListener, server: SocketAddr, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.expect("it listens");
        shared.count_accepted();
        connections.spawn(connection::run(client, server, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}
