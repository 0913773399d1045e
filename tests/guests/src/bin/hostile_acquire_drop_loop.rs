//! Acquires and lets go for ever, a new name each time.

use leases_test_guests::expect::{ask, say};
use leases_test_guests::raw::{Error, Quota};

fn main() {
    let mut refused = 0_u64;
    for number in 0_u64.. {
        match ask(&format!("own/{number}")) {
            Ok(lease) => drop(lease),
            // What it dropped may be on its way back, and counts until it is.
            Err(Error::OverQuota(Quota::Held)) => {}
            Err(Error::OverQuota(Quota::Rate)) => refused += 1,
            Err(error) => panic!("{number}: {error:?}"),
        }
        if refused > 1000 {
            say("refused");
            refused = 0;
        }
    }
}
