//! Uses a permit as a lease and a lease as a permit: `permit-release`, `permit-drop`,
//! `permit-look`, `lease-release`, `lease-drop`, `lease-look`.

use leases_test_guests::expect::{argument, say, take, take_place};
use leases_test_guests::raw::{Lease, Permit};
use leases_test_guests::wild::{drop_lease, drop_permit, forged_lease, forged_permit};

fn main() {
    let (lease, permit) = (take("own/held"), take_place("own/held"));
    say("holds");
    match argument(1).as_str() {
        "permit-release" => drop(Lease::release(forged_lease(permit.take_handle()))),
        "permit-drop" => drop_lease(permit.take_handle()),
        "permit-look" => drop(forged_lease(permit.take_handle()).owner()),
        "lease-release" => drop(Permit::release(forged_permit(lease.take_handle()))),
        "lease-drop" => drop_permit(lease.take_handle()),
        "lease-look" => drop(forged_permit(lease.take_handle()).owner()),
        other => panic!("{other}"),
    }
    say("taken for real");
}
