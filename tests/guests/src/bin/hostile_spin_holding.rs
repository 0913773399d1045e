//! Computes for ever while it holds as much as it may, some of it kept alive by the host.

use leases_test_guests::expect::{SECOND, fill, say, spin, terms};
use leases_test_guests::raw::{Terms, lease};

fn main() {
    let mut held = fill(8);
    drop(held.split_off(7));
    let kept = Terms { ttl: SECOND, keep_alive: true, ..terms() };
    // What was dropped counts until it is given back.
    while lease::acquire("own/kept", &kept, Some(0)).map(std::mem::forget).is_err() {}
    say("holds");
    spin()
}
