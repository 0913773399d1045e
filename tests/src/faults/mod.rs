//! Backends that make trouble.

mod faulty;
mod remote;
mod slow;

pub use faulty::{Event, Fault, Faulty};
pub use remote::Remote;
pub use slow::Slow;
