//! One table: an operation and a bound; what is within it and at it is let through, what is one
//! past it is refused, and then nothing was asked of the backend.

use std::time::Duration;

use leases::{Policy, PolicyBuilder, Prefix, Primitive, Quota, Rate};
use leases_tests::{Actor, Ask, Failure, Held, lease, semaphore};

use super::{Host, SECOND, grant, granting};

/// What a guest asks for.
#[derive(Clone)]
enum Call {
    Acquire(Ask),
    /// For this long, the lease that it took before.
    Refresh(Duration),
    Admit(&'static str, Option<u32>),
    Current(&'static str, Option<u32>),
}

/// Makes what is asked for of a name.
type Named<T> = fn(&'static str) -> T;

/// One line of the table.
struct Row {
    what: &'static str,
    policy: PolicyBuilder,
    within: Call,
    at: Call,
    past: Call,
    told: Failure,
}

fn row(
    what: &'static str,
    policy: PolicyBuilder,
    [within, at, past]: [Call; 3],
    told: Failure,
) -> Row {
    Row { what, policy, within, at, past, told }
}

fn invalid(bound: &str) -> Failure {
    Failure::Invalid(bound.to_owned())
}

/// A guest, and what it holds that can be refreshed.
struct Caller {
    guest: Actor,
    held: Option<Held>,
}

impl Caller {
    /// Makes a call; answers why it was refused, if it was. What it took is kept.
    async fn call(&mut self, call: Call) -> Result<(), Failure> {
        let Caller { guest, held } = self;
        match call {
            Call::Acquire(ask) => guest.acquire(ask).await.map(drop),
            Call::Refresh(ttl) => {
                let held = held.as_mut().expect("a lease to refresh");
                held.refresh_for(Some(ttl)).await.map(drop)
            }
            Call::Admit(name, slot) => guest.admit(name, slot, 1).await.map(drop),
            Call::Current(name, slot) => guest.current(name, slot).await.map(drop),
        }
    }
}

/// Every operation by name and primitive: one that its grant is for, one at the edge of the
/// pattern, one beside it.
fn names() -> Vec<Row> {
    let mut rows = Vec::new();
    let only = |primitive| Policy::builder().grant(grant("jobs/*").primitives([primitive]));
    let asks: [(&str, Primitive, Named<Call>); 6] = [
        ("lease", Primitive::Lease, |name| Call::Acquire(lease(name))),
        ("semaphore", Primitive::Semaphore, |name| Call::Acquire(semaphore(name, 2))),
        ("admit", Primitive::Fence, |name| Call::Admit(name, None)),
        ("admit-slot", Primitive::Fence, |name| Call::Admit(name, Some(1))),
        ("current", Primitive::Fence, |name| Call::Current(name, None)),
        ("current-slot", Primitive::Fence, |name| Call::Current(name, Some(1))),
    ];
    for (what, primitive, ask) in asks {
        let calls = [ask("jobs/1"), ask("jobs/"), ask("jobs")];
        rows.push(row(what, only(primitive), calls, Failure::Denied));
        for other in Primitive::ALL.into_iter().filter(|other| *other != primitive) {
            let both = only(primitive).grant(grant("other").primitives([other]));
            let calls = [ask("jobs/1"), ask("jobs/"), ask("other")];
            rows.push(row(what, both, calls, Failure::Denied));
        }
    }
    rows
}

/// Every bound on the terms of a hold, of each operation that has it.
fn terms() -> Vec<Row> {
    let asks: [(&str, Named<Ask>); 2] =
        [("lease", |name| lease(name)), ("semaphore", |name| semaphore(name, 2))];
    let mut rows = vec![
        row(
            "limit",
            granting("x").limit_max(4),
            [1, 4, 5].map(|limit| Call::Acquire(semaphore("x", limit))),
            invalid("limit: 1 to 4, not 5"),
        ),
        row(
            "limit of a grant, in place of the plugin's",
            Policy::builder().grant(grant("x").limit_max(4)).limit_max(2),
            [3, 4, 5].map(|limit| Call::Acquire(semaphore("x", limit))),
            invalid("limit: 1 to 4, not 5"),
        ),
        row(
            "ttl of a refresh",
            granting("x").ttl_max(60 * SECOND),
            [SECOND, 60 * SECOND, 61 * SECOND].map(Call::Refresh),
            invalid("ttl: 10ms to 60s, not 61s"),
        ),
    ];
    for (what, ask) in asks {
        rows.extend([
            row(
                what,
                granting("x").ttl_max(5 * SECOND),
                [SECOND, 5 * SECOND, 5 * SECOND + Duration::from_nanos(1)]
                    .map(|ttl| Call::Acquire(ask("x").ttl(ttl))),
                invalid("ttl: 10ms to 5s, not 5.000000001s"),
            ),
            row(
                what,
                granting("x").hold_max(90 * SECOND),
                [60 * SECOND, 90 * SECOND, 91 * SECOND]
                    .map(|max_hold| Call::Acquire(ask("x").max_hold(max_hold))),
                invalid("max-hold: at most 90s, not 91s"),
            ),
            row(
                what,
                granting("x").owner_bytes_max(8),
                ["job", "job-0007", "job-00008"].map(|owner| Call::Acquire(ask("x").owner(owner))),
                invalid("owner: 1 to 8 bytes, not 9"),
            ),
            row(
                what,
                granting("x").note_bytes_max(8),
                ["", "nightly!", "nightly!!"].map(|note| Call::Acquire(ask("x").note(note))),
                invalid("note: 0 to 8 bytes, not 9"),
            ),
        ]);
    }
    rows
}

/// The bytes of a name, less those of what stands before it.
fn bytes() -> Vec<Row> {
    let prefix = || Prefix::new("importer/").expect("a prefix");
    let leaked = |bytes: usize| -> &'static str { "n".repeat(bytes).leak() };
    let asks: [(&str, Named<Call>); 4] = [
        ("lease", |name| Call::Acquire(lease(name))),
        ("semaphore", |name| Call::Acquire(semaphore(name, 2))),
        ("admit", |name| Call::Admit(name, None)),
        ("current", |name| Call::Current(name, None)),
    ];
    let rows = asks.map(|(what, ask)| {
        let policy = Policy::builder().grant(grant("*").prefix(prefix()));
        let calls = [1, 503, 504].map(leaked).map(ask);
        row(what, policy, calls, invalid("name: 1 to 503 bytes, not 504"))
    });
    rows.into()
}

/// How often: a bucket of two, which the first two calls empty.
fn rates() -> Vec<Row> {
    let rate = Rate::per_second(2);
    let over_quota = || Failure::OverQuota(Quota::Rate);
    let thrice = |call: Call| [call.clone(), call.clone(), call];
    vec![
        row("lease", granting("x").acquires(rate), thrice(Call::Acquire(lease("x"))), over_quota()),
        row(
            "semaphore",
            granting("x").acquires(rate),
            thrice(Call::Acquire(semaphore("x", 3))),
            over_quota(),
        ),
        row("refresh", granting("x").calls(rate), thrice(Call::Refresh(10 * SECOND)), over_quota()),
        row("admit", granting("x").calls(rate), thrice(Call::Admit("x", None)), over_quota()),
        row(
            "admit-slot",
            granting("x").calls(rate),
            thrice(Call::Admit("x", Some(1))),
            over_quota(),
        ),
        row("current", granting("x").calls(rate), thrice(Call::Current("x", None)), over_quota()),
        row(
            "current-slot",
            granting("x").calls(rate),
            thrice(Call::Current("x", Some(1))),
            over_quota(),
        ),
    ]
}

/// How many names in a day: two, where the grant has more. What is only looked at leaves nothing.
fn names_per_day() -> Vec<Row> {
    let over_quota = || Failure::OverQuota(Quota::Rate);
    let asks: [(&str, Named<Call>); 4] = [
        ("lease", |name| Call::Acquire(lease(name))),
        ("semaphore", |name| Call::Acquire(semaphore(name, 2))),
        ("admit", |name| Call::Admit(name, None)),
        ("admit-slot", |name| Call::Admit(name, Some(1))),
    ];
    let mut rows = Vec::from(asks.map(|(what, ask)| {
        row(what, granting("*").names_per_day(2), ["a", "b", "c"].map(ask), over_quota())
    }));
    let calls = [Call::Admit("a", Some(1)), Call::Admit("a", Some(2)), Call::Admit("a", Some(3))];
    rows.push(row("slots", granting("*").names_per_day(2), calls, over_quota()));
    rows
}

/// How much is held at once: two.
fn held() -> Vec<Row> {
    let over_quota = || Failure::OverQuota(Quota::Held);
    let asks: [(&str, Named<Ask>); 2] =
        [("lease", |name| lease(name)), ("semaphore", |name| semaphore(name, 2))];
    let rows = asks.map(|(what, ask)| {
        let calls = ["a", "b", "c"].map(ask).map(Call::Acquire);
        row(what, granting("*").held(2), calls, over_quota())
    });
    rows.into()
}

#[tokio::test]
async fn what_is_within_a_bound_is_let_through_and_what_is_past_it_asks_nothing() {
    let tables = [names(), terms(), bytes(), rates(), names_per_day(), held()];
    for Row { what, policy, within, at, past, told } in tables.into_iter().flatten() {
        let host = Host::new();
        let (scope, guest) = host.plugin("importer", policy).await;
        let mut caller = Caller { guest, held: None };
        if matches!(past, Call::Refresh(_)) {
            caller.held = Some(caller.guest.take(lease("x")).await);
        }
        for let_through in [within, at] {
            let before = host.counted.began();
            let answer = caller.call(let_through).await;
            assert!(matches!(answer, Ok(()) | Err(Failure::NotAcquired)), "{what}: {answer:?}");
            assert!(host.counted.began() > before, "{what}: nothing was asked");
        }
        let (counts, before) = (scope.counts(), host.counted.began());
        assert_eq!(caller.call(past).await, Err(told), "{what}");
        assert_eq!(host.counted.began(), before, "{what}: the backend was asked");
        assert_eq!(scope.counts(), counts, "{what}: what is refused counts for nothing");
        drop(caller);
        host.until_gone(&scope).await;
    }
}
