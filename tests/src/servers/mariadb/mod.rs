//! Private MariaDB servers.

mod recipe;
mod single;
mod watching;

pub use single::MariaDb;
