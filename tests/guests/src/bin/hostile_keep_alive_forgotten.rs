//! Has the host keep the shortest of holds alive, forgets their handles, and computes for ever.

use leases_test_guests::expect::{SECOND, say, spin, terms};
use leases_test_guests::raw::{Terms, lease};

fn main() {
    let kept = Terms { ttl: SECOND / 100, keep_alive: true, ..terms() };
    for number in 0..8 {
        let held = lease::acquire(&format!("own/{number}"), &kept, Some(0));
        std::mem::forget(held.expect("it is free"));
    }
    say("holds");
    spin()
}
