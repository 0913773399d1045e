//! Uses a handle once more after it is gone: `release-release`, `release-drop`, `drop-drop`,
//! `drop-release`, `drop-refresh`, `drop-look`.

use leases_test_guests::expect::{argument, say, take};
use leases_test_guests::raw::Lease;
use leases_test_guests::wild::{drop_lease, forged_lease};

fn main() {
    let _other = take("own/other");
    let held = take("own/held");
    let number = held.take_handle();
    let way = argument(1);
    let (first, second) = way.split_once('-').expect("two ways");
    go(first, number);
    say("once");
    go(second, number);
    say("twice");
}

fn go(way: &str, number: u32) {
    match way {
        "release" => drop(Lease::release(forged_lease(number))),
        "drop" => drop_lease(number),
        "refresh" => drop(forged_lease(number).refresh(None)),
        "look" => drop(forged_lease(number).name()),
        other => panic!("{other}"),
    }
}
