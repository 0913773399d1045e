//! Asks that a hostile guest makes, and what it must be told. A guest that is told something else
//! panics; its host's test sees that on its standard error.

use std::fmt::Debug;

use crate::raw::{Error, Lease, Permit, Quota, Terms, lease, semaphore};

/// A second, in the contract's nanoseconds.
pub const SECOND: u64 = 1_000_000_000;

/// Terms of a hold that no test outlives.
pub fn terms() -> Terms {
    Terms { ttl: 60 * SECOND, keep_alive: false, max_hold: None, owner: None, note: None }
}

/// One attempt.
pub fn ask(name: &str) -> Result<Lease, Error> {
    lease::acquire(name, &terms(), Some(0))
}

/// One attempt, of one of two places.
pub fn ask_place(name: &str) -> Result<Permit, Error> {
    semaphore::acquire(name, 2, &terms(), Some(0))
}

/// A hold that is there to be had, perhaps as soon as what was dropped is given back.
pub fn take(name: &str) -> Lease {
    had(name, || lease::acquire(name, &terms(), Some(SECOND / 4)))
}

/// A place that is there to be had, as soon as that.
pub fn take_place(name: &str) -> Permit {
    had(name, || semaphore::acquire(name, 2, &terms(), Some(SECOND / 4)))
}

fn had<T>(name: &str, ask: impl Fn() -> Result<T, Error>) -> T {
    loop {
        match ask() {
            Ok(held) => return held,
            // What was dropped counts until it is given back.
            Err(Error::OverQuota(Quota::Held)) => {}
            Err(error) => panic!("{name} is there to be had: {error:?}"),
        }
    }
}

/// Fails unless this was told, and exactly this.
pub fn told<T: Debug>(what: impl Debug, got: Result<T, Error>, wanted: &Error) {
    match got {
        Err(error) if error == *wanted => {}
        other => panic!("{what:?}: {wanted:?} was to be told, not {other:?}"),
    }
}

/// Fails unless an argument was out of bounds, and the text names it.
pub fn told_invalid<T: Debug>(what: impl Debug, got: Result<T, Error>, argument: &str) {
    match got {
        Err(Error::Invalid(text)) if text.starts_with(argument) => {
            assert!(text.len() < 1000, "{what:?}: a text of {} bytes", text.len());
        }
        other => panic!("{what:?}: an invalid {argument} was to be told, not {other:?}"),
    }
}

/// Takes as much as may be held, and fails unless that is `most`.
pub fn fill(most: usize) -> Vec<Lease> {
    let mut held = Vec::new();
    loop {
        match ask(&format!("own/{}", held.len())) {
            Ok(lease) => held.push(lease),
            Err(Error::OverQuota(Quota::Held)) => break,
            Err(error) => panic!("{} are held: {error:?}", held.len()),
        }
    }
    assert_eq!(held.len(), most, "so many may be held");
    held
}

/// Says to the test how far the guest came.
pub fn say(what: &str) {
    println!("{what}");
}

/// The argument that the test gave, of this number from 1.
pub fn argument(number: usize) -> String {
    std::env::args().nth(number).unwrap_or_default()
}

/// Computes for ever.
pub fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}
