//! Has no good place for a text that the host answers: its allocator traps, answers an address
//! beyond its memory, or calls the host meanwhile: `trap`, `beyond`, `reenter`. The text is the
//! `name` of what it holds, or that of an `error`.

// Being the allocator that the host calls is unsafe, whatever it does.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering};

use leases_test_guests::expect::{argument, ask, say, take};
use leases_test_guests::wild::drop_lease;

/// What it does when the host calls it next.
static WAY: AtomicU8 = AtomicU8::new(0);

/// The allocator that the host calls, in place of the one of the bindings.
#[unsafe(no_mangle)]
extern "C" fn cabi_realloc(old: *mut u8, old_bytes: usize, align: usize, bytes: usize) -> *mut u8 {
    match WAY.load(Ordering::Relaxed) {
        b't' => std::process::abort(),
        b'b' => (usize::MAX - 63) as *mut u8,
        b'r' => {
            drop_lease(1);
            std::ptr::dangling_mut()
        }
        // SAFETY: the host gives back what it was given, or nothing.
        _ => unsafe {
            let layout = std::alloc::Layout::from_size_align_unchecked(bytes.max(1), align);
            match old_bytes {
                0 => std::alloc::alloc(layout),
                _ => std::alloc::realloc(
                    old,
                    std::alloc::Layout::from_size_align_unchecked(old_bytes, align),
                    bytes,
                ),
            }
        },
    }
}

fn main() {
    let (way, text) = (argument(1), argument(2));
    let held = take("own/held");
    assert_eq!(held.name(), "own/held");
    say("holds");
    WAY.store(way.as_bytes()[0], Ordering::Relaxed);
    match text.as_str() {
        "name" => drop(held.name()),
        _ => drop(ask("")),
    }
    WAY.store(0, Ordering::Relaxed);
    say("answered");
}
