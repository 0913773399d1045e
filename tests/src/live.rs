//! What tests of real servers, in real time, share.

use std::time::{Duration, Instant};

use leases::spec::{Ask, KeyView, Mode};
use leases::{Error, ErrorKind, HolderId, Key, Kind, Leases, Limit, Name, Ttl, TtlBounds};

use crate::servers::until;

/// A second.
pub const SECOND: Duration = Duration::from_secs(1);

/// What a machine that is busy with other tests may add to any time.
pub const MARGIN: Duration = Duration::from_millis(700);

/// A handle over what is at a URL.
pub async fn connect(url: &str) -> Leases {
    Leases::connect(url).await.expect("the server answers")
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

/// Sees for half a second that nobody holds or waits for a key. What is on its way takes a hundredth
/// of that.
pub async fn stays_free(leases: &Leases, key: &Key) {
    let began = Instant::now();
    while began.elapsed() < SECOND / 2 {
        let view = view(leases, key).await;
        assert!(view.holders.is_empty() && view.waiters.is_empty(), "{view:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
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
