//! SQLite: a file, and one connection to it.

mod dialect;
mod migrate;
mod settings;
#[cfg(test)]
mod tests;

pub(super) use settings::{OURS, Settings};
