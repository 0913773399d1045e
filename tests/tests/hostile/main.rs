//! Guests that mean harm, and what their host and everybody else sees of it: nothing.
//!
//! Each guest of `tests/guests/src/bin/hostile_*.rs` has one behaviour, and here a test of its name;
//! without one this does not compile. Each runs over every kind of backend, beside a victim that
//! holds, refreshes and waits meanwhile, in a sandbox as a careful host makes it. When it has ended,
//! and its store is gone, nothing of it is left anywhere: see [`stage`]. Case P4: none makes its
//! host's memory grow.

mod counts;
mod dying;
mod handles;
mod heap;
mod host;
mod loops;
mod mischief;
mod names;
mod recording;
mod seen;
mod stage;
mod victim;

include!(concat!(env!("OUT_DIR"), "/hostile.rs"));

macro_rules! assert_test_exists {
    ($name:ident) => {
        #[expect(unused_imports, reason = "a guest without a test does not compile")]
        use self::all::$name as _;
    };
}

/// The tests, by the names of their guests.
mod all {
    pub(crate) use crate::{dying::*, handles::*, loops::*, mischief::*, names::*};
}

foreach_hostile!(assert_test_exists);
