//! The generated side of the contract, which checks less than the guest library does.

#![allow(missing_docs, unsafe_code, unreachable_pub, unused_qualifications, clippy::all)]

wit_bindgen::generate!({
    path: "../../wit/v0.2",
    world: "imports",
    // The guest library has the same world.
    type_section_suffix: "hostile",
    additional_derives: [PartialEq],
});

pub use leases::plugin::lease::{self, Lease};
pub use leases::plugin::semaphore::{self, Permit};
pub use leases::plugin::types::{Error, Loss, Quota, Terms};
pub use leases::plugin::{fence, types};
