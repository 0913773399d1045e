//! Calls whose pointers and handles are whatever a guest says they are.

// What no guest language lets a program do is what a hostile guest does. Nothing in these files
// relies on what such a call leaves in the guest's own memory.
#![allow(unsafe_code)]

use crate::expect::SECOND;
use crate::raw::{Lease, Permit};

/// A text that is said to be somewhere.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Its address.
    pub at: usize,
    /// Its length in bytes.
    pub bytes: usize,
}

/// An acquire with pointers of the guest's choice.
#[derive(Debug, Clone, Copy)]
pub struct Wild {
    /// The name.
    pub name: Text,
    /// The owner.
    pub owner: Option<Text>,
    /// The note.
    pub note: Option<Text>,
    /// Where the host is to put its answer.
    pub answer: usize,
}

/// Room for the answer of an acquire.
#[repr(C, align(8))]
#[derive(Debug, Default)]
pub struct Answer([u8; 32]);

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "leases:plugin/lease@0.2.0")]
unsafe extern "C" {
    #[link_name = "acquire"]
    fn acquire(
        name: usize,
        name_bytes: usize,
        ttl: u64,
        keep_alive: u32,
        has_max_hold: u32,
        max_hold: u64,
        has_owner: u32,
        owner: usize,
        owner_bytes: usize,
        has_note: u32,
        note: usize,
        note_bytes: usize,
        has_wait: u32,
        wait: u64,
        answer: usize,
    );
    #[link_name = "[method]lease.refresh"]
    fn refresh(lease: u32, has_ttl: u32, ttl: u64, answer: usize);
    #[link_name = "[resource-drop]lease"]
    fn drop_lease_handle(lease: u32);
}

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "leases:plugin/semaphore@0.2.0")]
unsafe extern "C" {
    #[link_name = "[resource-drop]permit"]
    fn drop_permit_handle(permit: u32);
}

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "leases:plugin/fence@0.2.0")]
unsafe extern "C" {
    #[link_name = "current"]
    fn current(target: usize, target_bytes: usize, answer: usize);
}

/// Elsewhere the guests are linted and never run.
#[cfg(not(target_arch = "wasm32"))]
mod elsewhere {
    #[allow(clippy::too_many_arguments)]
    pub(super) unsafe fn acquire(
        _: usize,
        _: usize,
        _: u64,
        _: u32,
        _: u32,
        _: u64,
        _: u32,
        _: usize,
        _: usize,
        _: u32,
        _: usize,
        _: usize,
        _: u32,
        _: u64,
        _: usize,
    ) {
        unreachable!("a guest runs in a sandbox")
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) unsafe fn refresh(_: u32, _: u32, _: u64, _: usize) {
        unreachable!("a guest runs in a sandbox")
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) unsafe fn drop_lease_handle(_: u32) {
        unreachable!("a guest runs in a sandbox")
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) unsafe fn drop_permit_handle(_: u32) {
        unreachable!("a guest runs in a sandbox")
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) unsafe fn current(_: usize, _: usize, _: usize) {
        unreachable!("a guest runs in a sandbox")
    }
}
#[cfg(not(target_arch = "wasm32"))]
use elsewhere::*;

/// Grows the memory by so many pages; answers how many there were, or the greatest number.
pub fn grow(pages: usize) -> usize {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_grow(0, pages);
    #[cfg(not(target_arch = "wasm32"))]
    unreachable!("a guest runs in a sandbox, and has no {pages} pages")
}

/// How many pages of memory there are.
pub fn pages() -> usize {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size(0);
    #[cfg(not(target_arch = "wasm32"))]
    unreachable!("a guest runs in a sandbox")
}

impl Text {
    /// A text that is where it is said to be.
    pub fn of(text: &'static str) -> Self {
        Text::at(text.as_bytes())
    }

    /// Bytes that need not be a text.
    pub fn at(bytes: &'static [u8]) -> Self {
        Text { at: bytes.as_ptr() as usize, bytes: bytes.len() }
    }

    /// So many zeros, in memory that nobody has touched: it costs its guest nothing.
    pub fn zeros(bytes: usize) -> Self {
        const PAGE: usize = 64 << 10;
        let pages = grow(bytes.div_ceil(PAGE));
        assert_ne!(pages, usize::MAX, "the sandbox has room for {bytes} bytes");
        Text { at: pages * PAGE, bytes }
    }
}

impl Answer {
    /// Where it is.
    pub fn at(&mut self) -> usize {
        self.0.as_mut_ptr() as usize
    }

    /// The handle in it, when the answer was one.
    pub fn handle(&self) -> Option<u32> {
        let [0, _, _, _, a, b, c, d, ..] = self.0 else { return None };
        Some(u32::from_le_bytes([a, b, c, d]))
    }
}

impl Wild {
    /// A good name, and an answer anywhere.
    pub fn answered_at(name: &'static str, answer: usize) -> Self {
        Wild { name: Text::of(name), owner: None, note: None, answer }
    }

    /// Makes one attempt.
    pub fn ask(self) {
        self.wait(0);
    }

    /// Waits for so many nanoseconds.
    pub fn wait(self, wait: u64) {
        let Wild { name, owner, note, answer } = self;
        let none = Text { at: 0, bytes: 0 };
        let (o, n) = (owner.unwrap_or(none), note.unwrap_or(none));
        let (has_owner, has_note) = (owner.is_some().into(), note.is_some().into());
        // SAFETY: none is claimed; see above.
        unsafe {
            acquire(
                name.at,
                name.bytes,
                60 * SECOND,
                0,
                0,
                0,
                has_owner,
                o.at,
                o.bytes,
                has_note,
                n.at,
                n.bytes,
                1,
                wait,
                answer,
            );
        }
    }
}

/// Refreshes what this number stands for, answered anywhere.
pub fn refresh_answered_at(lease: u32, answer: usize) {
    // SAFETY: none is claimed; see above.
    unsafe { refresh(lease, 0, 0, answer) }
}

/// Asks for the fence of a target that is said to be somewhere.
pub fn current_of(target: Text, answer: usize) {
    // SAFETY: none is claimed; see above.
    unsafe { current(target.at, target.bytes, answer) }
}

/// Drops the lease of this number, whether there is one or not.
pub fn drop_lease(handle: u32) {
    // SAFETY: the host checks every handle.
    unsafe { drop_lease_handle(handle) }
}

/// Drops the permit of this number, whether there is one or not.
pub fn drop_permit(handle: u32) {
    // SAFETY: the host checks every handle.
    unsafe { drop_permit_handle(handle) }
}

/// A lease of this number, which was perhaps never given.
pub fn forged_lease(handle: u32) -> Lease {
    // SAFETY: the host checks every handle.
    unsafe { Lease::from_handle(handle) }
}

/// A permit of this number, which was perhaps never given.
pub fn forged_permit(handle: u32) -> Permit {
    // SAFETY: the host checks every handle.
    unsafe { Permit::from_handle(handle) }
}
