//! Has the answer of a refresh put where it has no memory.

use leases_test_guests::expect::{say, take};
use leases_test_guests::wild::refresh_answered_at;

fn main() {
    let held = take("own/held");
    held.refresh(None).expect("it is held");
    say("holds");
    refresh_answered_at(held.handle(), usize::MAX - 63);
    say("answered");
}
