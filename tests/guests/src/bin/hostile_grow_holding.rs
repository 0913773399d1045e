//! Asks for more memory for ever while it holds, and is refused for ever.

use leases_test_guests::expect::{fill, say};

fn main() {
    let _held = fill(8);
    while leases_test_guests::wild::grow(16) != usize::MAX {}
    say("holds, and has all the memory there is");
    loop {
        assert_eq!(leases_test_guests::wild::grow(1 << 10), usize::MAX, "there is no more");
    }
}
