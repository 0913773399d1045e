//! PostgreSQL: the rules are its functions, and an operation is one call of one.

mod listen;
mod migrate;
mod replies;
mod settings;
mod statements;
mod store;

pub(super) use settings::{OURS, Settings};
