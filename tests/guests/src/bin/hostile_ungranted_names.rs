//! Asks for names of others, and for names that only look like granted ones.

use leases_test_guests::expect::{ask, ask_place, say, told};
use leases_test_guests::raw::{Error, fence};

fn main() {
    for name in [
        "victim/job",
        "../victim/job",
        "mallory/own/a",
        "own",
        "Own/a",
        " own/a",
        "/own/a",
        "\u{ff4f}wn/a",
        "\u{43e}wn/a",
        "shared ",
        "shared/",
        "shared:a",
        "Shared",
        "share",
        "*",
    ] {
        told(name, ask(name), &Error::Denied);
        told(name, ask_place(name), &Error::Denied);
        told(name, fence::current(name), &Error::Denied);
        told(name, fence::admit(name, u64::MAX), &Error::Denied);
    }
    // Granted for holding, and not for writing.
    told("shared", fence::current("shared"), &Error::Denied);
    told("shared", fence::admit("shared", (1 << 53) - 1), &Error::Denied);
    say("denied");
}
