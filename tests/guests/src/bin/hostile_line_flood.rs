//! One of many that want to wait in one line, each for ever.

use leases_test_guests::expect::{say, terms};
use leases_test_guests::raw::{Error, Quota, lease};

fn main() {
    for number in 0_u64.. {
        // The same line as the victim's.
        let said = match lease::acquire("shared", &terms(), None) {
            Err(Error::NotAcquired) => "waited",
            Err(Error::OverQuota(Quota::Waiting)) => "refused",
            other => panic!("{other:?}"),
        };
        if number == 0 {
            say(said);
            say("goes on");
        }
    }
}
