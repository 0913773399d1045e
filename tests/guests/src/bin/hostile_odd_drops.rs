//! Drops handles in odd orders, one of another among them, and the same again and again.

use leases_test_guests::expect::{say, take, take_place};
use leases_test_guests::raw::{Lease, Permit};

fn main() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
        let mut leases: Vec<Option<Lease>> = Vec::new();
        let mut permits: Vec<Option<Permit>> = Vec::new();
        let names: Vec<String> = (0..4).map(|at| format!("own/{order:?}-{at}")).collect();
        for name in &names {
            leases.push(Some(take(name)));
            permits.push(Some(take_place(name)));
        }
        for at in order {
            let (lease, permit) = (leases[at].take(), permits[3 - at].take());
            assert_eq!(Lease::release(lease.expect("once")), Ok(true));
            assert_eq!(Permit::release(permit.expect("once")), Ok(true));
            // What was freed is taken by another handle, perhaps of the same number.
            drop(take(&format!("own/{order:?}-again-{at}")));
        }
    }
    say("dropped");
}
