//! Asks that are polled once, kept, and never polled again: nobody else may wait for them.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use leases::Leases;
use leases_tests::redis::connect;
use leases_tests::servers::Redis;

const SECOND: Duration = Duration::from_secs(1);

type Forgotten = Pin<Box<dyn Future<Output = ()> + Send>>;

/// So many asks, each polled once, one after the other and with nothing between.
async fn forget(leases: &Leases, count: u32) -> Vec<Forgotten> {
    let ask = |number| -> Forgotten {
        let request = leases.lease(format!("forgotten{number}")).unwrap();
        Box::pin(async move { drop(request.acquire().await) })
    };
    let mut asks: Vec<_> = (0..count).map(ask).collect();
    poll_fn(|context| {
        for ask in &mut asks {
            assert!(ask.as_mut().poll(context).is_pending());
        }
        Poll::Ready(())
    })
    .await;
    asks
}

/// The one that finds the connection closed begins to open the next: others do not depend on it,
/// and holds are kept.
#[tokio::test]
async fn one_that_began_to_connect_holds_up_nobody() {
    let server = Redis::start().await;
    let leases = connect(&format!("{}?timeout=1s", server.url())).await;
    let request = leases.lease("kept").unwrap().ttl(3 * SECOND).keep_alive();
    let kept = request.acquire().await.unwrap();
    server.kill_clients().await;
    tokio::time::sleep(SECOND / 10).await; // It is seen that the connection has ended.
    let forgotten = forget(&leases, 1).await;
    drop(leases.lease("other").unwrap().acquire().await.unwrap());
    tokio::time::sleep(3 * SECOND).await;
    assert_eq!(kept.loss(), None);
    drop(forgotten);
}

/// Many wait to be written at once: the room that each is given is not missed.
#[tokio::test]
async fn many_that_wait_to_be_written_hold_up_nobody() {
    let server = Redis::start().await;
    let leases = connect(&format!("{}?timeout=1s", server.url())).await;
    let forgotten = forget(&leases, 3000).await;
    drop(leases.lease("other").unwrap().acquire().await.unwrap());
    drop(forgotten);
}
