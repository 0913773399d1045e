//! The backend over Redis: one server, one that Sentinel watches over, or a cluster.
//!
//! What is stored of a key, and the transitions on it, are in `scripts/`; `key.lua` says how. Each
//! operation is one command. Redis 7.0 is the oldest supported.

mod backend;
mod changes;
mod config;
mod connection;
mod error;
mod inbox;
mod keys;
mod listing;
mod replies;
mod scripts;
mod url;

pub use backend::RedisBackend;
pub use config::RedisConfig;
