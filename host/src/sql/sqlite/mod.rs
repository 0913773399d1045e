//! SQLite: a file, and one connection to it.

mod dialect;
mod migrate;
mod settings;

pub(super) use settings::{OURS, Settings};
