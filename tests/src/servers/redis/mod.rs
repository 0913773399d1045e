//! Private Redis servers: one alone, a pair that a sentinel watches, a cluster.

mod cluster;
mod moving;
mod range;
mod recipe;
mod sentinel;
mod single;
mod watching;

pub use cluster::Cluster;
pub use moving::Moving;
pub use sentinel::Sentinel;
pub use single::Redis;
