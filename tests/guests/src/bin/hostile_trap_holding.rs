//! Traps while it holds as much as it may.

use leases_test_guests::expect::{fill, say};

fn main() {
    let _held = fill(8);
    say("holds");
    std::process::abort()
}
