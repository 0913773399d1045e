//! The greatest number of its type wherever there is a number.

use leases_test_guests::expect::{SECOND, say, take, take_place, terms, told, told_invalid};
use leases_test_guests::raw::{Error, Terms, fence, lease, semaphore};

fn main() {
    for ttl in [0, 1, 60 * SECOND + 1, 1 << 53, u64::MAX - 1, u64::MAX] {
        let asked = Terms { ttl, ..terms() };
        told_invalid(ttl, lease::acquire("own/a", &asked, Some(0)), "ttl");
        told_invalid(ttl, semaphore::acquire("own/a", 2, &asked, Some(u64::MAX)), "ttl");
        told_invalid(ttl, take("own/a").refresh(Some(ttl)), "ttl");
        told_invalid(ttl, take_place("own/a").refresh(Some(ttl)), "ttl");
    }
    for max_hold in [0, 1, 60 * SECOND + 1, u64::MAX] {
        let asked = Terms { max_hold: Some(max_hold), ..terms() };
        told_invalid(max_hold, lease::acquire("own/a", &asked, Some(0)), "max-hold");
    }
    for limit in [0, 17, 1001, 1 << 31, u32::MAX] {
        told_invalid(limit, semaphore::acquire("own/a", limit, &terms(), Some(0)), "limit");
    }
    for number in [0, 1 << 53, u64::MAX] {
        told_invalid(number, fence::admit("own/a", number), "fence");
        told_invalid(number, fence::admit_slot("own/a", 0, number), "fence");
    }
    for slot in [1000, 1 << 31, u32::MAX] {
        told_invalid(slot, fence::admit_slot("own/a", slot, 1), "slot");
        told_invalid(slot, fence::current_slot("own/a", slot), "slot");
    }
    // The greatest wait is as long as the host allows.
    let waited = lease::acquire("shared", &terms(), Some(u64::MAX));
    told("a wait", waited, &Error::NotAcquired);
    let waited = lease::acquire("shared", &terms(), None);
    told("a wait without end", waited, &Error::NotAcquired);
    say("refused");
}
