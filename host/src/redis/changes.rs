//! Hearing of changes: a connection of its own, to which the server tells which keys were written.

use std::sync::Arc;
use std::time::Duration;

use redis::{PushKind, RedisError};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::config::RedisConfig;
use super::connection::{Connection, Hears, Link, Source};
use crate::wake::Changes;

const PAUSE: Duration = Duration::from_secs(1);

/// Ends the task with whoever listens.
struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Listens, where a runtime is at hand and the server is one that tells: not in a cluster, whose
/// nodes would each have to be told to, whenever they are connected to again.
pub(super) fn listen(config: &RedisConfig, link: &Link) -> Changes {
    let source = match Source::new(config) {
        Ok(source) if !source.is_cluster() => source,
        _ => return Changes::default(),
    };
    let changed = Arc::<Notify>::default();
    let (prefix, within) = (config.prefix.clone(), link.timeout());
    let hear = hear(source, prefix, within, Arc::clone(&changed));
    Changes::told(changed, Listening(tokio::spawn(hear)))
}

/// Opens the connection, and opens it again whenever it is lost.
async fn hear(source: Source, prefix: String, within: Duration, changed: Arc<Notify>) {
    loop {
        let lost = Arc::<Notify>::default();
        let told = tells(Arc::clone(&changed), Arc::clone(&lost));
        match timeout(within, track(&source, &prefix, told)).await {
            Ok(Ok(_connection)) => {
                changed.notify_one(); // What changed until now was not told.
                lost.notified().await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "changes are not told"),
            Err(_) => tracing::debug!("changes are not told: no answer"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn track(source: &Source, prefix: &str, hears: Hears) -> Result<Connection, RedisError> {
    let mut connection = source.open(hears).await?;
    let mut track = redis::cmd("CLIENT");
    track.arg(&["TRACKING", "ON", "BCAST"]);
    for kind in ["lease:", "semaphore:"] {
        track.arg("PREFIX").arg(format!("{prefix}{kind}"));
    }
    connection.send(&track).await?;
    Ok(connection)
}

fn tells(changed: Arc<Notify>, lost: Arc<Notify>) -> Hears {
    Box::new(move |push| match push.kind {
        PushKind::Invalidate => changed.notify_one(),
        PushKind::Disconnection => lost.notify_one(),
        _ => {}
    })
}
