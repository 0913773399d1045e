//! Hands over texts that are too long by one byte and by a million, and texts with control
//! characters: names, owners and notes.

use leases_test_guests::expect::{SECOND, ask, ask_place, say, take, terms, told_invalid};
use leases_test_guests::raw::{Terms, fence, lease};

fn main() {
    // With the prefix `mallory/` a name of 504 bytes is one of 512.
    let longest = format!("own/{}", "x".repeat(500));
    assert_eq!(take(&longest).name(), longest);
    for beyond in [1, 1000, 1_000_000] {
        let name = format!("{longest}{}", "x".repeat(beyond));
        told_invalid(beyond, ask(&name), "name");
        told_invalid(beyond, ask_place(&name), "name");
        told_invalid(beyond, fence::current(&name), "name");
        told_invalid(beyond, fence::admit(&name, 1), "name");
        for (what, owner, note) in [
            ("owner", Some("x".repeat(128 + beyond)), None),
            ("note", None, Some("x".repeat(256 + beyond))),
        ] {
            let terms = Terms { owner, note, ttl: SECOND, ..terms() };
            told_invalid(beyond, lease::acquire("own/a", &terms, Some(0)), what);
        }
    }
    for text in ["\0", "a\0", "line\nbreak", "\u{7f}", "\u{85}", "\u{1b}[2J"] {
        told_invalid(text, ask(&format!("own/{text}")), "name");
        let owned = Terms { owner: Some(text.to_owned()), ..terms() };
        told_invalid(text, lease::acquire("own/a", &owned, Some(0)), "owner");
        let noted = Terms { note: Some(text.to_owned()), ..terms() };
        told_invalid(text, lease::acquire("own/a", &noted, Some(0)), "note");
    }
    let nobody = Terms { owner: Some(String::new()), ..terms() };
    told_invalid("nobody", lease::acquire("own/a", &nobody, Some(0)), "owner");
    told_invalid("", ask(""), "name");
    say("refused");
}
