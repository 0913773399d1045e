//! What `cargo xtask test` runs, in order.

use std::process::{Command, Stdio};

use anyhow::Result;

use super::files;
use crate::{command, guests, servers};

/// One thing that must hold.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) work: Work,
}

/// How it is found out.
pub(super) enum Work {
    /// A function of our own.
    Check(fn() -> Result<()>),
    /// A command that succeeds or fails.
    Command(Command),
    /// A command that runs tests and says how many passed.
    Tests(Command),
}

/// Every step.
pub(super) fn all() -> Vec<Step> {
    let step = |name, work| Step { name, work };
    vec![
        step("the target of guests", Work::Check(guests::add_target)),
        step("format", cargo("fmt --all --check")),
        step("format, what stands beside", cargo(BESIDE)),
        step("lints, everything", clippy("--workspace --all-targets --all-features")),
        step("lints, host with no feature", clippy("--package leases --no-default-features")),
        step("lints, host with components", clippy("--package leases --features component")),
        step("lints, host with metrics", clippy("--package leases --features metrics")),
        step("lints, host with policy files", clippy("--package leases --features policy-file")),
        step("lints, host with redis", clippy("--package leases --features redis")),
        step("lints, host with postgres", clippy("--package leases --features postgres")),
        step("lints, host with mysql", clippy("--package leases --features mysql")),
        step("lints, host with sqlite", clippy("--package leases --features sqlite")),
        step("lints, guests", clippy(GUESTS)),
        step("servers", Work::Check(servers::install)),
        step("tests", tests()),
        step("doc tests", Work::Tests(command::cargo(DOC_TESTS))),
        step("docs", docs()),
        step("length of files", Work::Check(files::none_too_long)),
    ]
}

const BESIDE: &str = "fmt --check --manifest-path tests/bench/tinystore/Cargo.toml";

const GUESTS: &str = "--package leases-guest --package leases-test-guests \
    --lib --bins --examples --target wasm32-wasip2";

const DOC_TESTS: [&str; 5] = ["test", "--doc", "--workspace", "--all-features", "--no-fail-fast"];

fn cargo(arguments: &str) -> Work {
    Work::Command(command::cargo(arguments.split(' ')))
}

fn clippy(what: &str) -> Work {
    cargo(&format!("clippy {what} -- -D warnings"))
}

fn tests() -> Work {
    let arguments = if has_nextest() {
        "nextest run --workspace --all-features --profile ci"
    } else {
        "test --tests --workspace --all-features --no-fail-fast"
    };
    Work::Tests(command::cargo(arguments.split(' ')))
}

fn has_nextest() -> bool {
    let mut ask = command::cargo(["nextest", "--version"]);
    ask.stdout(Stdio::null()).stderr(Stdio::null());
    ask.status().is_ok_and(|status| status.success())
}

fn docs() -> Work {
    let mut doc = command::cargo(["doc", "--no-deps", "--workspace", "--all-features"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    Work::Command(doc)
}
