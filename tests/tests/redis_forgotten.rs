//! Asks that are polled once, kept, and never polled again: nobody else may wait for them.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use leases::Leases;
use leases_tests::live::connect;
use leases_tests::servers::Redis;

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

/// Many wait to be written at once: the room that each is given is not missed.
#[tokio::test]
async fn many_that_wait_to_be_written_hold_up_nobody() {
    let server = Redis::start().await;
    let leases = connect(&format!("{}?timeout=1s", server.url())).await;
    let forgotten = forget(&leases, 3000).await;
    drop(leases.lease("other").unwrap().acquire().await.unwrap());
    drop(forgotten);
}
