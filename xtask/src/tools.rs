//! Programs from outside: find them, and install them where that is allowed.
//!
//! The tests need nginx, PostgreSQL, strace, wget and python3, and read archives with warcio, pywb and
//! py-wacz, links with NetworkX, PDF with poppler and Ghostscript, pages with Chromium, driven by Playwright,
//! the API with schemathesis, promtool and a Memento client;
//! the benchmark needs wget2 and wrk. As root on a Debian system missing
//! ones are installed; elsewhere a sentence says what is missing, and the tests that need it report
//! themselves as skipped.

use crate::{process, scratch};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of the outside tests and the Debian packages that hold them.
pub const FOR_TESTS: &[(&str, &str)] = &[
    ("nginx", "nginx-light"),
    // Its own programs lie beside the path; this one comes with every server.
    ("pg_ctlcluster", "postgresql"),
    ("strace", "strace"),
    ("python3", "python3"),
    ("wget", "wget"),
    ("mount", "mount"),
    ("dpkg-deb", "dpkg"),
    ("openssl", "openssl"),
    ("ip", "iproute2"),
    ("unshare", "util-linux"),
    ("gzip", "gzip"),
    ("gs", "ghostscript"),
    ("pdftotext", "poppler-utils"),
    ("chromium", "chromium"),
    ("promtool", "prometheus"),
];

/// Programs of the outside tests from the Python registry, and the packages that hold them.
const PYTHON: &[(&str, &str)] = &[
    ("warcio", "warcio"),
    ("wayback", "pywb"),
    ("wacz", "wacz"),
    ("playwright", "playwright"),
    ("schemathesis", "schemathesis==4.32.5"),
];

/// Python packages without a program.
const PYTHON_MORE: &[&str] =
    &["setuptools<81", "networkx", "axe-playwright-python", "memento-client==0.6.1"];

/// Programs of the crawl benchmark and the Debian packages that hold them.
pub const FOR_BENCH: &[(&str, &str)] =
    &[("nginx", "nginx-light"), ("python3", "python3"), ("wget2", "wget2"), ("wrk", "wrk")];

/// Where a program lies: on the path, in the system's directories, or in our own Python.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(system)
        .chain([venv().join("bin")])
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// Whether we are the superuser.
pub fn is_root() -> bool {
    process::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Installs what is missing of `wanted` when it may, and says what stays missing.
pub fn prepare(wanted: &[(&str, &str)]) {
    let missing = || wanted.iter().filter(|(program, _)| find(program).is_none());
    let packages: Vec<&str> = missing().map(|(_, package)| *package).collect();
    if !packages.is_empty() && is_root() && find("apt-get").is_some() {
        eprintln!("installing {}", packages.join(", "));
        apt_update();
        for package in packages {
            if package == "postgresql" {
                no_cluster_of_the_system();
            }
            apt(&["install", "--yes", "--no-install-recommends", package]);
        }
    }
    for (program, package) in missing() {
        eprintln!("MISSING {program} (Debian package {package}): what needs it is skipped");
    }
}

/// The tests start a PostgreSQL of their own; installing it is not to start another.
fn no_cluster_of_the_system() {
    let file = Path::new("/etc/postgresql-common/createcluster.conf");
    let written = file.parent().map(std::fs::create_dir_all).is_some_and(|made| made.is_ok())
        && (file.exists() || std::fs::write(file, "create_main_cluster = false\n").is_ok());
    if !written {
        eprintln!("{} cannot be written", file.display());
    }
}

/// Makes sure of what comes from the Python registry, in an environment of our own when it is not there.
pub fn prepare_python() {
    let missing: Vec<&str> =
        PYTHON.iter().filter(|(program, _)| find(program).is_none()).map(|(_, p)| *p).collect();
    if missing.is_empty() {
        return;
    }
    eprintln!("installing {} into {}", missing.join(", "), venv().display());
    if is_root() && !python_has("ensurepip") && find("apt-get").is_some() {
        apt(&["install", "--yes", "--no-install-recommends", "python3-venv"]);
    }
    let made = || -> Result<()> {
        process::output(Command::new("python3").args(["-m", "venv"]).arg(venv()))?;
        let packages = PYTHON.iter().map(|(_, package)| package).chain(PYTHON_MORE);
        let mut pip = Command::new(venv().join("bin/pip"));
        process::output(pip.args(["install", "--quiet"]).args(packages))?;
        Ok(())
    };
    if let Err(error) = made() {
        eprintln!("MISSING {}: {error:#}", missing.join(", "));
    }
}

/// Refreshes the package lists.
pub fn apt_update() {
    apt(&["update", "--quiet"]);
}

fn python_has(module: &str) -> bool {
    process::output(Command::new("python3").args(["-c", &format!("import {module}")])).is_ok()
}

fn apt(args: &[&str]) {
    let mut command = Command::new("apt-get");
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    if let Err(error) = process::output(&mut command) {
        eprintln!("{error:#}");
    }
}

fn venv() -> PathBuf {
    scratch().join("venv")
}
