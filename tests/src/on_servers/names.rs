//! Names that look alike, and names that mean something to a server.

use leases::{Leases, NOTE_BYTES_MAX, OWNER_BYTES_MAX, Verdict};

use crate::{Case, On, listed};

pub(super) const CASES: &[Case<On>] = listed![names_that_look_alike_are_separate_keys];

const NAMES: [&str; 28] = [
    "a",
    "A",
    "a ",
    " a",
    "ａ", // The last is of another width.
    "\u{e9}",
    "e\u{301}",
    "ß",
    "ss", // Composed, decomposed; the same when folded.
    "'",
    "''",
    "\"",
    "\\",
    "\\'",
    "%",
    "_",
    "$1",
    "?",
    ";",
    "a';--",
    "{a}",
    "a{b}c",
    "}{",
    "%7D",
    "}",
    "%257D",
    "{}",
    "\u{1f512}",
];

/// 512 bytes of text of three bytes a letter, but for the last two.
fn long_name() -> String {
    format!("{}aa", "語".repeat(170))
}

/// Short enough for an owner and a note.
fn is_short(name: &str) -> bool {
    name.len() <= OWNER_BYTES_MAX.min(NOTE_BYTES_MAX)
}

async fn names_that_look_alike_are_separate_keys(on: On) {
    let site = on.start().await;
    are_separate(&site.connect().await, async |_| {}).await;
}

/// Each name alone is held as a lease, as a permit, and guarded. While all of them are, `meanwhile`
/// is told how many there are.
pub async fn are_separate(leases: &Leases, meanwhile: impl AsyncFn(usize)) {
    let long = long_name();
    let longs_sibling = format!("{}ab", "語".repeat(170));
    let names: Vec<&str> = NAMES.into_iter().chain([&*long, &*longs_sibling]).collect();
    let (mut held, mut permits) = (Vec::new(), Vec::new());
    for name in &names {
        // An ask that waits in line takes another way than one that tries.
        let lease = leases.lease(name).unwrap().try_acquire().await.unwrap();
        held.push(lease.unwrap_or_else(|| panic!("{name} is free")));
        let place = leases.semaphore(name, 1).unwrap();
        let place = if is_short(name) { place.owner(*name).note(*name) } else { place };
        let permit = place.acquire().await;
        permits.push(permit.unwrap_or_else(|error| panic!("{name} is free: {error}")));
        let fence = held[held.len() - 1].fence();
        let admitted = leases.guard(name).unwrap().admit(fence).await.unwrap();
        assert_eq!(admitted, Verdict::Admitted);
    }
    for (name, lease) in names.iter().zip(&held) {
        assert!(leases.lease(name).unwrap().try_acquire().await.unwrap().is_none(), "{name}");
        let place = leases.semaphore(name, 1).unwrap();
        assert!(place.try_acquire().await.unwrap().is_none(), "{name}");
        assert_eq!(leases.guard(name).unwrap().current().await.unwrap(), Some(lease.fence()));
        assert_eq!(lease.name(), *name);
        let key = crate::live::semaphore_key(name);
        let seen = crate::live::view(leases, &key).await;
        let holder = &seen.holders[0];
        let owner = holder.owner.as_ref().map(|owner| owner.as_str());
        let note = holder.note.as_ref().map(|note| note.as_str());
        let told = is_short(name).then_some(*name);
        assert_eq!((owner, note), (told, told));
    }
    meanwhile(names.len()).await;
    for ((name, mut lease), mut permit) in names.iter().zip(held).zip(permits) {
        assert!(lease.refresh().await.is_ok() && permit.refresh().await.is_ok(), "{name}");
        assert!(lease.release().await.unwrap() && permit.release().await.unwrap(), "{name}");
        let free = leases.lease(name).unwrap().acquire().await.unwrap();
        assert!(free.fence() > lease.fence(), "{name}");
    }
}
