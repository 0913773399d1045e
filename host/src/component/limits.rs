//! Bounds on what a guest can make its host allocate.

use wasmtime::Store;

use super::ctx::LeasesView;

/// The most bytes that one call of a guest hands to its host: strings, lists. A write to a file of
/// WASI hands over up to 1 MiB.
const CALL_BYTES_MAX: usize = 2 << 20;
/// The most handles that a guest has at once, of all kinds.
const HANDLES_MAX: usize = 10_000;

/// Bounds what the guest of a store can make its host allocate: 2 MiB in one call, and 10,000
/// handles at once. A guest that goes beyond is stopped with a trap.
///
/// It is one of the limits of a store that is recommended for guests that nobody trusts; the others
/// are in `docs/embedding.md`. Without it a guest may hand over 128 MiB in one call, and have
/// 100,000 handles.
pub fn bound_allocations<T: LeasesView>(store: &mut Store<T>) {
    store.set_hostcall_fuel(CALL_BYTES_MAX);
    store.set_max_component_handles(HANDLES_MAX);
    store.data_mut().leases().table.set_max_capacity(HANDLES_MAX);
}
