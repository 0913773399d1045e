//! Builds the guests that the tests run, so that a test never meets an old one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for watched in ["guest", "wit", "tests/guests", "tests/wit", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let folder = target_folder().join("guests");
    build(&folder, &["--package", "leases-test-guests", "--bins", "--examples"]);
    build(&folder, &["--package", "leases-guest", "--example", "importer"]);
    let built = folder.join("wasm32-wasip2").join("guest");
    println!("cargo::rustc-env=LEASES_GUESTS={}", built.display());
    // Where the tests keep what is slow to make for their servers.
    println!("cargo::rustc-env=LEASES_SERVERS={}", target_folder().join("servers").display());
}

/// A folder apart from the host's build, which holds its own folder's lock meanwhile.
fn target_folder() -> PathBuf {
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    out.ancestors().nth(4).expect("five folders deep").to_path_buf()
}

fn build(folder: &Path, what: &[&str]) {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo.args(["build", "--target", "wasm32-wasip2", "--profile", "guest"]).args(what);
    cargo.arg("--target-dir").arg(folder);
    // What cargo and a linter set for this package is not for the guests.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let status = cargo.status().expect("cargo runs");
    assert!(
        status.success(),
        "guests were not built; the target is added by: rustup target add wasm32-wasip2"
    );
}
