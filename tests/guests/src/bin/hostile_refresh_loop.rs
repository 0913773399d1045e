//! Refreshes for ever, in every way that there is.

use leases_test_guests::expect::{SECOND, say, take, take_place};
use leases_test_guests::raw::{Error, Quota};

fn main() {
    let (lease, permit) = (take("own/a"), take_place("own/a"));
    let mut refused = 0_u64;
    for number in 0_u64.. {
        let ttl = SECOND + number % SECOND;
        for answer in [lease.refresh(Some(ttl)), permit.refresh(Some(ttl))] {
            match answer {
                Ok(remaining) => assert!(remaining <= ttl, "no more than was asked for"),
                Err(Error::OverQuota(Quota::Rate)) => refused += 1,
                Err(error) => panic!("{number}: {error:?}"),
            }
        }
        if refused > 1000 {
            say("refused");
            refused = 0;
        }
    }
}
