//! A host that revokes a plugin while that takes, keeps, refreshes, releases and drops, on many
//! threads and by the machine's clock: nothing of it stays behind, and nobody else is hit.

use std::sync::Arc;
use std::time::Duration;

use leases::{
    Backend, Clock, Counts, ErrorKind, Grant, Key, Kind, Leases, Loss, MemoryBackend, MemoryConfig,
    Name, NamePattern, PluginId, Policy, Quota, Rate, Scope, Wait,
};
use leases_tests::faults::{Fault, Faulty, Remote};
use rand::RngExt as _;
use tokio::task::JoinSet;

const MS: Duration = Duration::from_millis(1);
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn some(most: u64) -> u64 {
    rand::rng().random_range(0..=most)
}

async fn pause(micros_max: u64) {
    tokio::time::sleep(Duration::from_micros(some(micros_max))).await;
}

/// Takes something, or gives up on the way; then does something with it.
async fn act(scope: &Scope) {
    let name = NAMES[some(3) as usize];
    let request = scope.semaphore(name, 2).expect("it is granted");
    let request = request.ttl(Duration::from_secs(20)).wait(match some(2) {
        0 => Wait::Never,
        1 => Wait::AtMost(MS * 3),
        _ => Wait::AtMost(Duration::from_secs(5)),
    });
    let request = if some(1) == 0 { request.keep_alive() } else { request };
    let taken = if some(2) == 0 {
        let given_up = tokio::time::timeout(Duration::from_micros(some(3000)), request.acquire());
        match given_up.await {
            Ok(taken) => taken,
            Err(_) => return,
        }
    } else {
        request.acquire().await
    };
    let mut held = match taken {
        Ok(held) => held,
        Err(error) => {
            // Asks that are revoked end at once, and count until the backend has let go of them.
            let full = ErrorKind::OverQuota(Quota::Held);
            let known = [ErrorKind::NotAcquired, ErrorKind::Lost(Loss::Revoked), full];
            let unavailable = matches!(error.kind(), ErrorKind::Unavailable(_));
            assert!(unavailable || known.contains(error.kind()), "{error}");
            return;
        }
    };
    pause(1500).await;
    match some(3) {
        0 => drop(held.refresh().await),
        1 => drop(tokio::time::timeout(Duration::from_micros(some(800)), held.release()).await),
        2 => drop(held.release().await),
        _ => {}
    }
    drop(held);
}

fn scope(leases: &Leases, plugin: &str) -> Scope {
    let policy = Policy::builder().grant(Grant::new(NamePattern::new("*").unwrap()));
    let policy = policy.acquires(Rate::UNLIMITED).calls(Rate::UNLIMITED).build().unwrap();
    Scope::new(leases.clone(), PluginId::new(plugin).unwrap(), policy)
}

/// Acts in many tasks, and revokes it all now and then until they are done.
async fn race(scope: &Scope, rounds: u32) {
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let scope = scope.clone();
        tasks.spawn(async move {
            for _ in 0..rounds {
                act(&scope).await;
            }
        });
    }
    while !tasks.is_empty() {
        scope.revoke_all();
        tokio::select! {
            Some(ended) = tasks.join_next() => ended.expect("no task panics"),
            () = pause(4000) => {}
        }
    }
}

/// Returns when the plugin has nothing.
async fn nothing_counts(scope: &Scope) {
    let gone = async {
        while scope.counts() != Counts::default() {
            tokio::time::sleep(MS).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), gone).await;
    in_time.unwrap_or_else(|_| panic!("{:?} {:?}", scope.counts(), scope.view()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_plugin_that_is_revoked_again_and_again_leaves_nothing() {
    let memory = Arc::new(MemoryBackend::new(MemoryConfig::default()));
    for backend in [Arc::new(Remote::new(Clock::system())) as Arc<dyn Backend>, memory] {
        let leases = Leases::builder(backend).build();
        let (plugin, other) = (scope(&leases, "plugin"), scope(&leases, "other"));
        let others = other.lease("mine").unwrap().ttl(60_000 * MS).keep_alive();
        let others = others.acquire().await.unwrap();
        race(&plugin, 150).await;
        nothing_counts(&plugin).await;
        for name in NAMES {
            let key = Key { kind: Kind::Semaphore, name: Name::new(name).unwrap() };
            let view = leases.inspect(&key).await.unwrap();
            assert!(view.holders.is_empty() && view.waiters.is_empty(), "{view:?}");
        }
        assert_eq!(others.loss(), None);
        assert_eq!(other.counts(), Counts { held: 1, waiting: 0 });
        leases.close(5000 * MS).await.unwrap();
    }
}

/// Anything that a backend with a timeout for each request does: it answers late, or not at all.
fn faults() -> Vec<Fault> {
    let fault = |_| match some(9) {
        0 => Fault::Fail,
        1 => Fault::LoseRequest,
        2 => Fault::LoseReply,
        3 => Fault::DelayReply(Duration::from_micros(some(3000))),
        _ => Fault::None,
    };
    (0..4000).map(fault).chain([Fault::None]).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_plugin_that_is_revoked_while_its_backend_fails_counts_for_nothing_in_the_end() {
    let memory = Arc::new(MemoryBackend::new(MemoryConfig::default()));
    for _ in 0..6 {
        let backend =
            Arc::new(Faulty::new(Arc::clone(&memory) as Arc<dyn Backend>, Clock::system()));
        backend.next(&faults());
        let scope =
            scope(&Leases::builder(Arc::clone(&backend) as Arc<dyn Backend>).build(), "plugin");
        race(&scope, 20).await;
        backend.always(Fault::None);
        nothing_counts(&scope).await;
    }
}
