//! Asks guards for ever, and writes to a new target each time.

use leases_test_guests::expect::{say, take};
use leases_test_guests::raw::{Error, Quota, fence};

fn main() {
    let _held = take("own/held");
    let mut refused = 0_u64;
    for number in 1_u64.. {
        let target = format!("own/{number}-{}", "x".repeat(400));
        let slot = u32::try_from(number % 1000).unwrap_or(0);
        for over_quota in [
            is_over_quota(fence::admit(&target, number)),
            is_over_quota(fence::admit_slot(&target, slot, number)),
            is_over_quota(fence::current(&target)),
            is_over_quota(fence::current_slot(&target, slot)),
        ] {
            refused += u64::from(over_quota);
        }
        if refused > 1000 {
            say("refused");
            refused = 0;
        }
    }
}

fn is_over_quota<T>(answer: Result<T, Error>) -> bool {
    match answer {
        Ok(_) => false,
        Err(Error::OverQuota(Quota::Rate)) => true,
        Err(error) => panic!("{error:?}"),
    }
}
