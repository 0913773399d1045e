//! Where the built guests are.

use std::path::{Path, PathBuf};

/// A component that exports functions: `tests/guests/examples/<name>.rs`, or `importer`.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("LEASES_GUESTS")).join("examples").join(format!("{name}.wasm"))
}

/// A command: `tests/guests/src/bin/<name>.rs`.
pub fn command(name: &str) -> PathBuf {
    Path::new(env!("LEASES_GUESTS")).join(format!("{name}.wasm"))
}
