//! Releases, drops and refreshes that meet, and what is told of a loss: the Rust API's own.

use std::sync::Arc;
use std::time::Duration;

use leases::{Backend, Leases, Loss};
use leases_tests::Door;
use leases_tests::faults::{Event, Fault, Faulty};
use leases_tests::trouble::trouble;

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// Case H4: a refresh in flight when the release begins is no loss, and none is sent after.
#[tokio::test]
async fn h4_a_release_that_races_a_refresh_is_no_loss() {
    let t = trouble(Door::Native);
    let leases = t.world.leases();
    let request = leases.lease("a").unwrap().ttl(SECOND);
    for delay in [1, 50, 100, 200] {
        t.backend.next(&[Fault::None, Fault::DelayReply(delay * MS), Fault::None]);
        let held = request.hold(async |lease| {
            t.world.pass_slowly(334 * MS).await;
            assert!(!lease.is_lost());
            Ok::<_, leases::Error>(lease.lost())
        });
        let mut held = std::pin::pin!(held);
        let lost = loop {
            tokio::select! {
                biased;
                ended = &mut held => break ended.expect("released, and not lost"),
                () = t.world.settle() => t.time.advance(MS),
            }
        };
        assert_eq!(lost.await, Loss::Released);
        t.world.until_free(&t.ask).await;
    }
}

/// `hold` fails with the loss even when its function succeeded, and gives back on every way out.
#[tokio::test]
async fn hold_tells_a_loss_and_gives_back_on_every_way_out() {
    let t = trouble(Door::Native);
    let leases = t.world.leases();
    let request = leases.lease("a").unwrap().ttl(SECOND);
    let kept = request.hold(async |_| {
        t.world.pass_slowly(5 * SECOND).await;
        Ok::<_, leases::Error>(7)
    });
    assert_eq!(kept.await.unwrap(), 7);
    t.world.until_free(&t.ask).await;

    let lost = request.hold(async |_| {
        t.backend.always(Fault::LoseRequest);
        t.world.pass_slowly(2 * SECOND).await;
        t.backend.always(Fault::None);
        Ok::<_, leases::Error>(7)
    });
    let lost = lost.await.unwrap_err();
    assert_eq!(*lost.kind(), leases::ErrorKind::Lost(Loss::Unconfirmed));

    let failed = request.hold(async |_| Err::<(), _>(std::io::Error::other("mine").into()));
    let failed: Result<(), Box<dyn std::error::Error>> = failed.await;
    assert_eq!(failed.unwrap_err().to_string(), "mine");
    t.world.until_free(&t.ask).await;

    let panicking = request.clone();
    let panicked = tokio::spawn(async move {
        panicking.hold(async |_| -> Result<(), leases::Error> { panic!("on purpose") }).await
    });
    assert!(panicked.await.unwrap_err().is_panic());
    t.world.until_free(&t.ask).await;

    let dropped = request.hold(async |_| std::future::pending::<Result<(), leases::Error>>().await);
    assert!(tokio::time::timeout(20 * MS, dropped).await.is_err());
    t.world.until_free(&t.ask).await;

    let _other = request.acquire().await.unwrap();
    let not_run = request.try_hold(async |_| -> Result<(), leases::Error> { panic!("not run") });
    assert_eq!(not_run.await.unwrap(), None);
}

/// A loss is told to whoever waits for it, without anybody looking.
#[tokio::test]
async fn lost_resolves_by_itself() {
    let t = trouble(Door::Native);
    let leases = t.world.leases();
    let request = leases.lease("a").unwrap().ttl(SECOND);
    let held = request.acquire().await.unwrap();
    let lost = tokio::spawn(held.lost());
    t.world.settle().await;
    t.world.pass(900 * MS);
    assert_eq!(lost.await.unwrap(), Loss::Expired);
    t.world.pass(100 * MS);
    let mut second = request.acquire().await.unwrap();
    let lost = tokio::spawn(second.lost());
    t.world.settle().await;
    second.refresh_for(10 * SECOND).await.unwrap();
    t.world.pass(5 * SECOND);
    t.world.settle().await;
    assert!(!lost.is_finished(), "the deadline has moved on");
    assert!(second.release().await.unwrap());
    assert_eq!(lost.await.unwrap(), Loss::Released);
    drop(held);
}

/// A thousand runs on two threads: the key is free each time, and no refresh is sent after the
/// release, or the drop's leave, was answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn release_and_drop_race_refreshes() {
    let time = leases::Clock::system();
    let memory = leases::MemoryBackend::new(leases::MemoryConfig::default());
    let backend = Arc::new(Faulty::new(Arc::new(memory), time));
    let leases = Leases::builder(Arc::clone(&backend) as Arc<dyn Backend>).build();
    // Free within the ttl, with a second of margin for a busy machine.
    let request = leases.lease("a").unwrap().ttl(30 * MS).wait(30 * MS + SECOND).keep_alive();
    for run in 0..1000_u32 {
        let mut held = request.acquire().await.expect("free within its ttl");
        // Around the moment at which the keeper refreshes: 9 to 10 ms after the grant.
        let pause = Duration::from_micros(8_500 + u64::from(run % 100) * 20);
        tokio::time::sleep(pause).await;
        match run % 3 {
            0 => assert!(held.release().await.unwrap() || held.is_lost()),
            1 => drop(held),
            _ => {
                let _ = held.refresh().await;
                let cancelled = tokio::time::timeout(Duration::ZERO, held.release()).await;
                drop((cancelled, held));
            }
        }
    }
    let mut ended = std::collections::HashSet::new();
    for event in backend.events() {
        match event {
            Event::EndAnswered(holder) => drop(ended.insert(holder)),
            Event::RefreshSent(holder) => assert!(!ended.contains(&holder), "sent after its end"),
        }
    }
    assert!(backend.refreshes() > 100, "{} refreshes raced", backend.refreshes());
}

/// A refresh by hand is asked for while the keeper's is under way: whichever the backend applies
/// last, the local deadline comes before its end.
#[tokio::test]
async fn the_deadline_comes_before_the_end_whichever_answer_is_last() {
    for (keepers, by_hand) in [(200, 0), (0, 100), (100, 100)] {
        let t = trouble(Door::Native);
        let leases = t.world.leases();
        let request = leases.lease("a").unwrap().ttl(3 * SECOND).keep_alive();
        let mut held = request.acquire().await.unwrap();
        t.world.settle().await;
        t.backend.next(&[
            Fault::DelayReply(keepers * MS),
            Fault::DelayReply(by_hand * MS),
            Fault::Hang,
        ]);
        t.world.pass(SECOND); // The keeper's is sent.
        t.world.settle().await;
        let refresh = tokio::spawn(async move { (held.refresh_for(SECOND).await, held) });
        t.world.settle().await;
        t.world.pass_slowly(300 * MS).await;
        let (_, held) = refresh.await.unwrap();
        let ends_in = t.world.view(&t.ask).await.holders[0].ends_in;
        assert!(held.remaining() < ends_in, "{:?} {keepers} {by_hand}", held.remaining());
    }
}

/// A kept hold that was given a nearer end by hand is refreshed before that.
#[tokio::test]
async fn a_kept_hold_outlives_a_shorter_refresh_by_hand() {
    let t = trouble(Door::Native);
    let request = t.world.leases().lease("a").unwrap().ttl(30 * SECOND).keep_alive();
    let mut held = request.acquire().await.unwrap();
    held.refresh_for(SECOND).await.unwrap();
    t.world.pass_slowly(5 * SECOND).await;
    assert_eq!(held.loss(), None);
    assert!(held.remaining() > 20 * SECOND);
}

/// What `hold` answers can be given to another task.
#[tokio::test]
async fn hold_runs_in_a_task_of_its_own() {
    let request = Leases::memory().lease("a").unwrap();
    let shared = Arc::new(7);
    let held = tokio::spawn(async move {
        let shared = Arc::clone(&shared);
        let held = request.hold(async |lease| {
            tokio::task::yield_now().await;
            assert!(!lease.is_lost());
            Ok::<_, leases::Error>(*shared)
        });
        held.await
    });
    assert_eq!(held.await.unwrap().unwrap(), 7);
}

/// A refresh that brings the end nearer is told to who waits for it, answered or not.
#[tokio::test]
async fn lost_resolves_at_a_nearer_end() {
    let t = trouble(Door::Native);
    let request = t.world.leases().lease("a").unwrap().ttl(60 * SECOND);
    let mut held = request.acquire().await.unwrap();
    let lost = tokio::spawn(held.lost());
    t.world.settle().await;
    t.backend.always(Fault::Hang);
    let refresh = tokio::spawn(async move { held.refresh_for(SECOND).await });
    t.world.settle().await;
    t.world.pass(900 * MS);
    t.world.settle().await;
    assert!(lost.is_finished());
    refresh.abort();
}
