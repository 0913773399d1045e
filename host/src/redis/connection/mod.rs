//! The way to Redis: one connection for commands, opened again when it is lost.

mod request;
mod source;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::RngExt as _;
use redis::{PushKind, RedisError, Value};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::error::{Failure, Follows, follows};

pub(super) use request::{Repeat, Request};
use source::ClientName;
pub(super) use source::{Connection, Hears, Source};

/// The first and the longest pause between two tries to connect.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Sends requests over one connection, in order.
#[derive(Debug)]
pub(super) struct Link {
    source: Source,
    timeout: Duration,
    current: Mutex<Option<Open>>,
    /// One opens at a time; the others wait for it.
    opening: tokio::sync::Mutex<Opening>,
    /// How many connections were opened so far.
    opened: watch::Sender<u64>,
}

#[derive(Debug)]
struct Open {
    number: u64,
    connection: Connection,
    name: Option<ClientName>,
    /// Ends with the runtime that drives the connection.
    runtime: AbortHandle,
    /// Whether the server has closed it.
    closed: Arc<AtomicBool>,
}

/// A connection that was just opened.
struct Opened {
    connection: Connection,
    name: Option<ClientName>,
    closed: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Opening {
    pause: Duration,
    /// A connection that was given up while requests on it were unanswered.
    given_up: Option<ClientName>,
}

impl Link {
    pub(super) fn new(source: Source, timeout: Duration) -> Self {
        let (current, opening) = Default::default();
        Link { source, timeout, current, opening, opened: watch::Sender::default() }
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
    pub(super) async fn send(&self, request: &Request<'_>) -> Result<Value, Failure> {
        let deadline = Instant::now() + self.timeout;
        let (mut text, mut pause, mut may_be_applied) = (None, PAUSE_MIN, false);
        loop {
            let (number, mut connection) = match self.connection(deadline).await {
                Ok(open) => open,
                Err(_) if may_be_applied => return Err(Failure::NoAnswer(self.timeout)),
                Err(failure) => return Err(failure),
            };
            let command = text.as_ref().unwrap_or(&request.command);
            let Ok(answer) = timeout_at(deadline, connection.send(command)).await else {
                self.give_up(number);
                return Err(Failure::NoAnswer(self.timeout));
            };
            let error = match answer {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match follows(&error) {
                Follows::SendText if text.is_none() => text = request.by_text(),
                Follows::AskElsewhere => self.lose(number),
                Follows::Reconnect if request.repeat == Repeat::Freely => {
                    may_be_applied = true;
                    self.lose(number);
                }
                Follows::Reconnect => {
                    self.lose(number);
                    return Err(error.into());
                }
                Follows::Fail | Follows::SendText => return Err(error.into()),
            }
            if follows(&error) != Follows::SendText {
                let slept = timeout_at(deadline, tokio::time::sleep(jittered(pause))).await;
                pause = (pause * 2).min(PAUSE_MAX);
                if slept.is_err() {
                    return Err(error.into());
                }
            }
        }
    }

    /// Waits until so many replicas have all that was written before, to the server of this key;
    /// answers how many have it in time. A write of this connection's own is what they are asked
    /// about: it comes later.
    pub(super) async fn replicas_follow(&self, key: &str, replicas: u32) -> Result<u32, Failure> {
        let deadline = Instant::now() + self.timeout;
        let (number, mut connection) = self.connection(deadline).await?;
        let followed = connection.replicas_follow(key, replicas, self.timeout);
        // The server's own time-out comes first, unless it is silent.
        match timeout_at(deadline + self.timeout / 4, followed).await {
            Ok(Ok(followed)) => Ok(followed),
            Ok(Err(error)) => {
                self.lose(number);
                Err(error.into())
            }
            Err(_) => {
                self.give_up(number);
                Err(Failure::NoAnswer(self.timeout))
            }
        }
    }

    /// The connection, opened if there is none.
    async fn connection(&self, deadline: Instant) -> Result<(u64, Connection), Failure> {
        if let Some(open) = self.open_now() {
            return Ok(open);
        }
        let not_connected = |last| Failure::NotConnected { within: self.timeout, last };
        let Ok(mut opening) = timeout_at(deadline, self.opening.lock()).await else {
            return Err(not_connected(None));
        };
        let mut last = None;
        loop {
            if let Some(open) = self.open_now() {
                return Ok(open); // Another opened it meanwhile.
            }
            match timeout_at(deadline, opening.open(&self.source)).await {
                Ok(Ok(opened)) => return Ok(self.install(opened)),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "no connection to Redis yet");
                    last = Some(error);
                }
                Err(_) => return Err(not_connected(last)),
            }
        }
    }

    fn install(&self, Opened { connection, name, closed }: Opened) -> (u64, Connection) {
        let mut number = 0;
        self.opened.send_modify(|opened| {
            *opened += 1;
            number = *opened;
        });
        let runtime = tokio::spawn(std::future::pending::<()>()).abort_handle();
        let open = Open { number, connection: connection.clone(), name, runtime, closed };
        *self.current() = Some(open);
        (number, connection)
    }

    fn open_now(&self) -> Option<(u64, Connection)> {
        let mut current = self.current();
        if current.as_ref().is_some_and(Open::has_ended) {
            *current = None;
        }
        current.as_ref().map(|open| (open.number, open.connection.clone()))
    }

    /// A connection that is of no use any more. One to a cluster mends itself.
    fn lose(&self, number: u64) {
        let mut current = self.current();
        if matches!(&*current, Some(open) if open.number == number && !open.connection.mends()) {
            *current = None;
        }
    }

    /// A connection that does not answer. What it still has on its way must not be carried out
    /// after what is sent on the next: the server is told to end it first.
    fn give_up(&self, number: u64) {
        let given_up = {
            let mut current = self.current();
            let is_it = |open: &&mut Open| open.number == number && !open.connection.mends();
            let Some(name) = current.as_mut().filter(is_it).map(|open| open.name.take()) else {
                return;
            };
            *current = None;
            name
        };
        if let (Some(name), Ok(mut opening)) = (given_up, self.opening.try_lock()) {
            opening.given_up = Some(name);
        }
    }

    fn current(&self) -> MutexGuard<'_, Option<Open>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn has_ended(&self) -> bool {
        let closed = || self.closed.load(Ordering::Acquire) && !self.connection.mends();
        self.runtime.is_finished() || closed()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.runtime.abort();
    }
}

impl Opening {
    /// Tries once, after a pause that grows until a try succeeds.
    async fn open(&mut self, source: &Source) -> Result<Opened, RedisError> {
        if !self.pause.is_zero() {
            tokio::time::sleep(jittered(self.pause)).await;
        }
        self.pause = (self.pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
        let closed = Arc::<AtomicBool>::default();
        let mut connection = source.open(notes_the_end(Arc::clone(&closed))).await?;
        let name = connection.name().await;
        if let Some(given_up) = &self.given_up {
            connection.end(given_up).await?;
        }
        (self.given_up, self.pause) = (None, Duration::ZERO);
        Ok(Opened { connection, name, closed })
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
