//! The way to Redis: one connection for commands, opened again when it is lost.

mod request;
mod source;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::RngExt as _;
use redis::{PushKind, RedisError, Value};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::error::{Failure, Follows, follows, is_not_let_in};

pub(super) use request::{Repeat, Request};
use source::ClientName;
pub(super) use source::{Connection, Hears, Source};

/// The first and the longest pause between two tries to connect.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A connection on which nothing was heard for this part of the request timeout is taken for dead,
/// once somebody gave up waiting for an answer on it.
const SILENCE: u32 = 8;

/// Sends requests over one connection, in order.
#[derive(Debug)]
pub(super) struct Link {
    source: Source,
    timeout: Duration,
    current: Mutex<Option<Open>>,
    /// The connection that was last given up, until the server was told to end it.
    given_up: Mutex<Option<ClientName>>,
    /// One try to connect at a time; whoever needs a connection waits for it.
    opening: Mutex<Opening>,
    /// How many connections were opened so far.
    opened: watch::Sender<u64>,
}

#[derive(Debug)]
struct Open {
    number: u64,
    connection: Connection,
    name: Option<ClientName>,
    /// When something was last heard on it.
    heard_at: Instant,
    /// Whether the server has closed it.
    closed: Arc<AtomicBool>,
    /// Ends with the runtime that drives the connection.
    runtime: AbortHandle,
}

/// A try to connect is a task of its own: a caller that is kept and never polled holds up nobody.
#[derive(Debug, Default)]
struct Opening {
    pause: Duration,
    under_way: Option<watch::Receiver<Opened>>,
}

/// What became of a try to connect; none while it is under way.
type Opened = Option<Result<(u64, Connection), RedisError>>;

/// A request that was sent and not answered. Dropped so, it may tell that its connection is silent.
struct Unanswered<'a> {
    link: &'a Link,
    number: u64,
    sent_at: Instant,
}

impl Link {
    pub(super) fn new(source: Source, timeout: Duration) -> Arc<Self> {
        let (current, given_up, opening) = Default::default();
        let opened = watch::Sender::default();
        Arc::new(Link { source, timeout, current, given_up, opening, opened })
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Tells when a connection is opened in place of another.
    pub(super) fn opened(&self) -> watch::Receiver<u64> {
        self.opened.subscribe()
    }

    /// Sends a request and waits for its reply, connecting first where it has to, within the
    /// request timeout.
    ///
    /// # Cancellation
    /// What was sent is carried out, before anything that is sent later.
    pub(super) async fn send(self: &Arc<Self>, request: &Request<'_>) -> Result<Value, Failure> {
        let deadline = Instant::now() + self.timeout;
        let (mut text, mut pause, mut may_be_applied) = (None, PAUSE_MIN, false);
        loop {
            let (number, mut connection) = match self.connection(deadline).await {
                Ok(open) => open,
                Err(_) if may_be_applied => return Err(Failure::NoAnswer(self.timeout)),
                Err(failure) => return Err(failure),
            };
            let command = text.as_ref().unwrap_or(&request.command);
            let unanswered = Unanswered { link: self, number, sent_at: Instant::now() };
            let sending = async {
                match request.node() {
                    Some(slot) => connection.send_to(slot, command).await,
                    None => connection.send(command).await,
                }
            };
            let Ok(answer) = timeout_at(deadline, sending).await else {
                self.give_up(number);
                return Err(Failure::NoAnswer(self.timeout));
            };
            unanswered.heard();
            let error = match answer {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match follows(&error) {
                Follows::SendText if text.is_none() => {
                    text = request.by_text();
                    continue;
                }
                Follows::AskElsewhere => self.give_up(number),
                Follows::Reconnect if request.repeat() == Repeat::Freely => {
                    may_be_applied = true;
                    self.give_up(number);
                }
                Follows::Reconnect => {
                    self.give_up(number);
                    return Err(error.into());
                }
                Follows::Fail | Follows::SendText => return Err(error.into()),
            }
            let slept = timeout_at(deadline, tokio::time::sleep(jittered(pause))).await;
            pause = (pause * 2).min(PAUSE_MAX);
            if slept.is_err() {
                return Err(error.into());
            }
        }
    }

    /// Waits until so many replicas have all that was written before, to the server of this key;
    /// answers how many have it in time. A write of this connection's own is what they are asked
    /// about: it comes later.
    pub(super) async fn replicas_follow(
        self: &Arc<Self>,
        key: &str,
        replicas: u32,
    ) -> Result<u32, Failure> {
        let deadline = Instant::now() + self.timeout;
        let (number, mut connection) = self.connection(deadline).await?;
        let followed = connection.replicas_follow(key, replicas, self.timeout);
        // The server's own time-out comes first, unless it is silent.
        match timeout_at(deadline + self.timeout / 4, followed).await {
            Ok(Ok(followed)) => Ok(followed),
            Ok(Err(error)) => {
                self.give_up(number);
                Err(error.into())
            }
            Err(_) => {
                self.give_up(number);
                Err(Failure::NoAnswer(self.timeout))
            }
        }
    }

    /// The connection, opened if there is none.
    async fn connection(self: &Arc<Self>, deadline: Instant) -> Result<(u64, Connection), Failure> {
        let mut last = None;
        loop {
            if let Some(open) = self.open_now() {
                return Ok(open);
            }
            let mut opening = self.begin_to_open();
            let Ok(opened) = timeout_at(deadline, opening.wait_for(Option::is_some)).await else {
                return Err(Failure::NotConnected { within: self.timeout, last });
            };
            match opened.ok().as_deref() {
                Some(Some(Ok((number, connection)))) => return Ok((*number, connection.clone())),
                Some(Some(Err(error))) if is_not_let_in(error) => {
                    return Err(Failure::NotLetIn(error.clone()));
                }
                Some(Some(Err(error))) => last = Some(error.clone()),
                Some(None) | None => {} // It ended with its runtime.
            }
        }
    }

    /// The try to connect that is under way, or a new one.
    fn begin_to_open(self: &Arc<Self>) -> watch::Receiver<Opened> {
        let mut opening = self.opening();
        let under_way = opening.under_way.take().filter(|tried| tried.has_changed().is_ok());
        let under_way = under_way.unwrap_or_else(|| {
            let (tell, tried) = watch::channel(None);
            tokio::spawn(Arc::clone(self).try_to_open(tell));
            tried
        });
        opening.under_way = Some(under_way.clone());
        under_way
    }

    /// Tries once, after a pause that grows until a try succeeds.
    async fn try_to_open(self: Arc<Self>, tell: watch::Sender<Opened>) {
        let pause = {
            let mut opening = self.opening();
            // A caller that waits for the request timeout sees more than one try.
            let longest = PAUSE_MAX.min(self.timeout / 4);
            let longer = (opening.pause * 2).max(PAUSE_MIN).min(longest);
            std::mem::replace(&mut opening.pause, longer)
        };
        if !pause.is_zero() {
            tokio::time::sleep(jittered(pause)).await;
        }
        let opened = match self.open_now() {
            Some(open) => Ok(Ok(open)), // The try before this one ended just now.
            None => tokio::time::timeout(self.timeout, self.open()).await,
        };
        let opened =
            opened.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()));
        let mut opening = self.opening();
        match &opened {
            Ok(_) => opening.pause = Duration::ZERO,
            Err(error) => tracing::debug!(%error, "no connection to Redis yet"),
        }
        opening.under_way = None;
        tell.send_replace(Some(opened));
    }

    /// Opens one. What was given up before has ended when this succeeds.
    async fn open(&self) -> Result<(u64, Connection), RedisError> {
        let closed = Arc::<AtomicBool>::default();
        let mut connection = self.source.open(notes_the_end(Arc::clone(&closed))).await?;
        let name = connection.name().await;
        let given_up = self.given_up().clone();
        if let Some(given_up) = given_up {
            connection.end(&given_up).await?;
        }
        *self.given_up() = None;
        Ok(self.install(connection, name, closed))
    }

    fn install(
        &self,
        connection: Connection,
        name: Option<ClientName>,
        closed: Arc<AtomicBool>,
    ) -> (u64, Connection) {
        let mut number = 0;
        self.opened.send_modify(|opened| {
            *opened += 1;
            number = *opened;
        });
        let runtime = tokio::spawn(std::future::pending::<()>()).abort_handle();
        let (heard_at, shared) = (Instant::now(), connection.clone());
        let open = Open { number, connection: shared, name, heard_at, closed, runtime };
        *self.current() = Some(open);
        (number, connection)
    }

    /// The connection, unless it has ended.
    fn open_now(&self) -> Option<(u64, Connection)> {
        let (number, connection, has_ended) = {
            let mut current = self.current();
            let open = current.as_ref()?;
            let has_ended = open.has_ended();
            if open.runtime.is_finished() {
                *current = None;
                return None;
            }
            (open.number, open.connection.clone(), has_ended)
        };
        if has_ended {
            self.give_up(number);
            return None;
        }
        Some((number, connection))
    }

    /// A connection that does not answer or has ended. What it still has on its way must not be
    /// carried out after what is sent on the next: the server is told to end it first. One to a
    /// cluster mends itself.
    fn give_up(&self, number: u64) {
        let mut current = self.current();
        if let Some(open) =
            current.take_if(|open| open.number == number && !open.connection.mends())
            && let Some(name) = &open.name
        {
            *self.given_up() = Some(name.clone());
        }
    }

    fn heard(&self, number: u64) {
        if let Some(open) = self.current().as_mut().filter(|open| open.number == number) {
            open.heard_at = Instant::now();
        }
    }

    /// Whether nothing was heard on a connection since then, for so long that it seems dead.
    fn is_silent_since(&self, number: u64, since: Instant) -> bool {
        let is_it = |open: &Open| open.number == number && open.heard_at <= since;
        since.elapsed() >= self.timeout / SILENCE && self.current().as_ref().is_some_and(is_it)
    }

    fn current(&self) -> MutexGuard<'_, Option<Open>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opening(&self) -> MutexGuard<'_, Opening> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn given_up(&self) -> MutexGuard<'_, Option<ClientName>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Whether the server is known to have closed it.
    fn has_ended(&self) -> bool {
        self.closed.load(Ordering::Acquire) && !self.connection.mends()
    }
}

impl Unanswered<'_> {
    fn heard(self) {
        self.link.heard(self.number);
    }
}

/// Callers that want an answer sooner than the request timeout, such as the refresh of a short
/// hold, give up before it. Then the next request must not go the same silent way.
impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if self.link.is_silent_since(self.number, self.sent_at) {
            self.link.give_up(self.number);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.runtime.abort();
    }
}

/// What notes that the server has closed a connection: nothing was sent on it since.
fn notes_the_end(closed: Arc<AtomicBool>) -> Hears {
    Box::new(move |push| {
        closed.fetch_or(push.kind == PushKind::Disconnection, Ordering::AcqRel);
    })
}

/// Between half and all of it, so that programs that lost a server together do not return together.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(rand::rng().random_range(0.5..1.0))
}
