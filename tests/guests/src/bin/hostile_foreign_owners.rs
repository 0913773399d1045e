//! Gives itself owners that are another plugin's, to take over what that one holds.

use leases_test_guests::expect::{say, take, terms, told};
use leases_test_guests::raw::{Error, Terms, lease};

fn main() {
    let _mine = take("own/mine");
    for owner in [
        "job",
        "victim/job",
        "/victim/job",
        "../victim/job",
        "mallory/../victim/job",
        "/",
        "//",
        "victim",
        "host",
        "victim\u{2215}job",
        " victim/job",
    ] {
        let owned = Terms { owner: Some(owner.to_owned()), ..terms() };
        told(owner, lease::acquire("shared", &owned, Some(0)), &Error::NotAcquired);
        told(owner, lease::acquire("shared", &owned, Some(1)), &Error::NotAcquired);
        let own = lease::acquire("own/a", &owned, Some(0)).expect("its own name is free");
        assert_eq!(own.owner().as_deref(), Some(owner), "as it was given");
        // Nor does another owner of its own take over what it holds itself.
        let other = Terms { owner: Some(format!("{owner}/")), ..terms() };
        told(owner, lease::acquire("own/a", &other, Some(0)), &Error::NotAcquired);
        assert_eq!(lease::Lease::release(own), Ok(true));
    }
    say("refused");
}
