//! `cargo xtask check`: what must hold of the source, before anything runs.
//!
//! Format, lints, documentation and the build of the fuzz targets are cargo's work; dependency
//! policy and layers are read from `cargo metadata` ([`policy`]); the rest are rules about text
//! ([`text`]). Every rule reports all its findings before the command fails.

pub mod licence;
pub mod policy;
pub mod text;

use crate::{fuzz, process, root};
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Cargo at the workspace root.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Format, lints, documentation, the build of the fuzz targets, then our own rules.
pub fn run() -> Result<()> {
    process::must(cargo().args(["fmt", "--all", "--check"]))?;
    process::must(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))?;
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings");
    process::must(&mut doc)?;
    let format = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--", "--check"];
    process::must(cargo().args(format))?;
    fuzz::check()?;
    rules()
}

/// Our own rules: dependencies, layers, text.
pub fn rules() -> Result<()> {
    let metadata = process::output(cargo().args(["metadata", "--format-version", "1"]))?;
    let metadata = serde_json::from_str(&metadata).context("read cargo metadata")?;
    let mut findings = policy::findings(&metadata)?;
    findings.extend(text::findings(&root())?);
    for finding in &findings {
        eprintln!("check: {finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    eprintln!("check: all rules hold");
    Ok(())
}
