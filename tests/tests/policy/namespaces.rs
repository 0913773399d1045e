//! Prefixes: a namespace of a plugin's own, and names that two plugins share.

use leases::spec::KeyView;
use leases::{Key, Kind, Name, Policy, Prefix};
use leases_tests::{Failure, Verdict, lease, semaphore};

use super::{Host, grant};

fn within(pattern: &str, prefix: &str) -> leases::Grant {
    grant(pattern).prefix(Prefix::new(prefix).expect("a prefix"))
}

async fn view(host: &Host, kind: Kind, name: &str) -> KeyView {
    let key = Key { kind, name: Name::new(name).unwrap() };
    host.leases.inspect(&key).await.unwrap()
}

#[tokio::test]
async fn a_plugin_sees_its_own_names_and_the_backend_those_of_its_namespace() {
    let host = Host::new();
    let policy = Policy::builder().grant(within("jobs/*", "importer/"));
    let (scope, guest) = host.plugin("importer", policy).await;
    for (kind, ask) in [(Kind::Lease, lease("jobs/1")), (Kind::Semaphore, semaphore("jobs/1", 2))] {
        let held = guest.take(ask).await;
        assert_eq!(held.look().await.name, "jobs/1");
        assert_eq!(view(&host, kind, "importer/jobs/1").await.holders.len(), 1);
        assert_eq!(view(&host, kind, "jobs/1").await, KeyView::default());
    }
    assert_eq!(scope.view().holds[0].key.name.as_str(), "importer/jobs/1");
    for slot in [None, Some(1)] {
        assert_eq!(guest.admit("jobs/1", slot, 7).await, Ok(Verdict::Admitted));
        assert_eq!(guest.current("jobs/1", slot).await, Ok(Some(7)));
    }
    assert_eq!(host.leases.guard("jobs/1").unwrap().current().await.unwrap(), None);
    let there = host.leases.guard("importer/jobs/1").unwrap();
    assert!(there.current().await.unwrap().is_some());
    for outside in ["importer/jobs/1", "/jobs/1", "../jobs/1", "job"] {
        assert_eq!(guest.refused(lease(outside)).await, Failure::Denied, "{outside}");
    }
}

#[tokio::test]
async fn plugins_in_namespaces_of_their_own_never_meet() {
    let host = Host::new();
    let (_, a) = host.plugin("a", Policy::builder().grant(within("*", "a/"))).await;
    let (_, b) = host.plugin("b", Policy::builder().grant(within("*", "b/"))).await;
    let names = ["x", "/x", "../b/x", "b/x", "a/x", "a/a/x", "..", "é", "*", " ", "//", "b"];
    for name in names {
        let of_a = a.take(lease(name)).await;
        let of_b = b.take(lease(name)).await;
        assert_eq!((of_a.look().await.name, of_b.look().await.name), (name.into(), name.into()));
        assert_eq!(a.admit(name, None, 9).await, Ok(Verdict::Admitted));
        assert_eq!(b.current(name, None).await, Ok(None), "{name}");
        let kept = format!("a/{name}");
        assert_eq!(view(&host, Kind::Lease, &kept).await.holders.len(), 1);
    }
    for bad in ["a\0b", "", "\u{7f}"] {
        assert!(matches!(a.refused(lease(bad)).await, Failure::Invalid(_)), "{bad:?}");
    }
}

#[tokio::test]
async fn plugins_that_share_a_name_exclude_each_other_whatever_owners_they_say() {
    let host = Host::new();
    let shared = || Policy::builder().grant(within("*", "shared/"));
    let (_, a) = host.plugin("a", shared()).await;
    let (_, b) = host.plugin("b", Policy::builder().grant(grant("shared/*"))).await;
    for (of_a, of_b) in [("job", "job"), ("job", "a/job"), ("b/job", "job"), ("/job", "a//job")] {
        let held = a.take(lease("x").owner(of_a)).await;
        let refused = b.refused(lease("shared/x").owner(of_b)).await;
        assert_eq!(refused, Failure::NotAcquired, "{of_a} {of_b}");
        assert_eq!(held.look().await.owner.as_deref(), Some(of_a));
        assert_eq!(held.look().await.lost, None);
        assert!(held.release().await.unwrap());
        let held = b.take(lease("shared/x").owner(of_b)).await;
        assert_eq!(a.refused(lease("x").owner(of_a)).await, Failure::NotAcquired);
        assert!(held.release().await.unwrap());
    }
}
