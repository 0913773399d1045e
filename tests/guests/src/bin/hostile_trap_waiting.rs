//! Waits in line, and has its answer put where it has no memory: it traps when it is answered.

use leases_test_guests::expect::{SECOND, say, take};
use leases_test_guests::wild::Wild;

fn main() {
    let _held = take("own/held");
    say("waits");
    Wild::answered_at("shared", usize::MAX - 63).wait(60 * SECOND);
    say("answered");
}
