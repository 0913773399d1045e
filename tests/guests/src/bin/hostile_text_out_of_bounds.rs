//! Texts that are not in its memory, reach beyond its end, or are no UTF-8: `name WHICH`,
//! `owner WHICH`, `note WHICH`.

use leases_test_guests::expect::{argument, say, take};
use leases_test_guests::wild::{Answer, Text, Wild};

fn main() {
    let _held = take("own/held");
    let text = match argument(2).as_str() {
        "beyond" => Text { at: usize::MAX - 15, bytes: 8 },
        "across" => Text { at: (leases_test_guests::wild::pages() << 16) - 4, bytes: 8 },
        "around" => Text { at: usize::MAX - 3, bytes: 8 },
        "longest" => Text { at: 8, bytes: (1 << 31) - 1 },
        "negative" => Text { at: 8, bytes: usize::MAX },
        "cut" => Text::at(b"own/\xf0\x9f\x92"),
        "overlong" => Text::at(b"own/\xc0\xafvictim"),
        "surrogate" => Text::at(b"own/\xed\xa0\x80"),
        other => panic!("{other}"),
    };
    let mut answer = Answer::default();
    let good = Wild::answered_at("own/other", answer.at());
    say("holds");
    match argument(1).as_str() {
        "name" => Wild { name: text, ..good }.ask(),
        "owner" => Wild { owner: Some(text), ..good }.ask(),
        "note" => Wild { note: Some(text), ..good }.ask(),
        other => panic!("{other}"),
    }
    say("answered");
}
