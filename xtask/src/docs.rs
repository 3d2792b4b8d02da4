//! Real documentation sites: Debian packages, unpacked and ready to be served.
//!
//! The packages are downloaded and unpacked under the scratch directory, not installed: this needs
//! no privileges, touches nothing of the system, and works where installations leave documentation
//! out. A site starts at the `index.html` with the most pages beneath it.

use crate::{process, scratch, tools};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sites of the everyday tests, about 2,000 pages together. Each row lists the names of one
/// package in different releases; the first that can be had is taken.
pub const EVERYDAY: &[&[&str]] = &[
    &["postgresql-doc-15", "postgresql-doc-17", "postgresql-doc-16", "postgresql-doc-14"],
    &["python3.11-doc", "python3.13-doc", "python3.12-doc", "python3.10-doc"],
    &["git-doc"],
];

/// A folder of pages.
#[derive(Clone, Debug)]
pub struct Docs {
    /// Package or folder it came from.
    pub name: String,
    /// Folder to serve.
    pub root: PathBuf,
    /// Path of the first page on the server, beginning with a slash.
    pub start: String,
}

impl Docs {
    /// The same site, begun where its first page sends browsers: not every program follows that.
    pub fn past_refresh(mut self) -> Docs {
        let text = std::fs::read_to_string(self.root.join(&self.start[1..])).unwrap_or_default();
        let target = text.split_once("http-equiv=\"refresh\"").and_then(|(_, rest)| {
            let (_, target) = rest.split_once('>')?.0.split_once("url=")?;
            target.split('"').next()
        });
        if let (Some(target), Some((folder, _))) = (target, self.start.rsplit_once('/')) {
            self.start = format!("{folder}/{target}");
        }
        self
    }
}

/// The site of a package name or of a folder.
pub fn site(name: &str) -> Result<Docs> {
    if Path::new(name).is_dir() {
        return inside(name, Path::new(name));
    }
    let dir = scratch().join("docs").join(name);
    if !dir.is_dir() {
        unpack(name, &dir)?;
    }
    inside(name, &dir.join("usr/share/doc"))
}

/// The first site that can be had of several names for the same package.
pub fn first_of(names: &[&str]) -> Result<Docs> {
    if let Some(had) = names.iter().find(|name| scratch().join("docs").join(name).is_dir()) {
        return site(had);
    }
    let mut last = None;
    for name in names {
        match site(name) {
            Ok(docs) => return Ok(docs),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| anyhow::anyhow!("no package named")))
}

/// The sites of the everyday tests, or of `ARGIOPE_SITES` (names separated by commas), as far as
/// they have been unpacked or can be.
pub fn chosen() -> Vec<Result<Docs>> {
    match std::env::var("ARGIOPE_SITES") {
        Ok(names) => names.split(',').map(|name| site(name.trim())).collect(),
        Err(_) => EVERYDAY.iter().map(|names| first_of(names)).collect(),
    }
}

/// Downloads and unpacks the everyday sites; says which cannot be had.
pub fn prepare() {
    if EVERYDAY.iter().all(|names| first_of(names).is_ok()) {
        return;
    }
    if tools::is_root() {
        tools::apt_update();
    }
    for names in EVERYDAY {
        if let Err(error) = first_of(names) {
            eprintln!("MISSING documentation package {}: {error:#}", names.join(" or "));
        }
    }
}

fn unpack(package: &str, dir: &Path) -> Result<()> {
    let parent = dir.parent().context("scratch directory")?;
    let work = parent.join(format!("{package}.part"));
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work)?;
    let unpacked = || -> Result<()> {
        process::output(Command::new("apt-get").args(["download", package]).current_dir(&work))?;
        let file = std::fs::read_dir(&work)?.flatten().find(|entry| entry.path().is_file());
        let file = file.context("the download left no file")?.path();
        process::output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(work.join("tree")))?;
        std::fs::rename(work.join("tree"), dir).context("move the unpacked tree")
    };
    let done = unpacked();
    let _ = std::fs::remove_dir_all(&work);
    done
}

fn inside(name: &str, root: &Path) -> Result<Docs> {
    let mut best: Option<(usize, PathBuf)> = None;
    count_pages(root, &mut best)?;
    let Some((_, dir)) = best else { bail!("no index.html in {}", root.display()) };
    let path = dir.strip_prefix(root).unwrap_or(Path::new("")).join("index.html");
    Ok(Docs { name: name.into(), root: root.into(), start: format!("/{}", path.display()) })
}

/// Counts the pages beneath `dir` and keeps the fullest, topmost folder that has an index.
fn count_pages(dir: &Path, best: &mut Option<(usize, PathBuf)>) -> Result<usize> {
    let mut pages = 0;
    for entry in std::fs::read_dir(dir).with_context(|| format!("read {}", dir.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            pages += count_pages(&entry.path(), best)?;
        } else if entry.path().extension().is_some_and(|ext| ext == "html") {
            pages += 1;
        }
    }
    let fuller = best.as_ref().is_none_or(|(most, _)| pages >= *most);
    if dir.join("index.html").is_file() && fuller {
        *best = Some((pages, dir.to_path_buf()));
    }
    Ok(pages)
}
