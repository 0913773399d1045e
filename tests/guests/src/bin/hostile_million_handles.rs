//! Opens a million handles.

use leases_test_guests::expect::{ask, say};

fn main() {
    for number in 0..1_000_000 {
        match ask(&format!("own/{number}")) {
            Ok(lease) => std::mem::forget(lease),
            Err(error) => panic!("{number}: {error:?}"),
        }
        if number == 9000 {
            say("9000 are open");
        }
    }
}
