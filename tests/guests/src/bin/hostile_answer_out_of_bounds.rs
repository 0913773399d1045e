//! Has the grant itself put where it has no memory, or where no answer may be: `ADDRESS`.

use leases_test_guests::expect::{argument, say, take};
use leases_test_guests::wild::Wild;

fn main() {
    let _held = take("own/held");
    let answer = argument(1).parse().expect("an address");
    say("holds");
    Wild::answered_at("own/lost", answer).ask();
    say("answered");
}
