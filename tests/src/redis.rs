//! What tests of the Redis backend share: real servers, real time.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use leases::spec::{Ask, KeyView, Mode};
use leases::{
    Error, ErrorKind, HolderId, Key, Kind, Leases, Limit, ManualClock, Name, RedisBackend,
    RedisConfig, Ttl, TtlBounds,
};

use crate::servers::until;

/// A handle over the server of a URL.
pub async fn connect(url: &str) -> Leases {
    Leases::connect(url).await.expect("the server answers")
}

/// The backend alone, over the server of a URL.
pub async fn backend(url: &str) -> RedisBackend {
    let config = RedisConfig::from_url(url).expect("a URL");
    RedisBackend::connect(config).await.expect("the server answers")
}

/// A handle over a server that is told the time.
pub async fn told(url: &str, time: &ManualClock) -> Leases {
    let config = RedisConfig::from_url(url).expect("a URL").manual_clock(time);
    let backend = RedisBackend::connect(config).await.expect("the server answers");
    Leases::builder(Arc::new(backend)).clock(time.clock()).build()
}

/// The key of a lease.
pub fn lease_key(name: &str) -> Key {
    Key { kind: Kind::Lease, name: Name::new(name).expect("a name") }
}

/// The key of a semaphore.
pub fn semaphore_key(name: &str) -> Key {
    Key { kind: Kind::Semaphore, ..lease_key(name) }
}

/// An ask of nobody: its ticket and its hold are left to themselves.
pub fn ask(key: &Key, limit: u32, mode: Mode) -> Ask {
    Ask {
        key: key.clone(),
        limit: Limit::new(limit).expect("a limit"),
        holder: HolderId::random(),
        owner: None,
        ttl: Ttl::new(Duration::from_secs(60), TtlBounds::default()).expect("a ttl"),
        max_hold: None,
        note: None,
        mode,
    }
}

/// Who holds and who waits.
pub async fn view(leases: &Leases, key: &Key) -> KeyView {
    leases.inspect(key).await.expect("the backend answers")
}

/// Waits until so many hold a key and so many wait for it; answers how long that took.
pub async fn until_seen(leases: &Leases, key: &Key, holders: usize, waiters: usize) -> Duration {
    let began = Instant::now();
    until(&format!("{key} has {holders} holders and {waiters} waiters"), || async {
        let view = leases.inspect(key).await.ok()?;
        (view.holders.len() == holders && view.waiters.len() == waiters).then_some(())
    })
    .await;
    began.elapsed()
}

/// Waits until nobody holds a key and nobody waits for it. Fails when that takes longer.
pub async fn until_free(leases: &Leases, key: &Key, within: Duration) {
    let took = until_seen(leases, key, 0, 0).await;
    assert!(took <= within, "{key} was free only after {took:?}");
}

/// Whether a call was not confirmed.
pub fn is_unavailable(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable(_))
}

/// What a call answered, and how long it took.
pub async fn timed<T>(call: impl Future<Output = T>) -> (T, Duration) {
    let began = Instant::now();
    let answer = call.await;
    (answer, began.elapsed())
}

/// Another process, which is killed when this is dropped. It says what it does, line by line.
#[derive(Debug)]
pub struct Program {
    child: Child,
    said: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
}

impl Program {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        use std::io::BufRead as _;
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let stdout = child.stdout.take().expect("piped");
        Program { child, said: std::io::BufReader::new(stdout).lines() }
    }

    /// What it says next, waiting for it.
    pub fn says(&mut self) -> String {
        self.said.next().expect("it says something").expect("UTF-8")
    }

    /// Kills it, as `kill -9` does.
    pub fn kill_9(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill_9();
    }
}
