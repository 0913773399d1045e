//! Asks for more memory for ever while it holds, and is refused for ever.

use leases_test_guests::expect::{fill, say};

fn main() {
    let _held = fill(8);
    while core::arch::wasm32::memory_grow(0, 16) != usize::MAX {}
    say("holds, and has all the memory there is");
    loop {
        assert_eq!(core::arch::wasm32::memory_grow(0, 1 << 10), usize::MAX, "there is no more");
    }
}
