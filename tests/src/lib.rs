//! The conformance suite: one behaviour, on every backend and through both doors.
//!
//! A case is an `async fn` on a [`World`]: a backend, its time, and the door through which its
//! actors come: native Rust, or a guest that forwards what a case asks through the guest bindings,
//! the contract, the scope and the engine. Cases of [`backend_cases`] talk to the
//! [`Backend`](leases::Backend) itself, of what no guest ever sees. Cases of [`on_servers`] start
//! servers of their own, and do to them what happens to servers.

pub mod actor;
pub mod ask;
pub mod backend_cases;
pub mod cases;
pub mod compare;
pub mod counted;
pub mod faults;
pub mod guests;
pub mod live;
pub mod model;
pub mod native;
pub mod on_servers;
pub mod program;
pub mod redis;
mod rest;
pub mod servers;
pub mod setting;
pub mod site;
pub mod steps;
pub mod terminal;
pub mod trouble;
pub mod wasm;
pub mod world;

pub use actor::{Actor, Failure, Held, Verdict};
pub use ask::{Ask, lease, semaphore};
pub use counted::Counted;
pub use setting::Setting;
pub use site::{Database, Need, On, Site};
pub use world::{Door, World};

use std::pin::Pin;

/// One rule, and what shows that it holds.
pub struct Case<W> {
    /// A sentence.
    pub name: &'static str,
    /// Panics when it does not hold.
    pub run: fn(W) -> Pin<Box<dyn Future<Output = ()>>>,
}

/// A list of cases, from the functions' names. A case that is in none is dead code.
macro_rules! listed {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        &[$(
            $crate::Case { name: stringify!($name), run: |world| Box::pin($name(world)) },
        )+]
    };
}
pub(crate) use listed;

/// The texts whose examples must compile.
#[cfg(doctest)]
mod texts {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/guarantees.md")]
    struct Guarantees;

    #[doc = include_str!("../../docs/embedding.md")]
    struct Embedding;
}
