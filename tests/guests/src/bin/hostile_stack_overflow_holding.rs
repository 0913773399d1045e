//! Calls itself for ever while it holds as much as it may.

use leases_test_guests::expect::{fill, say};

fn main() {
    let _held = fill(8);
    say("holds");
    println!("{}", deeper(1));
}

#[expect(unconditional_recursion, reason = "that is what it does")]
fn deeper(depth: u64) -> u64 {
    let below = std::hint::black_box([depth; 64]);
    deeper(std::hint::black_box(depth + 1)) + below[usize::try_from(depth % 64).unwrap_or(0)]
}
