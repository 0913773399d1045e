//! What one instance may have of its machine.

use leases::component;
use wasmtime::{ResourceLimiter, Store};

use super::instance::State;

/// The most linear memories, and the most tables, of one instance.
const EACH_MAX: usize = 100;

/// What is left of the memory that an instance may have.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes_left: usize,
    given: Given,
}

/// Whether an instance was given all the memory that it asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given {
    All,
    /// Once at least there was not enough.
    Refused,
}

/// Bounds what a store's guest can make its host allocate: in calls, in handles, in memory.
pub(super) fn bound(store: &mut Store<State>) {
    component::bound_allocations(store);
    store.limiter(|state| &mut state.memory);
}

impl Memory {
    /// So many bytes, of all linear memories and tables together.
    pub(super) fn of(bytes_max: usize) -> Self {
        Memory { bytes_left: bytes_max, given: Given::All }
    }

    pub(super) fn given(&self) -> Given {
        self.given
    }

    /// Counts a growth, which is never given back before the store is dropped. What the machine
    /// refuses after that counts too.
    fn take(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> bool {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return false;
        }
        match self.bytes_left.checked_sub(desired.saturating_sub(current)) {
            Some(left) => {
                self.bytes_left = left;
                true
            }
            None => {
                self.given = Given::Refused;
                false
            }
        }
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.take(current, desired, maximum))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // An element is a pointer.
        let bytes = |elements: usize| elements.saturating_mul(size_of::<usize>());
        Ok(self.take(bytes(current), bytes(desired), maximum.map(bytes)))
    }

    fn memories(&self) -> usize {
        EACH_MAX
    }

    fn tables(&self) -> usize {
        EACH_MAX
    }
}
