//! PostgreSQL behind a PgBouncer that gives a connection for one transaction.

use std::time::{Duration, Instant};

use leases::{Leases, SqlConfig, Verdict};
use leases_tests::live::{
    SECOND, connect, is_unavailable, lease_key, semaphore_key, timed, until_free, until_seen, view,
};
use leases_tests::on_servers::names::are_separate;
use leases_tests::servers::{PgBouncer, Postgres, until};
use tokio::task::JoinSet;

/// Whether somebody listens past the pooler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wakes {
    Listening,
    Looking,
}

struct Pooled {
    server: Postgres,
    bouncer: PgBouncer,
    url: String,
}

impl Pooled {
    async fn start(wakes: Wakes) -> Self {
        let server = Postgres::start().await;
        let bouncer = PgBouncer::before(&server).await;
        let mut url = format!("{}?pooler=transaction&timeout=2s", bouncer.url());
        if wakes == Wakes::Listening {
            let encoded = [("%", "%25"), (":", "%3A"), ("/", "%2F"), ("@", "%40")];
            let direct = encoded.iter().fold(server.url(), |url, (c, code)| url.replace(c, code));
            url += &format!("&listen={direct}");
        }
        connect(&url).await.migrate().await.expect("it is empty");
        Pooled { server, bouncer, url }
    }

    async fn number(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&mut self.server.connection().await).await.unwrap()
    }

    /// Nothing of a session is left behind, and nobody is in a transaction.
    async fn nothing_is_stranded(&self) {
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";
        let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
        for query in [locks, open] {
            until(query, || async { (self.number(query).await == 0).then_some(()) }).await;
        }
    }
}

/// Case Q1: all that there is, by two handles whose connections are each other's.
#[tokio::test]
async fn q1_all_works_behind_a_transaction_pooler_that_is_listened_past() {
    all_works(Wakes::Listening).await;
}

/// Case Q1: the same where nobody listens: who waits looks.
#[tokio::test]
async fn q1_all_works_behind_a_transaction_pooler_alone() {
    all_works(Wakes::Looking).await;
}

async fn all_works(wakes: Wakes) {
    let pooled = Pooled::start(wakes).await;
    let (one, other) = (connect(&pooled.url).await, connect(&pooled.url).await);
    let mut held = one.lease("a").unwrap().acquire().await.unwrap();
    for _ in 0..20 {
        assert!(other.lease("a").unwrap().try_acquire().await.unwrap().is_none());
        let request = other.lease("a").unwrap();
        let waiting = tokio::spawn(async move { request.acquire().await });
        until_seen(&one, &lease_key("a"), 1, 1).await;
        held.refresh().await.unwrap();
        let began = Instant::now();
        assert!(held.release().await.unwrap());
        let next = waiting.await.unwrap().unwrap();
        // By its sign of life alone it would be up to 1.75 s.
        assert!(began.elapsed() < SECOND / 2, "{:?}", began.elapsed());
        assert!(next.fence() > held.fence());
        held = next;
    }
    let guard = one.guard("a").unwrap();
    assert_eq!(guard.admit(held.fence()).await.unwrap(), Verdict::Admitted);
    assert_eq!(other.guard("a").unwrap().current().await.unwrap(), Some(held.fence()));
    let mut place = one.semaphore("a", 2).unwrap().acquire().await.unwrap();
    place.refresh().await.unwrap();
    assert_eq!(other.revoke(&semaphore_key("a"), None).await.unwrap(), 1);
    assert!(!place.release().await.unwrap());
    assert!(held.release().await.unwrap());
    until_free(&one, &lease_key("a"), SECOND).await;
    are_separate(&one, async |_| {}).await;
    let listening =
        pooled.number("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    let expected = if wakes == Wakes::Listening { 2 } else { 0 };
    assert_eq!(listening.await, expected);
    pooled.nothing_is_stranded().await;
}

/// Cases Q1 and Q5: the server's connections behind the pooler are killed again and again. Each call
/// succeeds or is unavailable in time, and nothing stays.
#[tokio::test]
async fn q1_killed_connections_behind_the_pooler_strand_nothing() {
    for wakes in [Wakes::Listening, Wakes::Looking] {
        let pooled = Pooled::start(wakes).await;
        let mut working = JoinSet::new();
        for number in 0..6 {
            working.spawn(work(connect(&pooled.url).await, format!("l{}", number % 2)));
        }
        let mut confirmed = 0;
        while !working.is_empty() {
            pooled.server.kill_clients().await;
            tokio::time::sleep(Duration::from_millis(30)).await;
            while let Some(ended) = working.try_join_next() {
                confirmed += ended.unwrap();
            }
        }
        // Work goes on; how much of it is the machine's.
        assert!(confirmed > 12, "{confirmed}");
        let leases = connect(&pooled.url).await;
        for number in 0..2 {
            until_free(&leases, &lease_key(&format!("l{number}")), 10 * SECOND).await;
        }
        pooled.nothing_is_stranded().await;
    }
}

/// Takes and gives back for two seconds; answers how often both were confirmed.
async fn work(leases: Leases, name: String) -> u32 {
    let (began, mut confirmed) = (Instant::now(), 0);
    while began.elapsed() < 2 * SECOND {
        let request = leases.lease(&name).unwrap().wait(2 * SECOND);
        let mut held = match request.acquire().await {
            Ok(held) => held,
            Err(error) => {
                assert!(is_unavailable(&error), "{error:?}");
                continue;
            }
        };
        let (released, took) = timed(held.release()).await;
        assert!(took < 3 * SECOND, "{took:?}");
        match released {
            Ok(_) => confirmed += 1,
            Err(error) => assert!(is_unavailable(&error), "{error:?}"),
        }
    }
    confirmed
}

/// Case Q1: a pooler that is killed and comes back: holds of before are there, and handles go on.
#[tokio::test]
async fn q1_a_pooler_that_comes_back_is_used_again() {
    let pooled = Pooled::start(Wakes::Looking).await;
    let leases = connect(&pooled.url).await;
    let kept = leases.lease("a").unwrap().ttl(6 * SECOND).keep_alive().acquire().await.unwrap();
    pooled.bouncer.kill_9();
    let error = leases.lease("b").unwrap().acquire().await.unwrap_err();
    assert!(is_unavailable(&error), "{error:?}");
    pooled.bouncer.restart().await;
    let mut again = leases.lease("b").unwrap().acquire().await.unwrap();
    assert!(again.release().await.unwrap());
    assert_eq!(kept.loss(), None);
    assert_eq!(view(&leases, &lease_key("a")).await.holders.len(), 1);
}

/// A pool of the program's, of connections to a pooler.
#[tokio::test]
async fn a_pool_before_a_pooler_works() {
    let pooled = Pooled::start(Wakes::Looking).await;
    let pool = sqlx::PgPool::connect_lazy(&pooled.bouncer.url()).unwrap();
    let config = SqlConfig::postgres(pool).behind_transaction_pooler(None).unwrap();
    let backend = leases::SqlBackend::connect(config).await.unwrap();
    let leases = Leases::builder(std::sync::Arc::new(backend)).build();
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    held.refresh().await.unwrap();
    assert!(held.release().await.unwrap());
}
