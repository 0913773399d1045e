//! Uses a number that it was never given as a lease or as a permit: `lease WAY NUMBER`,
//! `permit WAY NUMBER`.

use leases_test_guests::expect::{argument, say, take, take_place};
use leases_test_guests::raw::{Lease, Permit};
use leases_test_guests::wild::{drop_lease, drop_permit, forged_lease, forged_permit};

fn main() {
    let _held = (take("own/held"), take_place("own/held"));
    let number = argument(3).parse().expect("a number");
    say("holds");
    match (argument(1).as_str(), argument(2).as_str()) {
        ("lease", "release") => drop(Lease::release(forged_lease(number))),
        ("lease", "drop") => drop_lease(number),
        ("lease", "refresh") => drop(forged_lease(number).refresh(Some(u64::MAX))),
        ("lease", "look") => drop(forged_lease(number).fence()),
        ("permit", "release") => drop(Permit::release(forged_permit(number))),
        ("permit", "drop") => drop_permit(number),
        ("permit", "refresh") => drop(forged_permit(number).refresh(Some(u64::MAX))),
        ("permit", "look") => drop(forged_permit(number).slot()),
        other => panic!("{other:?}"),
    }
    say("taken for real");
}
