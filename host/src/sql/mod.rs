//! The backend over an SQL database: PostgreSQL, SQLite, MySQL or MariaDB.
//!
//! What is stored is in `migrations/`, by the same numbers and names for each. What all share is
//! here; a folder per database has its statements. In PostgreSQL the rules are functions of the
//! database, and an operation is one statement. Elsewhere they are those of [`spec`](crate::spec),
//! run on a key's rows between the beginning and the end of a short transaction.

mod attempt;
mod backend;
mod carry;
mod config;
mod error;
mod forget;
mod listing;
mod migrations;
#[cfg(feature = "mysql")]
mod mysql;
mod poll;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "mysql"))]
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod turns;
mod url;

pub use backend::SqlBackend;
pub use config::SqlConfig;
