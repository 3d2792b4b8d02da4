//! The chores of the house, as a library so that the outside tests can use the same tools.
//!
//! * [`mod@check`]: what must hold of the source: format, lints, docs, dependency policy, layers, text.
//! * [`mod@test`]: fetch what the tests need, run `check`, build the binary, run every test.
//! * [`mod@fuzz`]: made-up bytes for every parser of foreign ones.
//! * [`mod@bench`]: what a crawled page, a discovered URL, a page's links and words cost.
//!
//! Underneath: [`mod@news`] holds collected news against the truth, [`process`] runs programs with a time limit, [`nginx`] serves a folder on loopback
//! and reads back its access log, [`docs`] unpacks Debian documentation packages as real sites,
//! [`tools`] finds programs and installs them where it may.
//!
//! Nothing here is part of the product: no crate of `crates/` depends on this one, and this one
//! knows the product only as a command line.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "chores talk to the person at the desk"
)]

pub mod bench;
pub mod check;
pub mod docs;
pub mod fuzz;
pub mod news;
pub mod nginx;
pub mod process;
pub mod test;
pub mod tools;

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Cargo's target directory.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// Where the outside tests and benchmarks keep what may be deleted at any time.
pub fn scratch() -> PathBuf {
    target().join("outside")
}

/// The product's binary: `ARGIOPE_BIN` when set.
pub fn argiope_bin() -> Option<PathBuf> {
    std::env::var_os("ARGIOPE_BIN").map(|path| root().join(path))
}
