//! What a plugin may do: names, primitives, bounds; and what it does: counts, rates, revocation.
//!
//! A [`Scope`] is the only way from a plugin to the engine. What it asks for carries its
//! [`Place`](place::Place) along, into the hold that comes of it and until that is given back.

mod at_once;
mod bounds;
mod error;
#[cfg(feature = "policy-file")]
mod file;
mod grant;
mod names;
mod place;
mod plugin;
#[expect(clippy::module_inception, reason = "the type that the module is about")]
mod policy;
mod prefix;
mod rate;
mod scope;
mod usage;
mod view;

pub use at_once::Counts;
pub(crate) use at_once::Waits;
pub use error::PolicyError;
#[cfg(feature = "policy-file")]
pub use file::Policies;
pub use grant::{Grant, Primitive};
pub(crate) use place::{Allowed, Place};
pub use plugin::{PLUGIN_BYTES_MAX, PluginId};
pub use policy::{Policy, PolicyBuilder};
pub use prefix::{PREFIX_BYTES_MAX, Prefix};
pub use rate::Rate;
pub use scope::Scope;
pub(crate) use usage::{Usage, Usages};
pub use view::{PluginHold, PluginView};
