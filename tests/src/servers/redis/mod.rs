//! Private Redis servers.

mod recipe;
mod single;
mod watching;

pub use single::Redis;
