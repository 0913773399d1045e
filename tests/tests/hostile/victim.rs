//! Another plugin, which does its work beside a hostile one.

use std::time::{Duration, Instant};

use leases::spec::KeyView;
use leases::{
    Fence, Grant, Key, Kind, Lease, Leases, Name, NamePattern, PluginId, Policy, Prefix, Scope,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The longest that it may go without a turn. It asks for one every 20 ms; on a machine that others
/// use too it does not always get it.
const STARVED_AFTER: Duration = Duration::from_secs(1);
/// How long it holds unless it refreshes: what starves it costs it its hold.
const TTL: Duration = Duration::from_secs(2);
/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(600);

/// A plugin that refreshes one hold all the time, holds the shared name, and waits for that twice.
pub(crate) struct Victim {
    scope: Scope,
    stop: oneshot::Sender<()>,
    working: JoinHandle<Lease>,
    job: Fence,
    shared: Lease,
    first: JoinHandle<Lease>,
    second: JoinHandle<Lease>,
}

/// The name that both plugins may use.
pub(crate) fn shared() -> Key {
    Key { kind: Kind::Lease, name: Name::new("shared").expect("a name") }
}

/// Where the victim's job is kept.
fn job() -> Key {
    Key { kind: Kind::Lease, name: Name::new("victim/job").expect("a name") }
}

/// Whether a name is one that the victim uses.
pub(crate) fn is_used(name: &str) -> bool {
    ["victim/job", "victim/later", "shared"].contains(&name)
}

impl Victim {
    pub(crate) async fn begin(leases: &Leases) -> Self {
        let pattern = |pattern| NamePattern::new(pattern).expect("a pattern");
        let prefix = Prefix::new("victim/").expect("a prefix");
        let policy = Policy::builder().wait_max(LONG).grant(Grant::new(pattern("shared")));
        let policy = ["job", "later"]
            .into_iter()
            .fold(policy, |policy, name| {
                policy.grant(Grant::new(pattern(name)).prefix(prefix.clone()))
            })
            .build();
        let plugin = PluginId::new("victim").expect("an identity");
        let scope = Scope::new(leases.clone(), plugin, policy.expect("a policy"));
        let working = take(&scope, "job", Some("job")).await;
        let job = working.fence();
        let shared_ = take(&scope, "shared", Some("job")).await;
        let mut in_line = Vec::new();
        for place in 1..=2 {
            let scope = scope.clone();
            in_line.push(tokio::spawn(async move { take(&scope, "shared", None).await }));
            while leases.inspect(&shared()).await.expect("it answers").waiters.len() < place {
                tokio::task::yield_now().await;
            }
        }
        let (second, first) = (in_line.pop().expect("two"), in_line.pop().expect("two"));
        let (stop, stopped) = oneshot::channel();
        let working = tokio::spawn(work(working, stopped));
        Victim { scope, stop, working, job, shared: shared_, first, second }
    }

    /// Whether it holds what it held, and waits where it waited, alone.
    pub(crate) async fn is_alone(&self, leases: &Leases) -> bool {
        assert!(!self.working.is_finished(), "it works on");
        let at_job = leases.inspect(&job()).await.expect("it answers");
        assert_eq!(fences(&at_job), [self.job], "its job is its own");
        let at_shared = leases.inspect(&shared()).await.expect("it answers");
        assert_eq!(fences(&at_shared), [self.shared.fence()], "it holds the shared name");
        assert!(!self.first.is_finished() && !self.second.is_finished(), "nobody overtook it");
        at_shared.waiters.len() == 2
    }

    /// Lets go of everything in turn: what waits is admitted in order, and what is free can be had.
    pub(crate) async fn end(mut self) {
        assert!(self.shared.release().await.expect("confirmed"), "it was held all the time");
        let first = self.first.await.expect("the first in line is admitted");
        assert!(!self.second.is_finished(), "in order");
        drop(first);
        drop(self.second.await.expect("the second in line is admitted"));
        self.stop.send(()).expect("it works on");
        let mut working = self.working.await.expect("it was never refused, lost or starved");
        assert_eq!(working.fence(), self.job);
        assert!(working.release().await.expect("confirmed"), "it was held all the time");
        let mut later = take(&self.scope, "later", None).await;
        assert!(later.release().await.expect("confirmed"));
    }
}

async fn take(scope: &Scope, name: &str, owner: Option<&str>) -> Lease {
    // What is not refreshed lasts longer than any test.
    let ttl = if name == "job" { TTL } else { LONG };
    let request = scope.lease(name).expect("it is granted").ttl(ttl).wait(LONG);
    let request = owner.iter().fold(request, |request, owner| request.owner(*owner));
    request.acquire().await.expect("it is free at last")
}

/// Refreshes until it is stopped.
async fn work(mut held: Lease, mut stopped: oneshot::Receiver<()>) -> Lease {
    let mut last = Instant::now();
    loop {
        tokio::select! {
            _ = &mut stopped => return held,
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
        held.refresh().await.expect("it is held");
        let since = last.elapsed();
        assert!(since < STARVED_AFTER, "it had no turn for {since:?}");
        last = Instant::now();
    }
}

fn fences(view: &KeyView) -> Vec<Fence> {
    view.holders.iter().map(|holder| holder.fence).collect()
}
