//! Each fault of the proxy does what it says, to a Redis server and its clients.

use std::time::{Duration, Instant};

use leases_tests::servers::{Proxy, Redis, until};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisResult};

/// A real wait, of which a reply takes a hundredth.
const A_WHILE: Duration = Duration::from_millis(200);
/// Longer than any test.
const LONG: Duration = Duration::from_secs(60);

async fn fixture() -> (Redis, Proxy) {
    let server = Redis::start().await;
    let proxy = Proxy::in_front_of(&server).await;
    (server, proxy)
}

/// A client that waits for its replies as long as a test does.
async fn connect(proxy: &Proxy) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(LONG))
        .set_response_timeout(Some(LONG));
    let client = Client::open(proxy.url()).expect("an address");
    client.get_multiplexed_async_connection_with_config(&config).await
}

async fn increment(client: &mut MultiplexedConnection) -> RedisResult<u64> {
    redis::cmd("INCR").arg("a").query_async(client).await
}

async fn gets_no_reply<T>(asking: impl Future<Output = T>) -> bool {
    tokio::time::timeout(A_WHILE, asking).await.is_err()
}

async fn append(client: &mut MultiplexedConnection, text: &str) -> RedisResult<u64> {
    redis::cmd("APPEND").arg("text").arg(text).query_async(client).await
}

/// What the increments left.
async fn count(server: &Redis) -> u64 {
    server.ask::<Option<u64>>(redis::cmd("GET").arg("a")).await.unwrap_or(0)
}

async fn text(server: &Redis) -> Option<String> {
    server.ask(redis::cmd("GET").arg("text")).await
}

#[tokio::test]
async fn it_passes_and_counts() {
    let (server, proxy) = fixture().await;
    assert_eq!(proxy.accepted(), 0);
    let (mut one, mut other) = (connect(&proxy).await.unwrap(), connect(&proxy).await.unwrap());
    assert_eq!(proxy.accepted(), 2);
    assert_eq!(increment(&mut one).await.unwrap(), 1);
    assert_eq!(increment(&mut other).await.unwrap(), 2);
    let long = "x".repeat(1_000_000);
    assert_eq!(append(&mut one, &long).await.unwrap(), 1_000_000);
    assert_eq!(text(&server).await, Some(long));
}

#[tokio::test]
async fn a_black_hole_swallows_requests_of_open_connections() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    let mut idle = connect(&proxy).await.unwrap();
    increment(&mut client).await.unwrap();
    proxy.black_hole();
    assert!(gets_no_reply(increment(&mut client)).await);
    assert_eq!(count(&server).await, 1);
    proxy.pass();
    assert!(increment(&mut client).await.unwrap_err().is_connection_dropped());
    assert_eq!(increment(&mut idle).await.unwrap(), 2);
    assert_eq!(increment(&mut connect(&proxy).await.unwrap()).await.unwrap(), 3);
}

#[tokio::test]
async fn a_black_hole_accepts_connections_and_says_nothing() {
    let (server, proxy) = fixture().await;
    proxy.black_hole();
    server.kill_9();
    let asking = async { increment(&mut connect(&proxy).await?).await };
    assert!(gets_no_reply(asking).await);
    assert_eq!(proxy.accepted(), 1);
}

#[tokio::test]
async fn a_black_hole_hides_that_the_server_is_gone() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.black_hole();
    server.kill_9();
    assert!(gets_no_reply(increment(&mut client)).await);
}

#[tokio::test]
async fn replies_are_delayed_and_requests_are_not() {
    let (server, proxy) = fixture().await;
    let client = connect(&proxy).await.unwrap();
    proxy.delay(A_WHILE);
    let before = Instant::now();
    let (mut one, mut other) = (client.clone(), client);
    let (first, second) = tokio::join!(increment(&mut one), increment(&mut other));
    assert_eq!((first.unwrap(), second.unwrap()), (1, 2));
    assert!(before.elapsed() >= A_WHILE);
    proxy.delay(LONG);
    assert!(gets_no_reply(increment(&mut one)).await);
    until("it is applied", || async { (count(&server).await == 3).then_some(()) }).await;
}

#[tokio::test]
async fn a_cut_closes_open_connections_and_no_later_one() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.cut_now();
    assert!(increment(&mut client).await.unwrap_err().is_connection_dropped());
    assert_eq!(count(&server).await, 0);
    assert_eq!(increment(&mut connect(&proxy).await.unwrap()).await.unwrap(), 1);
}

#[tokio::test]
async fn a_cut_ends_a_request_that_waits() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.delay(LONG);
    let waiting = tokio::spawn(async move { increment(&mut client).await });
    until("it is applied", || async { (count(&server).await == 1).then_some(()) }).await;
    proxy.cut_now();
    assert!(waiting.await.unwrap().unwrap_err().is_connection_dropped());
}

#[tokio::test]
async fn a_cut_after_the_next_request_loses_the_reply_alone() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.cut_after_next_request();
    assert!(increment(&mut client).await.unwrap_err().is_connection_dropped());
    assert_eq!(count(&server).await, 1);
    assert_eq!(increment(&mut connect(&proxy).await.unwrap()).await.unwrap(), 2);
}

#[tokio::test]
async fn a_cut_before_the_next_request_loses_the_request() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.cut_before_next_request();
    assert!(increment(&mut client).await.unwrap_err().is_connection_dropped());
    assert_eq!(count(&server).await, 0);
    assert_eq!(increment(&mut connect(&proxy).await.unwrap()).await.unwrap(), 1);
}

#[tokio::test]
async fn new_connections_are_refused_and_open_ones_pass() {
    let (_server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.refuse();
    let asking = async { increment(&mut connect(&proxy).await?).await };
    assert!(asking.await.unwrap_err().is_connection_dropped());
    assert_eq!(increment(&mut client).await.unwrap(), 1);
    assert_eq!(proxy.accepted(), 2);
    proxy.pass();
    assert_eq!(increment(&mut connect(&proxy).await.unwrap()).await.unwrap(), 2);
}

#[tokio::test]
async fn held_requests_are_let_go_in_order() {
    let (server, proxy) = fixture().await;
    let client = connect(&proxy).await.unwrap();
    proxy.hold();
    let send = |text| {
        let mut client = client.clone();
        tokio::spawn(async move { append(&mut client, text).await })
    };
    let one = send("1");
    proxy.until_held().await;
    let before = proxy.held();
    let other = send("2");
    until("both are held", || async { (proxy.held() > before).then_some(()) }).await;
    assert_eq!(text(&server).await, None);
    proxy.let_go().await;
    assert_eq!((one.await.unwrap().unwrap(), other.await.unwrap().unwrap()), (1, 2));
    assert_eq!(text(&server).await.as_deref(), Some("12"));
}

#[tokio::test]
async fn a_held_request_is_replayed_after_its_client_has_gone() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.hold();
    assert!(gets_no_reply(append(&mut client, "late")).await);
    drop(client);
    proxy.pass();
    append(&mut connect(&proxy).await.unwrap(), "new,").await.unwrap();
    assert_eq!(text(&server).await.as_deref(), Some("new,"));
    assert!(proxy.held() > 0);
    proxy.let_go().await;
    assert_eq!(text(&server).await.as_deref(), Some("new,late"));
}

#[tokio::test]
async fn a_held_request_is_replayed_after_a_cut() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    proxy.hold();
    let waiting = tokio::spawn(async move { increment(&mut client).await });
    proxy.until_held().await;
    proxy.cut_now();
    assert!(waiting.await.unwrap().unwrap_err().is_connection_dropped());
    assert_eq!(count(&server).await, 0);
    proxy.let_go().await;
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn a_dropped_proxy_closes_its_connections() {
    let (server, proxy) = fixture().await;
    let mut client = connect(&proxy).await.unwrap();
    drop(proxy);
    assert!(increment(&mut client).await.unwrap_err().is_connection_dropped());
    assert_eq!(count(&server).await, 0);
}
