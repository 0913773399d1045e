//! Takes all the memory that there is while it holds as much as it may.

use leases_test_guests::expect::{fill, say};

fn main() {
    let _held = fill(8);
    say("holds");
    let mut taken = Vec::new();
    loop {
        taken.push(vec![1_u8; 1 << 20]);
    }
}
