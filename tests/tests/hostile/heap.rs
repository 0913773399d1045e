//! How much memory this process has, and had at most.

// Counting what is allocated is what an allocator alone can do, and being one is unsafe.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static IN_USE: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, which counts.
struct Counting;

/// What was there when watching began.
pub(crate) struct Watched {
    in_use: i64,
    resident: i64,
}

/// How much more there was at most, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// Allocated by the host, whether it was touched or not: exact.
    pub(crate) allocated: i64,
    /// Resident, the guest's own memory and all else included.
    pub(crate) resident: i64,
}

/// Watches from now on, one at a time.
pub(crate) fn watch() -> Watched {
    // Resets the peak of what is resident.
    fs::write("/proc/self/clear_refs", "5").expect("a process may reset its own peak");
    let in_use = IN_USE.load(Ordering::Relaxed);
    MOST.store(in_use, Ordering::Relaxed);
    Watched { in_use, resident: status("VmRSS:") }
}

impl Watched {
    /// How much more there was at most since.
    pub(crate) fn growth(&self) -> Growth {
        let allocated = MOST.load(Ordering::Relaxed) - self.in_use;
        Growth { allocated, resident: status("VmHWM:") - self.resident }
    }
}

/// How much is allocated.
pub(crate) fn in_use() -> i64 {
    IN_USE.load(Ordering::Relaxed)
}

/// A field of the kernel's account of this process, in bytes.
fn status(name: &str) -> i64 {
    let text = fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("it has the field");
    let kib = line.split_whitespace().next().and_then(|kib| kib.parse::<i64>().ok());
    kib.expect("a number of KiB") * 1024
}

fn add(bytes: usize) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let in_use = IN_USE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(in_use, Ordering::Relaxed);
}

fn remove(bytes: usize) {
    IN_USE.fetch_sub(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are those that it needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        remove(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        remove(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}
