//! Random lists of operations.

use std::ops::Range;
use std::time::Duration;

use leases::Kind;
use proptest::prelude::*;

/// Few keys, holders and owners, so that they meet.
pub const KEYS: [(Kind, &str); 3] =
    [(Kind::Lease, "a"), (Kind::Semaphore, "a"), (Kind::Semaphore, "b")];

/// One operation, or some time that passes. Keys are places in [`KEYS`], durations are milliseconds.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the words of the backend")]
pub enum Step {
    Ask(Asked),
    Refresh { batch: Vec<Extended> },
    Release { key: usize, holder: u8 },
    Leave { key: usize, holder: u8 },
    Revoke { key: usize, slot: Option<u32> },
    Pass { millis: u64 },
}

/// What is asked for, in line if there is a patience.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the words of the backend")]
pub struct Asked {
    pub key: usize,
    pub holder: u8,
    pub limit: u32,
    pub owner: Option<u8>,
    pub ttl: u64,
    pub max_hold: Option<u64>,
    pub patience: Option<u64>,
}

/// One hold, or one ticket, of a batch of refreshes.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the words of the backend")]
pub struct Extended {
    pub key: usize,
    pub holder: u8,
    pub extend: Extend,
}

/// What is extended, and by how much.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the words of the backend")]
pub enum Extend {
    Hold { ttl: u64 },
    Ticket { patience: u64 },
}

/// What steps are drawn from.
#[derive(Debug, Clone)]
pub struct Mix {
    /// Which of the [`KEYS`].
    pub keys: Range<usize>,
    /// How many holders.
    pub holders: u8,
    /// The greatest limit.
    pub limit_max: u32,
    /// The longest that passes in one step, in milliseconds.
    pub pass_max: u64,
}

/// One step of a mix.
pub fn step(mix: &Mix) -> impl Strategy<Value = Step> + use<> {
    let Mix { keys: key, holders, limit_max, pass_max } = mix.clone();
    let batch = prop::collection::vec(extended(mix), 1..4);
    prop_oneof![
        6 => asked(mix).prop_map(Step::Ask),
        3 => batch.prop_map(|batch| Step::Refresh { batch }),
        3 => (key.clone(), 0..holders).prop_map(|(key, holder)| Step::Release { key, holder }),
        1 => (key.clone(), 0..holders).prop_map(|(key, holder)| Step::Leave { key, holder }),
        1 => (key, prop::option::of(0..limit_max))
            .prop_map(|(key, slot)| Step::Revoke { key, slot }),
        4 => (0..pass_max).prop_map(|millis| Step::Pass { millis }),
    ]
}

fn asked(mix: &Mix) -> impl Strategy<Value = Asked> + use<> {
    let Mix { keys, holders, limit_max, .. } = mix.clone();
    let owner = prop::option::weighted(0.2, 0..3_u8);
    let max_hold = prop::option::weighted(0.2, 10..5000_u64);
    let patience = prop::option::weighted(0.7, prop_oneof![Just(3000), 500..4000_u64]);
    let who = (keys, 0..holders, 1..=limit_max, owner);
    (who, (10..3000_u64, max_hold, patience)).prop_map(
        |((key, holder, limit, owner), (ttl, max_hold, patience))| Asked {
            key,
            holder,
            limit: if KEYS[key].0 == Kind::Lease { 1 } else { limit },
            owner,
            ttl,
            max_hold,
            patience,
        },
    )
}

fn extended(mix: &Mix) -> impl Strategy<Value = Extended> + use<> {
    let extend = prop_oneof![
        (10..3000_u64).prop_map(|ttl| Extend::Hold { ttl }),
        (500..4000_u64).prop_map(|patience| Extend::Ticket { patience }),
    ];
    (mix.keys.clone(), 0..mix.holders, extend).prop_map(|(key, holder, extend)| Extended {
        key,
        holder,
        extend,
    })
}

/// So many milliseconds.
pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
