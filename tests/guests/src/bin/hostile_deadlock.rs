//! Holds one name and waits for another, whose holder waits for the first: `HELD AWAITED`.

use leases_test_guests::expect::{argument, say, take, terms, told};
use leases_test_guests::raw::{Error, lease};

fn main() {
    let _held = take(&argument(1));
    told("itself", lease::acquire(&argument(1), &terms(), None), &Error::WouldDeadlock);
    say("holds");
    let other = loop {
        match lease::acquire(&argument(2), &terms(), Some(0)) {
            Err(Error::NotAcquired) => break lease::acquire(&argument(2), &terms(), None),
            // The other one has not begun.
            held => drop(held),
        }
    };
    told("each other", other, &Error::NotAcquired);
    say("gave up");
}
