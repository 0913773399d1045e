//! What a program calls: [`Leases`], its requests, and what they end in.

mod acquire;
mod asking;
mod claims;
mod close;
mod connect;
mod default;
mod give_back;
mod guard;
mod hand_over;
mod held;
mod keeper;
mod lease;
mod leases;
mod listing;
mod live;
mod permit;
mod plugin;
mod request;
mod vitals;

pub use close::NotGivenBack;
pub use default::{configure, guard, lease, semaphore};
pub use guard::Guard;
pub use lease::Lease;
pub use leases::{Leases, LeasesBuilder};
pub use permit::Permit;
pub use request::{Hold, Request, Wait};
