//! `leases list`, `leases show` and `leases revoke`, over every backend that processes share.

use std::time::{Duration, Instant};

use leases::{Leases, Loss, Origin, Permit};
use leases_tests::live::semaphore_key;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::kept::Kept;
use crate::{Ran, leases};

const NAME: &str = "uploads *\u{202e}";
const SECOND: Duration = Duration::from_secs(1);

fn run(kept: &Kept, args: &[&str]) -> Ran {
    Ran::to_its_end(leases().args(["--backend", &kept.url()]).args(args))
}

fn printed(kept: &Kept, args: &[&str]) -> Value {
    let ran = run(kept, args);
    assert_eq!((ran.status, &*ran.err), (0, ""));
    serde_json::from_str(&ran.out).expect("one document")
}

/// Three who hold a semaphore of three, and four who wait for it.
struct InUse {
    leases: Leases,
    permits: Vec<Permit>,
    waiting: Vec<JoinHandle<()>>,
}

impl InUse {
    async fn of(kept: &Kept) -> Self {
        let builder = Leases::builder_at(kept.url()).await.expect("it is there");
        let leases = builder.origin(Origin::here()).build();
        let key = semaphore_key(NAME);
        let places = leases.semaphore(NAME, 3).unwrap().ttl(600 * SECOND);
        let (mut permits, mut waiting) = (Vec::new(), Vec::new());
        for number in 0..3 {
            let ask = places.clone().owner(format!("holder-{number}")).note("busy");
            permits.push(ask.acquire().await.unwrap());
        }
        for number in 0..4 {
            let ask = places.clone().owner(format!("waiter-{number}")).wait(600 * SECOND);
            waiting.push(tokio::spawn(async move { drop(ask.acquire().await) }));
            while leases.inspect(&key).await.unwrap().waiters.len() <= number {
                tokio::task::yield_now().await;
            }
        }
        InUse { leases, permits, waiting }
    }

    async fn end(self) {
        for waiting in &self.waiting {
            waiting.abort();
        }
        self.leases.close(10 * SECOND).await.expect("all is given back");
        drop(self.permits);
    }
}

/// A document without its lengths of time, each of which has to be within bounds.
fn timeless(mut document: Value, longest: Duration) -> Value {
    fn without(value: &mut Value, longest_ms: u64) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    if name.ends_with("_ms") {
                        let ms = field.as_u64().expect("a whole number");
                        assert!(ms <= longest_ms, "{name} {ms}");
                        *field = json!("a while");
                    } else {
                        without(field, longest_ms);
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|one| without(one, longest_ms)),
            _ => {}
        }
    }
    without(&mut document, u64::try_from(longest.as_millis()).unwrap());
    document
}

/// The columns of a table, with what differs from run to run in words: `fence 0`, `a while`.
fn worded(table: &str, fences: &[u64]) -> String {
    let here = Origin::here();
    let process = format!("{}:{}", here.host(), here.process());
    let mut heads: Vec<&str> = Vec::new();
    let mut lines = String::new();
    for line in table.lines() {
        let cells: Vec<&str> =
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        if matches!(cells.first(), Some(&"NAME" | &"SLOT" | &"PLACE")) {
            heads = cells.clone();
        }
        let word = |(place, cell): (usize, &&str)| {
            let fence = fences.iter().position(|fence| fence.to_string() == **cell);
            match (heads.get(place).copied(), fence) {
                (Some("FENCE"), Some(number)) => format!("fence {number}"),
                (Some("SINCE"), _) if cell.ends_with(" ago") => "a while ago".to_owned(),
                (Some("ENDS IN"), _) if !["-", "ENDS IN"].contains(cell) => "a while".to_owned(),
                (Some("PROCESS"), _) if **cell == process => "here".to_owned(),
                _ => (**cell).to_owned(),
            }
        };
        let words: Vec<String> = cells.iter().enumerate().map(word).collect();
        lines += &(words.join("\t") + "\n");
    }
    lines
}

async fn is_listed_in_order(kept: Kept) {
    let in_use = InUse::of(&kept).await;
    let fences: Vec<u64> =
        in_use.permits.iter().map(|permit| permit.fence().fence.as_u64()).collect();
    assert!(fences.is_sorted_by(|one, next| one < next));
    let here = Origin::here();
    let holder = |slot: usize| {
        json!({
            "slot": slot, "fence": fences[slot], "owner": format!("holder-{slot}"),
            "note": "busy", "host": here.host(), "process": here.process(),
            "held_for_ms": "a while", "ends_in_ms": "a while",
        })
    };
    let waiter = |place: usize| {
        json!({
            "position": place + 1, "limit": 3, "owner": format!("waiter-{place}"),
            "note": null, "host": here.host(), "process": here.process(),
            "waited_for_ms": "a while",
        })
    };
    let keys = json!([{
        "kind": "semaphore", "name": NAME,
        "holders": (0..3).map(holder).collect::<Vec<_>>(),
        "waiters": (0..4).map(waiter).collect::<Vec<_>>(),
    }]);
    let longest = 600 * SECOND;
    for args in [&["list", "--json"][..], &["list", "uploads*", "--json"]] {
        assert_eq!(timeless(printed(&kept, args), longest), json!({ "keys": keys }));
    }
    assert_eq!(printed(&kept, &["list", "other*", "--json"]), json!({ "keys": [] }));
    let shown = timeless(printed(&kept, &["show", NAME, "--json"]), longest);
    assert_eq!(shown, json!({ "name": NAME, "keys": keys }));

    let listed = run(&kept, &["list"]);
    assert_eq!((listed.status, &*listed.err), (0, ""));
    assert_eq!(worded(&listed.out, &fences), include_str!("golden/list.txt"));
    let shown = run(&kept, &["show", NAME]);
    assert_eq!((shown.status, &*shown.err), (0, ""));
    assert_eq!(worded(&shown.out, &fences), include_str!("golden/show.txt"));
    in_use.end().await;

    let listed = run(&kept, &["list"]);
    assert_eq!((listed.status, &*listed.out, &*listed.err), (0, "", ""));
    let shown = run(&kept, &["show", "other"]);
    assert_eq!(shown.out, "nobody holds other, and nobody waits for it\n");
}

/// Each holder learns it: within `within`, kept or not where it is told, else by the refresh that
/// keeps it.
async fn is_revoked(kept: Kept, within: Duration) {
    let leases = kept.connect().await;
    let ttl = 3 * SECOND;
    let lease = leases.lease("a").unwrap().ttl(ttl).keep_alive().acquire().await.unwrap();
    let places = leases.semaphore("a", 3).unwrap().ttl(ttl).keep_alive();
    let mut permits = Vec::new();
    for _ in 0..3 {
        permits.push(places.acquire().await.unwrap());
    }
    let ran = run(&kept, &["revoke", "a", "--slot", "1"]);
    let began = Instant::now();
    assert_eq!((ran.status, &*ran.out), (0, "revoked 1 hold of semaphore a\n"));
    assert_eq!(permits[1].lost().await, Loss::Revoked);
    assert!(began.elapsed() < within, "{:?}", began.elapsed());
    assert_eq!((permits[0].loss(), permits[2].loss(), lease.loss()), (None, None, None));

    run(&kept, &["revoke", "a", "--slot", "1"]).refused(1, "nobody holds a");
    let ran = run(&kept, &["revoke", "a", "--kind", "lease", "--json"]);
    assert_eq!(ran.out, "{\"name\":\"a\",\"revoked\":{\"lease\":1}}\n");
    assert_eq!(lease.lost().await, Loss::Revoked);
    let ran = run(&kept, &["revoke", "a"]);
    assert_eq!((ran.status, &*ran.out), (0, "revoked 2 holds of semaphore a\n"));
    for permit in [&permits[0], &permits[2]] {
        assert_eq!(permit.lost().await, Loss::Revoked);
    }
    let ran = run(&kept, &["revoke", "a", "--json"]);
    assert_eq!((ran.status, &*ran.err), (1, "leases: nobody holds a\n"));
    assert_eq!(ran.out, "{\"name\":\"a\",\"revoked\":{\"lease\":0,\"semaphore\":0}}\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_holders_and_four_waiters_are_listed_in_redis() {
    is_listed_in_order(Kept::in_redis().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_holders_and_four_waiters_are_listed_in_postgres() {
    is_listed_in_order(Kept::in_postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_holders_and_four_waiters_are_listed_in_mariadb() {
    is_listed_in_order(Kept::in_mariadb().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_holders_and_four_waiters_are_listed_in_sqlite() {
    is_listed_in_order(Kept::in_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_revoked_is_told_within_a_second_by_redis() {
    is_revoked(Kept::in_redis().await, SECOND).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_revoked_is_told_within_a_second_by_postgres() {
    is_revoked(Kept::in_postgres().await, SECOND).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_revoked_learns_it_by_its_refresh_in_mariadb() {
    is_revoked(Kept::in_mariadb().await, 2 * SECOND).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_revoked_learns_it_by_its_refresh_in_sqlite() {
    is_revoked(Kept::in_sqlite().await, 2 * SECOND).await;
}

#[tokio::test]
async fn what_can_not_be_looked_at_is_refused() {
    let kept = Kept::in_sqlite().await;
    run(&kept, &["list", "a*b"]).refused(64, "a * only at the end");
    run(&kept, &["show", ""]).refused(64, "1 to 512 bytes");
    run(&kept, &["revoke", "a", "--slot", "x"]).refused(64, "--slot");
    run(&kept, &["revoke", "a", "--kind", "fence"]).refused(64, "--kind");
    let gone = "redis://127.0.0.1:1?timeout=300ms";
    for args in [&["list"][..], &["show", "a"], &["revoke", "a"]] {
        let ran = Ran::to_its_end(leases().args(["--backend", gone]).args(args));
        ran.refused(69, "not reached");
    }
}
