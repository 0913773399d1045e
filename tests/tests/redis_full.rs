//! A Redis server that has no room left.

use leases::{Applied, ErrorKind, Leases};
use leases_tests::servers::Redis;

/// A server that has no room for another hold keeps and ends those that it has.
#[tokio::test]
async fn a_full_server_refreshes_and_releases() {
    let server = Redis::start().await;
    let leases = Leases::connect(server.url()).await.unwrap();
    let place = leases.semaphore("place", 2).unwrap();
    let mut held = [leases.lease("held").unwrap().acquire().await.unwrap()];
    let mut places = [place.acquire().await.unwrap(), place.acquire().await.unwrap()];
    let _: () = server.ask(redis::cmd("CONFIG").arg(&["SET", "maxmemory", "1"])).await;
    let refused = leases.lease("other").unwrap().try_acquire().await.unwrap_err();
    assert_eq!(*refused.kind(), ErrorKind::Unavailable(Applied::No), "{refused:?}");
    for held in &mut held {
        held.refresh().await.unwrap();
        assert!(held.release().await.unwrap());
    }
    for place in &mut places {
        place.refresh().await.unwrap();
        assert!(place.release().await.unwrap());
    }
}
