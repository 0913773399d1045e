//! Where things are, and the guest that is built there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

const TARGET: &str = "wasm32-wasip2";

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Builds the guest and answers where it is.
pub(crate) fn build_guest() -> Result<PathBuf> {
    let folder = target().join("guests");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.current_dir(root()).args(["build", "--package", "leases-bench-guest"]);
    build.args(["--target", TARGET, "--profile", "guest", "--target-dir"]).arg(&folder);
    let status = build.status().context("starting cargo")?;
    ensure!(status.success(), "the guest was not built ({status}); it needs the target {TARGET}");
    Ok(guest())
}

/// Where the guest is once it was built.
pub(crate) fn guest() -> PathBuf {
    target().join("guests").join(TARGET).join("guest/leases_bench_guest.wasm")
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}
