//! A Redis server that forgets all that it was told. What other databases go through too is in
//! `on_servers`.

use std::time::{Duration, Instant};

use leases::{Leases, Loss, Wait};
use leases_tests::live::{SECOND, connect, lease_key, until_free, until_seen};
use leases_tests::servers::{Redis, until};

async fn waiters(leases: &Leases, count: usize) -> tokio::task::JoinSet<usize> {
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..count {
        let request = leases.lease("a").unwrap().wait(Wait::Forever);
        waiting.spawn(async move {
            let mut held = request.acquire().await.expect("it is admitted");
            assert!(held.release().await.expect("the server answers"));
            number
        });
        until_seen(leases, &lease_key("a"), 1, number + 1).await;
    }
    waiting
}

/// One that is not durable has forgotten the line: all come back by themselves, and are admitted.
#[tokio::test]
async fn a_hundred_waiters_come_back_to_a_server_that_forgot_them() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let mut held = leases.lease("a").unwrap().acquire().await.unwrap();
    let waiting = waiters(&leases, 100).await;
    server.kill_9();
    server.restart().await;
    assert!(held.refresh().await.is_err() && held.loss() == Some(Loss::Expired));
    let ended = tokio::time::timeout(20 * SECOND, waiting.join_all()).await;
    assert_eq!(ended.expect("all are admitted").len(), 100);
    until_free(&leases, &lease_key("a"), SECOND).await;
}

/// Case R3: FLUSHALL under load: for each name the fences rise, and everybody goes on.
#[tokio::test]
async fn r3_fences_rise_over_a_flush_under_load() {
    let server = Redis::start().await;
    let leases = connect(&server.url()).await;
    let began = Instant::now();
    let mut working = tokio::task::JoinSet::new();
    let fences: std::sync::Arc<std::sync::Mutex<[Vec<u64>; 3]>> = std::sync::Arc::default();
    for number in 0..9 {
        let (leases, fences) = (leases.clone(), std::sync::Arc::clone(&fences));
        working.spawn(async move {
            while began.elapsed() < 2 * SECOND {
                let request = leases.lease(format!("l{}", number % 3)).unwrap();
                let mut held = request.acquire().await.unwrap();
                fences.lock().unwrap()[number % 3].push(held.fence().as_u64());
                held.release().await.unwrap();
            }
        });
    }
    while began.elapsed() < 2 * SECOND {
        server.flush_all().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    working.join_all().await;
    for of_one in fences.lock().unwrap().iter_mut() {
        let grants = of_one.len();
        assert!(grants > 50, "{grants}");
        of_one.sort_unstable();
        of_one.dedup();
        assert_eq!(of_one.len(), grants, "no number was given twice");
    }
    until("nothing stays", || async {
        let free = leases.lease("l0").unwrap().try_acquire().await.unwrap();
        free.is_some().then_some(())
    })
    .await;
}
