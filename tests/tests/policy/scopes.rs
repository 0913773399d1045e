//! What a host does itself with a plugin's scope: scopes that come and go, runtimes that end, holds
//! that are ended from outside.

use std::sync::Arc;
use std::time::Duration;

use leases::{
    Backend, Counts, ErrorKind, Lease, Leases, Loss, ManualClock, PluginId, PolicyBuilder, Quota,
    Rate, Scope,
};
use leases_tests::Counted;
use leases_tests::faults::{Fault, Faulty};
use leases_tests::world::{self, take_turns};

use super::{SECOND, granting};

const MS: Duration = Duration::from_millis(1);

fn scope(leases: &Leases, plugin: &str, policy: PolicyBuilder) -> Scope {
    let policy = policy.build().expect("a policy");
    Scope::new(leases.clone(), PluginId::new(plugin).expect("an identity"), policy)
}

fn over(backend: Arc<dyn Backend>, time: &ManualClock) -> Leases {
    Leases::builder(backend).clock(time.clock()).build()
}

/// Over memory that does what it is told at once.
fn memory() -> (ManualClock, Leases) {
    let time = ManualClock::new();
    let leases = over(Arc::new(world::memory(&time)), &time);
    (time, leases)
}

/// Over one whose operations fail as they are told to.
fn faulty() -> (ManualClock, Arc<Faulty>, Leases) {
    let time = ManualClock::new();
    let backend = Arc::new(Faulty::new(Arc::new(world::memory(&time)), time.clock()));
    let leases = over(Arc::clone(&backend) as Arc<dyn Backend>, &time);
    (time, backend, leases)
}

async fn take(scope: &Scope, name: &str) -> Result<Lease, leases::Error> {
    scope.lease(name).expect("a name that is granted").acquire().await
}

fn is_over_rate(ended: Result<Lease, leases::Error>) -> bool {
    ended.is_err_and(|error| *error.kind() == ErrorKind::OverQuota(Quota::Rate))
}

/// A host that makes a scope for each call has none in between.
#[tokio::test]
async fn a_new_scope_brings_no_new_tokens_and_names() {
    let (time, leases) = memory();
    let policy = || granting("*").names_per_day(2).acquires(Rate::per_second(3));
    let anew = || scope(&leases, "importer", policy());
    for name in ["a", "b"] {
        drop(take(&anew(), name).await.unwrap());
        scope(&leases, "exporter", policy());
    }
    assert!(is_over_rate(take(&anew(), "c").await), "a third name");
    drop(take(&anew(), "a").await.unwrap());
    assert!(is_over_rate(take(&anew(), "a").await), "a fourth token");
    time.advance(SECOND);
    drop(take(&anew(), "a").await.unwrap());
}

#[tokio::test]
async fn an_ask_that_is_refused_for_its_rate_uses_no_name() {
    let (time, leases) = memory();
    let policy = granting("*").names_per_day(2).acquires(Rate::per_second(1));
    let scope = scope(&leases, "importer", policy);
    drop(take(&scope, "a").await.unwrap());
    for name in ["b", "c", "d"] {
        assert!(is_over_rate(take(&scope, name).await));
    }
    time.advance(SECOND);
    drop(take(&scope, "d").await.unwrap());
}

/// What was being given back when its runtime ended is left to its ttl, and counts no more.
#[test]
fn counts_come_back_when_a_runtime_ends() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (_, backend, leases) = faulty();
    let scope = scope(&leases, "importer", granting("*"));
    runtime().block_on(async {
        let mut held = Vec::new();
        for number in 0..50 {
            held.push(take(&scope, &number.to_string()).await.unwrap());
        }
        backend.always(Fault::Hang);
        drop(held);
        take_turns().await;
        assert_eq!(scope.counts().held, 50);
    });
    assert_eq!(scope.counts(), Counts::default());
}

#[tokio::test]
async fn who_waits_for_a_loss_counts_for_nothing() {
    let (_, leases) = memory();
    let scope = scope(&leases, "importer", granting("*"));
    let held = take(&scope, "a").await.unwrap();
    let lost = held.lost();
    drop(held);
    assert_eq!(scope.counts(), Counts::default());
    assert_eq!(lost.await, Loss::Released);
}

#[tokio::test]
async fn a_loss_that_was_told_stays_what_it_was() {
    for close in [false, true] {
        let (time, leases) = memory();
        let scope = scope(&leases, "importer", granting("*"));
        let request = scope.lease("a").unwrap().ttl(SECOND);
        let held = request.acquire().await.unwrap();
        time.advance(2 * SECOND);
        assert_eq!(held.loss(), Some(Loss::Expired));
        match close {
            false => drop(scope.revoke_all()),
            true => leases.close(SECOND).await.unwrap(),
        }
        assert_eq!(held.loss(), Some(Loss::Expired));
    }
}

/// A host that revokes again and again, because its backend is silent, does not fill the queue.
#[tokio::test]
async fn what_is_being_given_back_is_not_given_back_again() {
    let time = ManualClock::new();
    let (_, backend, _) = faulty();
    let counted = Arc::new(Counted::new(Arc::clone(&backend) as Arc<dyn Backend>));
    let leases = over(Arc::clone(&counted) as Arc<dyn Backend>, &time);
    let scope = scope(&leases, "importer", granting("*"));
    let held = take(&scope, "a").await.unwrap();
    backend.always(Fault::Hang);
    let before = counted.began();
    for _ in 0..10 {
        scope.revoke_all();
        take_turns().await;
    }
    assert_eq!(counted.began() - before, 1);
    assert_eq!(held.loss(), Some(Loss::Revoked));
}

/// With a ttl of some milliseconds a plugin would have every batch of refreshes given up before the
/// backend could answer, those of other plugins with it, and ask the backend all the time.
#[tokio::test]
async fn a_plugins_short_holds_are_not_kept_alive() {
    let (time, backend, leases) = faulty();
    let hostile = scope(&leases, "hostile", granting("*").held(40));
    let victim = scope(&leases, "victim", granting("*"));
    let held = victim.lease("victim").unwrap().ttl(3 * SECOND).keep_alive();
    let held = held.acquire().await.unwrap();
    backend.always(Fault::DelayReply(8 * MS));
    for number in 0..40 {
        let request = hostile.lease(number.to_string()).unwrap().keep_alive();
        let short = request.clone().ttl(20 * MS).acquire().await.unwrap_err();
        assert_eq!(
            short.to_string(),
            format!("acquire lease {number}: invalid ttl: 1s to 86400s, not 20ms")
        );
        let request = request.ttl(SECOND);
        tokio::spawn(async move {
            loop {
                if let Ok(held) = request.acquire().await {
                    held.lost().await;
                }
            }
        });
    }
    let before = backend.refreshes();
    for _ in 0..6000 {
        take_turns().await;
        time.advance(MS);
    }
    assert_eq!(held.loss(), None);
    assert!(backend.refreshes() - before < 300, "{} in 6 s", backend.refreshes() - before);
    // Where a policy allows no more, that is it.
    let policy = granting("*").ttl_max(SECOND / 2);
    let request = scope(&leases, "other", policy).lease("x").unwrap().keep_alive();
    let taken = tokio::spawn(async move { request.ttl(SECOND / 2).acquire().await.is_ok() });
    take_turns().await;
    time.advance(8 * MS);
    assert!(taken.await.unwrap());
}

#[tokio::test]
async fn a_hold_tells_the_owner_as_it_was_given() {
    let (_, leases) = memory();
    let scope = scope(&leases, "importer", granting("*"));
    let held = scope.lease("a").unwrap().owner("importer/job").acquire().await.unwrap();
    assert_eq!(held.owner(), Some("importer/job"));
    let owner = scope.view().holds[0].owner.as_ref().map(|owner| owner.as_str().to_owned());
    assert_eq!(owner.as_deref(), Some("importer/importer/job"));
}

#[tokio::test]
async fn a_plugin_that_may_give_no_owner_is_in_line_like_everybody_else() {
    let (_, leases) = memory();
    let scope = scope(&leases, "importer", granting("*").owner_bytes_max(0));
    let request = scope.lease("a").unwrap();
    let error = request.clone().owner("me").acquire().await.unwrap_err();
    assert_eq!(error.to_string(), "acquire lease a: invalid owner: none is allowed");
    let _held = request.acquire().await.unwrap();
    assert!(request.try_acquire().await.unwrap().is_none());
}

/// Who logs a plugin's lease, or its scope, logs nothing of others.
#[tokio::test]
async fn what_is_shown_of_a_plugin_is_its_own() {
    let (_, leases) = memory();
    let _secret = leases.lease("secret").unwrap().owner("someone").acquire().await.unwrap();
    let scope = scope(&leases, "importer", granting("*"));
    let held = take(&scope, "mine").await.unwrap();
    let request = scope.lease("mine").unwrap();
    for shown in [format!("{held:?}"), format!("{request:?}"), format!("{scope:?}")] {
        assert!(!shown.contains("secret") && !shown.contains("someone"), "{shown}");
        assert!(shown.contains("importer") && shown.len() < 5000, "{shown}");
    }
}
