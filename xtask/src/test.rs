//! `cargo xtask test`: everything that must hold, with one command, at a desk and in CI.
//!
//! The order: fetch what the outside tests need; `check`; build the binary as users get it; then
//! one `cargo test` over the whole workspace, whose own summary ends the output. The outside tests
//! (`xtask/tests/outside`) are ordinary tests that find the binary through `ARGIOPE_BIN`.

use crate::{check, docs, process, target, tools};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// Runs everything; with a `filter` only the outside tests whose names contain it.
pub fn run(filter: Option<&str>) -> Result<()> {
    tools::prepare(tools::FOR_TESTS);
    tools::prepare_python();
    docs::prepare();
    if filter.is_none() {
        check::run()?;
    }
    let bin = build()?;
    if filter.is_none() {
        // First, since most crates have no examples in their docs: the summary that ends the
        // output is that of the outside tests.
        process::must(check::cargo().args(["test", "--workspace", "--doc", "--quiet"]))?;
    }
    let mut command = check::cargo();
    command.arg("test").env("ARGIOPE_BIN", &bin);
    match filter {
        None => command.args(["--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"]),
        Some(name) => command.args(["--package", "xtask", "--test", "outside", "--", name]),
    };
    process::must(&mut command)
}

/// Builds the product as users get it and tells where it lies.
pub fn build() -> Result<PathBuf> {
    process::must(check::cargo().args(["build", "--release", "--package", "argiope-cli"]))?;
    let bin = target().join("release/argiope");
    let version = Command::new(&bin).arg("--version").output();
    version.with_context(|| format!("start {}", bin.display()))?;
    Ok(bin)
}
