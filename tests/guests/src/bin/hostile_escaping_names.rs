//! Names made to lead out of its namespace, where every name is granted behind a prefix.

use leases_test_guests::expect::{ask, ask_place, say, take, take_place, told_invalid};
use leases_test_guests::raw::fence;

const NAMES: [&str; 22] = [
    "../victim/job",
    "../../victim/job",
    "/victim/job",
    "//",
    ".",
    "..",
    "victim/job",
    "victim/",
    "mallory/mallory/job",
    "mallory/../victim/job",
    "..\\victim\\job",
    "%2e%2e/victim/job",
    "victim\u{2215}job",
    "victim\u{ff0f}job",
    "\u{202e}boj/mitciv",
    "vi\u{200b}ctim/job",
    "\u{feff}victim/job",
    "VICTIM/JOB",
    "shared",
    "shared}{",
    "{victim}",
    "*",
];

fn main() {
    for name in NAMES {
        let held = take(name);
        assert_eq!(held.name(), name, "as it was asked for");
        let place = take_place(name);
        assert_eq!(place.name(), name);
        assert_eq!(fence::current(name), Ok(None), "nobody wrote to it");
        assert!(fence::admit(name, held.fence()).is_ok());
        assert_eq!(fence::current(name), Ok(Some(held.fence())));
    }
    for name in ["", "\0", "victim/job\0", "\0victim/job", "a\n../victim/job", "\u{9b}"] {
        told_invalid(name, ask(name), "name");
        told_invalid(name, ask_place(name), "name");
        told_invalid(name, fence::current(name), "name");
    }
    // Not what the prefix leaves no room for, whatever stands at its end.
    for bytes in [505, 512, 513] {
        let name = format!("{}victim/job", "x".repeat(bytes - "victim/job".len()));
        told_invalid(bytes, ask(&name), "name");
        told_invalid(bytes, fence::admit(&name, 1), "name");
    }
    say("stayed inside");
}
