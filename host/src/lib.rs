//! Leases, semaphores and fences over one shared backend, for programs and the WebAssembly plugins
//! in them.
//!
//! - A **lease** is an exclusive hold on a name that ends by itself.
//! - A **semaphore** lets at most so many hold a name at once.
//! - A **fence** is a number that grows with every grant of a name; a [`Guard`] refuses a write
//!   that carries a stale one.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
//! use std::time::Duration;
//! use leases::Leases;
//!
//! let secs = Duration::from_secs;
//! let leases = Leases::memory();
//! let mut import = leases.lease("import:42")?.ttl(secs(60)).wait(secs(5)).acquire().await?;
//! let maybe = leases.lease("rebuild-index")?.ttl(secs(300)).try_acquire().await?;
//! let uploads = leases.semaphore("uploads", 3)?.ttl(secs(30));
//! let permit = uploads.key("user-42")?.acquire().await?;
//! import.refresh().await?;
//! assert!(import.remaining() > secs(58));
//! import.release().await?;
//! # drop((maybe, permit)); Ok(()) }
//! ```
//!
//! What is promised, and what is not, is in `docs/guarantees.md`.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod backend;
mod client;
mod clock;
#[cfg(feature = "component")]
pub mod component;
mod error;
mod fence;
mod holder;
mod invalid;
mod listing;
mod measures;
mod memory;
mod name;
mod origin;
mod pattern;
mod policy;
#[cfg(feature = "redis")]
mod redis;
pub mod spec;
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
mod sql;
mod terms;
mod wake;

pub use backend::{Backend, Extend, Properties, Refresh, Refreshed, Reply};
pub use client::{
    Guard, Hold, Lease, Leases, LeasesBuilder, NotGivenBack, Permit, Request, Wait, configure,
    guard, lease, semaphore,
};
pub use clock::{Clock, ManualClock, Moment, Timestamp};
pub use error::{Applied, BackendError, Error, ErrorKind, Loss, Operation, Quota};
pub use fence::{FENCE_MAX, Fence, FenceToken, SlotFence, Target, Verdict};
pub use holder::HolderId;
pub use invalid::{Argument, Invalid};
pub use listing::{Cursor, Listed, Page};
pub use memory::{MemoryBackend, MemoryConfig};
pub use name::{Key, Kind, NAME_BYTES_MAX, Name};
pub use origin::Origin;
pub use pattern::NamePattern;
#[cfg(feature = "policy-file")]
pub use policy::Policies;
pub use policy::{
    Counts, Grant, PLUGIN_BYTES_MAX, PREFIX_BYTES_MAX, PluginHold, PluginId, PluginView, Policy,
    PolicyBuilder, PolicyError, Prefix, Primitive, Rate, Scope,
};
#[cfg(feature = "redis")]
pub use redis::{RedisBackend, RedisConfig};
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "mysql"))]
pub use sql::{SqlBackend, SqlConfig};
pub use terms::{
    LIMIT_MAX, Limit, MAX_HOLD_MAX, MaxHold, NOTE_BYTES_MAX, Note, OWNER_BYTES_MAX, Owner, Ttl,
    TtlBounds,
};
pub use wake::{Changes, Hearing, Tell, Wakes, Watch};
