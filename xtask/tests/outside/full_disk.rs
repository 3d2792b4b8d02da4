//! A disk that fills up pauses the crawl before it is full; room made later lets it go on.
//!
//! The data directory is a small file system in memory, mostly taken by a ballast file; the site is
//! larger than what is left. Removing the ballast is somebody making room.

use crate::rig::{CRAWL_LIMIT, Rig, count, skip, summary};
use crate::sites::Dice;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use xtask::nginx::Nginx;
use xtask::process::{self, Running, wait_until};

const FILES: usize = 120;
const MB: u64 = 1_000_000;

/// A mounted file system; unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    fn new(dir: PathBuf, megabytes: usize) -> Result<Mount> {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "argiope"]).arg(&dir);
        process::output(&mut command)?;
        Ok(Mount(dir))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_filling_disk_pauses_the_crawl_and_room_resumes_it() -> Result<()> {
    let name = "full-disk";
    let Some(rig) = Rig::new(name, &["nginx", "mount", "df"])? else { return Ok(()) };
    let mount = match Mount::new(rig.folder("disk")?, 260) {
        Ok(mount) => mount,
        Err(error) => return skip(name, &format!("{error:#}")),
    };
    let ballast = mount.0.join("ballast");
    std::fs::write(&ballast, vec![1; 150 * MB as usize])?;
    let root = rig.folder("site")?;
    site(&root)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let settings = "[archive]\nmin_free_disk = \"40MB\"\n";
    std::fs::write(rig.dir.join("argiope.toml"), settings)?;

    let start = format!("{}/index.html", nginx.origin);
    let crawl = Rig::crawl_args(&["--types", "all", &start]);
    let args = [&["--config", "argiope.toml"], crawl.as_slice()].concat();
    let mut running = Running::start(&mut rig.argiope("disk/data", &args), &rig.dir, "crawl")?;
    wait_until("a word about the disk", CRAWL_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        let said = running.err_so_far().to_lowercase();
        Ok(said.contains("disk") && said.contains("paus"))
    })?;
    std::thread::sleep(Duration::from_secs(1)); // what was in flight comes to rest
    let (asked, free) = (nginx.pages()?.len(), free_bytes(&mount.0)?);
    ensure!(asked <= FILES, "the site fitted: nothing was tested");
    ensure!(free > 10 * MB, "paused only with {free} bytes left");
    std::thread::sleep(Duration::from_secs(2));
    ensure!(running.is_running()?, "the paused crawl ended: {}", running.err_so_far());
    let later = nginx.pages()?.len();
    ensure!(later == asked, "{} requests during the pause", later - asked);

    std::fs::remove_file(&ballast)?;
    let done = running.wait(CRAWL_LIMIT)?.ok().context("the resumed crawl")?;
    let fetched = count(&summary(&done)?, "fetched")? as usize;
    ensure!(fetched == FILES + 1, "{fetched} fetched of {}", FILES + 1);
    rig.verify("disk/data")
}

/// Files of a megabyte that does not compress.
fn site(root: &Path) -> Result<()> {
    let mut index = String::from("<title>Files</title>");
    for file in 0..FILES {
        let body = Dice::new(file as u64 + 100).bytes(MB as usize);
        std::fs::write(root.join(format!("{file}.bin")), body)?;
        index.push_str(&format!("<a href=\"{file}.bin\">{file}</a>"));
    }
    std::fs::write(root.join("index.html"), index).context("write the index")
}

fn free_bytes(dir: &Path) -> Result<u64> {
    let told = process::output(Command::new("df").args(["-B1", "--output=avail"]).arg(dir))?;
    let number = told.lines().last().context("df said nothing")?.trim();
    number.parse().with_context(|| format!("df said {told}"))
}
