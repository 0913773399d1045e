//! Backends that make trouble.

mod faulty;
mod slow;

pub use faulty::{Event, Fault, Faulty};
pub use slow::Slow;
