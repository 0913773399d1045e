//! The one connection that listens for wake-ups.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Executor as _;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::holder::HolderId;
use crate::sql::error::Failure;
use crate::sql::poll::Listens;
use crate::sql::store::Doing;
use crate::wake::Wakes;

/// Pauses between tries to connect; they double.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A connection that told nothing for this long is asked whether it still is one.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// On which every process hears whose holds were revoked.
const REVOKED: &str = "leases:revoked";

/// Listens on this process's own channel, and on the one that all have.
pub(super) struct Listener {
    options: PgConnectOptions,
    channel: String,
    wakes: Wakes,
    timeout: Duration,
    state: watch::Sender<State>,
}

#[derive(Debug)]
enum State {
    NotYet,
    Listening,
    /// Why the last try to connect failed.
    Failed(Arc<sqlx::Error>),
}

impl Listener {
    pub(super) fn new(
        options: PgConnectOptions,
        channel: String,
        wakes: Wakes,
        timeout: Duration,
    ) -> Self {
        Listener { options, channel, wakes, timeout, state: watch::Sender::new(State::NotYet) }
    }

    async fn connect(&self) -> Result<PgListener, sqlx::Error> {
        let pool = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let pool = pool.acquire_timeout(self.timeout).connect_lazy_with(self.options.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        listener.listen_all([&*self.channel, REVOKED]).await?;
        Ok(listener)
    }

    /// Wakes whom it is told to, until the connection is lost.
    async fn hear(&self, mut listener: PgListener) -> Result<(), sqlx::Error> {
        loop {
            match timeout(SILENCE_MAX, listener.try_recv()).await {
                Ok(Ok(Some(told))) => match told.channel() {
                    REVOKED => self.wakes.revoked(&holders(told.payload())),
                    _ => self.wakes.wake(&holders(told.payload())),
                },
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    let asked = timeout(self.timeout, listener.execute("SELECT 1")).await;
                    asked.map_err(|_| sqlx::Error::PoolTimedOut)??;
                }
            }
        }
    }
}

/// Shows where it listens, and no password.
impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("host", &self.options.get_host())
            .field("port", &self.options.get_port())
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

impl Listens for Listener {
    fn ready(&self) -> Doing<'_, ()> {
        Box::pin(async {
            let mut state = self.state.subscribe();
            // The sender is this one's own: it does not go.
            let state = state.wait_for(|state| !matches!(state, State::NotYet)).await;
            match state.as_deref() {
                Ok(State::Failed(error)) => Err(Failure::Listening(Arc::clone(error))),
                _ => Ok(()),
            }
        })
    }

    fn listen(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let mut pause = PAUSE_MIN;
            loop {
                match self.connect().await {
                    Ok(listener) => {
                        pause = PAUSE_MIN;
                        self.state.send_replace(State::Listening);
                        self.wakes.wake_all(); // Some may have been told while nobody listened.
                        if let Err(error) = self.hear(listener).await {
                            tracing::debug!(%error, "listens no more");
                        }
                    }
                    Err(error) => {
                        tracing::debug!(%error, "could not listen");
                        self.state.send_replace(State::Failed(Arc::new(error)));
                    }
                }
                sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        })
    }
}

/// Holder ids, in hexadecimal digits.
fn holders(payload: &str) -> Vec<HolderId> {
    let bytes = data_encoding::HEXLOWER.decode(payload.as_bytes()).unwrap_or_default();
    bytes.as_chunks().0.iter().map(|id| HolderId::from_bytes(*id)).collect()
}
