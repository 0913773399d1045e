//! Private PostgreSQL servers.

mod recipe;
mod single;
mod watching;

pub use single::Postgres;
