//! Panics while it holds as much as it may, with a text of its own on standard error.

use leases_test_guests::expect::{fill, say};

fn main() {
    let _held = fill(8);
    say("holds");
    std::panic::set_hook(Box::new(|_| {}));
    panic!("as it was told to")
}
