//! A user with no more rights than the documentation of `RedisConfig` says that one needs.

use std::time::Duration;

use leases::{Key, Kind, Leases, Loss, Name, Verdict};
use leases_tests::servers::Redis;

const USER: &str = "user app on >secret ~leases:* &leases:* +eval +evalsha +get +set +del \
    +hget +hset +hmget +hdel +zadd +zrem +zcard +zrank +zrange +zrangebyscore +zscore +pexpire \
    +time +publish +subscribe +unsubscribe +ping +hello";

#[tokio::test]
async fn a_user_with_few_rights_can_do_everything() {
    let server = Redis::start_with(&[USER]).await;
    let leases = Leases::connect(format!("redis://app:secret@{}", server.address())).await.unwrap();
    holds_waits_and_is_revoked(&leases).await;
    two_hold(&leases).await;
    let guard = leases.guard("a").unwrap();
    let lease = leases.lease("guarded").unwrap().owner("me").acquire().await.unwrap();
    let taken_over = leases.lease("guarded").unwrap().owner("me").acquire().await.unwrap();
    assert_eq!(guard.admit(taken_over.fence()).await.unwrap(), Verdict::Admitted);
    assert!(matches!(guard.admit(lease.fence()).await.unwrap(), Verdict::Stale(_)));
    assert_eq!(guard.current().await.unwrap(), Some(taken_over.fence()));
}

async fn holds_waits_and_is_revoked(leases: &Leases) {
    let key = Key { kind: Kind::Lease, name: Name::new("held").unwrap() };
    let mut held = leases.lease("held").unwrap().acquire().await.unwrap();
    let waits = leases.lease("held").unwrap().wait(Duration::from_secs(20));
    let waiting = tokio::spawn(async move { waits.acquire().await });
    while leases.inspect(&key).await.unwrap().waiters.is_empty() {
        tokio::task::yield_now().await;
    }
    held.refresh().await.unwrap();
    assert!(held.release().await.unwrap());
    let mut next = waiting.await.unwrap().unwrap();
    assert_eq!(leases.revoke(&key, None).await.unwrap(), 1);
    assert!(next.refresh().await.is_err());
    assert_eq!(next.loss(), Some(Loss::Revoked));
}

async fn two_hold(leases: &Leases) {
    let places = leases.semaphore("places", 2).unwrap();
    let mut first = places.clone().owner("me").note("busy").acquire().await.unwrap();
    let mut second = places.acquire().await.unwrap();
    assert!(places.try_acquire().await.unwrap().is_none());
    first.refresh().await.unwrap();
    assert!(first.release().await.unwrap());
    assert!(second.release().await.unwrap());
}

/// Who is not let in is told why; also one who may not listen for wake-ups.
#[tokio::test]
async fn who_is_not_let_in_is_told_why() {
    let deaf = "user deaf on >secret ~* resetchannels +@all";
    let server = Redis::start_with(&[USER, deaf]).await;
    for (login, why) in [("app:wrong", "WRONGPASS"), ("deaf:secret", "channels")] {
        let url = format!("redis://{login}@{}?timeout=500ms", server.address());
        let error = Leases::connect(url).await.unwrap_err();
        assert!(format!("{error:?}").contains(why), "{error:?}");
    }
}

/// Who may no longer listen does not try again and again at once: pauses grow to a second.
#[tokio::test]
async fn a_subscription_that_is_refused_is_tried_again_after_pauses() {
    let server = Redis::start_with(&[USER]).await;
    let url = format!("redis://app:secret@{}", server.address());
    let leases = Leases::connect(url).await.unwrap();
    let mut change = redis::cmd("ACL");
    server.ask::<()>(change.arg("SETUSER").arg("app").arg("resetchannels")).await;
    server.reset_stats().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let tried = server.command_calls("hello").await;
    assert!((1..=12).contains(&tried), "{tried} times");
    drop(leases);
}
