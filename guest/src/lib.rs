//! Leases, semaphores and fences for a WebAssembly plugin in Rust.
//!
//! The host decides which names this plugin may use; the plugin has no network, no password and no
//! token. Build with `cargo build --target wasm32-wasip2`.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! fn import() -> Result<(), leases_guest::Error> {
//!     let request = leases_guest::lease("import:42").ttl(Duration::from_secs(60));
//!     request.hold(|lease| {
//!         let verdict = leases_guest::guard("table:42").admit(lease.fence())?;
//!         assert_eq!(verdict, leases_guest::Verdict::Admitted);
//!         Ok(()) // write the table: nobody else does
//!     })
//! }
//! ```
//!
//! Every guard gives back what it holds when it is dropped. When the instance ends, by whatever
//! way, the host gives back the rest at once.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod bindings;
mod error;
mod fence;
mod guard;
mod lease;
mod permit;
mod request;

pub use error::{Error, Loss, Quota};
pub use fence::{Fence, FenceToken, SlotFence};
pub use guard::{Guard, Verdict, guard};
pub use lease::Lease;
pub use permit::Permit;
pub use request::{Hold, Request, lease, semaphore};
