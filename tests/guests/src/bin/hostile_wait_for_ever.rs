//! Waits in line without end, again and again.

use leases_test_guests::expect::{say, take, terms, told};
use leases_test_guests::raw::{Error, lease};

fn main() {
    let _held = take("own/held");
    loop {
        say("waits");
        told("a wait", lease::acquire("shared", &terms(), None), &Error::NotAcquired);
    }
}
