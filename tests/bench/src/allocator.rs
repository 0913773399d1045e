//! An allocator that counts the bytes in use, in a process that asks for it.

// Counting them all is what an allocator alone can do, and being one is unsafe.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static IN_USE: AtomicI64 = AtomicI64::new(0);

/// The system's allocator. It counts only when told to: measurements of time pay for a branch.
struct Counting;

/// Counts from now on.
pub(crate) fn count() {
    COUNTS.store(true, Ordering::Relaxed);
}

/// Bytes allocated and not freed since counting began.
pub(crate) fn bytes_in_use() -> i64 {
    IN_USE.load(Ordering::Relaxed)
}

fn add(bytes: usize, sign: i64) {
    if COUNTS.load(Ordering::Relaxed) {
        IN_USE.fetch_add(sign * bytes as i64, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size(), 1);
        // SAFETY: the caller's promises are those that it needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size(), 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        add(layout.size(), -1);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(layout.size(), -1);
        add(size, 1);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}
