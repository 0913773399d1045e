//! Has the host keep the shortest of holds alive, forgets their handles, and computes for ever.

use leases_test_guests::expect::{SECOND, say, spin, terms, told_invalid};
use leases_test_guests::raw::{Terms, lease};

fn main() {
    let shorter = Terms { ttl: SECOND - 1, keep_alive: true, ..terms() };
    told_invalid("kept for less", lease::acquire("own/0", &shorter, Some(0)), "ttl");
    let kept = Terms { ttl: SECOND, ..shorter };
    for number in 0..8 {
        let held = lease::acquire(&format!("own/{number}"), &kept, Some(0));
        std::mem::forget(held.expect("it is free"));
    }
    say("holds");
    spin()
}
