//! The interface `types`: it has no functions, and says how errors become values or traps.

use crate::component::bindings::leases::plugin::types::{Error, Host};
use crate::component::{GuestError, LeasesCtxView};

impl Host for LeasesCtxView<'_> {
    fn convert_error(&mut self, error: GuestError) -> wasmtime::Result<Error> {
        match error {
            GuestError::Told(error) => Ok(error),
            GuestError::Trap(trap) => Err(trap),
        }
    }
}
