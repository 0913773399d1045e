//! Acquires for ever, a new name each time, and never lets go of anything.

use leases_test_guests::expect::{ask, fill, say, told};
use leases_test_guests::raw::{Error, Quota};

fn main() {
    for lease in fill(8) {
        std::mem::forget(lease);
    }
    for number in 0_u64.. {
        told(number, ask(&format!("own/more-{number}")), &Error::OverQuota(Quota::Held));
        if number == 1000 {
            say("refused");
        }
    }
}
