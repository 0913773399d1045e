//! Building guests: the target that they need, and the folder that they are built into.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{command, workspace};

const TARGET: &str = "wasm32-wasip2";

/// Adds the guests' target to the toolchain where it is missing.
pub(crate) fn add_target() -> Result<()> {
    let sysroot = command::output(command::program("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).exists() {
        return Ok(());
    }
    eprintln!("adding the target {TARGET}");
    command::run(command::program("rustup").args(["target", "add", TARGET])).with_context(|| {
        format!("the toolchain has no target {TARGET}, which guests are built for, and it can't be added")
    })
}

/// Builds the sample plugin and answers where it is.
pub(crate) fn build_importer() -> Result<PathBuf> {
    add_target()?;
    // Apart from the host's builds, so that neither waits for the other's lock.
    let folder = workspace::target().join("guests");
    let mut build = command::cargo(["build", "--package", "leases-guest", "--example", "importer"]);
    build.args(["--target", TARGET, "--profile", "guest", "--target-dir"]).arg(&folder);
    command::run(&mut build)?;
    Ok(folder.join(TARGET).join("guest/examples/importer.wasm"))
}
