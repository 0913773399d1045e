//! Builds the guests that the tests run, so that a test never meets an old one.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    list_hostile_guests();
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

/// Writes `foreach_hostile!`, which calls a macro with the name of each hostile guest.
fn list_hostile_guests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/src/bin");
    let files = fs::read_dir(&folder).expect("the guests are there");
    let paths = files.map(|file| file.expect("it can be listed").path());
    let mut guests: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| name.starts_with("hostile_"))
        .collect();
    guests.sort_unstable();
    let mut text = "macro_rules! foreach_hostile { ($each:ident) => {".to_owned();
    for guest in guests {
        write!(text, " $each!({guest});").expect("a text grows");
    }
    text.push_str(" } }\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("hostile.rs"), text).expect("the folder is cargo's for us");
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
