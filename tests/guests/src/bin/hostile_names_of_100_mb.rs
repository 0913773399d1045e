//! Hands over 100 MB where a text of some bytes belongs: `name`, `owner`, `note`, `target`.

use leases_test_guests::expect::{argument, say, take};
use leases_test_guests::wild::{Answer, Text, Wild, current_of};

fn main() {
    let _held = take("own/held");
    let huge = Text::zeros(100_000_000);
    let mut answer = Answer::default();
    let good = Wild::answered_at("own/other", answer.at());
    say("held");
    match argument(1).as_str() {
        "name" => Wild { name: huge, ..good }.ask(),
        "owner" => Wild { owner: Some(huge), ..good }.ask(),
        "note" => Wild { note: Some(huge), ..good }.ask(),
        "target" => current_of(huge, answer.at()),
        other => panic!("{other}"),
    }
    say("answered");
}
