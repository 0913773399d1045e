//! Ends itself while it holds as much as it may, with the status that it is told.

use leases_test_guests::expect::{argument, fill, say};

fn main() {
    let _held = fill(8);
    say("holds");
    std::process::exit(argument(1).parse().expect("a status"))
}
