//! The cases that every backend passes through both doors.

mod bounds;
mod guarding;
mod keeping;
mod leasing;
mod line;
mod listing;
mod owners;
mod patience;
mod refreshing;
mod semaphores;
mod times;

use crate::{Case, World};

/// Every case, by the rule's area.
pub const ALL: &[(&str, &[Case<World>])] = &[
    ("bounds", bounds::CASES),
    ("guarding", guarding::CASES),
    ("keeping", keeping::CASES),
    ("leasing", leasing::CASES),
    ("line", line::CASES),
    ("listing", listing::CASES),
    ("owners", owners::CASES),
    ("patience", patience::CASES),
    ("refreshing", refreshing::CASES),
    ("semaphores", semaphores::CASES),
    ("times", times::CASES),
];

use std::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}
