//! Comes to its end and never lets go of what it holds.

use leases_test_guests::expect::{fill, say};

fn main() {
    fill(8).into_iter().for_each(std::mem::forget);
    say("holds");
}
