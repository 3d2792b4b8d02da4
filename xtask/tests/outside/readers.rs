//! Other people's programs read our archive: warcio checks every segment, pywb replays every page.
//!
//! The site has pages with the same bytes under two URLs, so that there are revisit records, and the
//! server compresses, so that bodies are stored as they came.

use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, files_ending, skip};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::nginx::{Nginx, on_free_port};
use xtask::process::{self, Running};
use xtask::tools;

const PAGES: usize = 80;
const TWINS: usize = 5;

#[test]
pub fn warcio_checks_and_pywb_replays_the_archive() -> Result<()> {
    let Some(rig) = Rig::new("readers", &["nginx", "python3", "warcio"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    site(&root)?;
    let nginx = Nginx::serve(&root, &rig.dir, "gzip on; gzip_min_length 100;")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    rig.crawl("data", &[&start, "--scope", "host"])?;
    rig.verify("data")?;

    let captures = rig.captures("data")?;
    let revisits = captures.iter().filter(|capture| capture.mime == "warc/revisit").count();
    ensure!(revisits >= TWINS, "{revisits} revisit records, expected at least {TWINS}");

    warcio_check(&rig, "segments", &files_ending(&rig.dir.join("data"), ".warc.gz")?)?;
    let out = rig.dir.join("exported");
    let out_text = out.to_string_lossy().into_owned();
    rig.run("data", &["export", "warc", "--out", &out_text])?.ok().context("export warc")?;
    let exported = files_ending(&out, ".warc.gz")?;
    warcio_check(&rig, "exported", &exported)?;

    let pages = captures.iter().filter(|capture| !capture.url.ends_with("/robots.txt"));
    let urls: Vec<&str> = pages.map(|capture| capture.url.as_str()).collect();
    ensure!(urls.len() == PAGES + 1 + TWINS * 2, "{} URLs in the archive", urls.len());
    std::fs::write(rig.dir.join("urls"), urls.join("\n"))?;
    replay(&rig, &["add", "c"], &exported)
}

/// Made-up pages, and a page linking to pairs of files with the same bytes.
fn site(root: &Path) -> Result<()> {
    let mut graph = Graph::made_up(PAGES, 2);
    graph.0[1].push(PAGES); // the page of twins, written below
    graph.write(root, 3000)?;
    let mut list = String::from("<title>Twins</title>");
    for twin in 0..TWINS {
        let text = format!("<title>Twin {twin}</title><p>{}", "the same words. ".repeat(50));
        for side in ["left", "right"] {
            std::fs::write(root.join(format!("{side}-{twin}.html")), &text)?;
            list.push_str(&format!("<a href=\"/{side}-{twin}.html\">{side} {twin}</a>"));
        }
    }
    let path = root.join(&Graph::uri(PAGES)[1..]);
    std::fs::write(path, list).context("write the page of twins")
}

pub fn warcio_check(rig: &Rig, name: &str, files: &[PathBuf]) -> Result<()> {
    ensure!(!files.is_empty(), "no .warc.gz among the {name}");
    let mut command = Command::new(tools::find("warcio").context("no warcio")?);
    command.args(["check", "-v"]).args(files);
    let done = process::run(&mut command, &rig.dir, "warcio", CRAWL_LIMIT)?;
    let out = done.out_text();
    done.ok().with_context(|| format!("warcio check of {name}:\n{out}"))?;
    let passed = out.lines().filter(|line| line.contains("digest pass")).count();
    ensure!(passed >= PAGES, "warcio checked only {passed} digests of the {name}");
    Ok(())
}

/// Lets pywb take files in with these words and compares all it replays with the server.
pub fn replay(rig: &Rig, add: &[&str], files: &[PathBuf]) -> Result<()> {
    let name = "the part that replays an archive";
    let (Some(manager), Some(wayback)) = (tools::find("wb-manager"), tools::find("wayback")) else {
        return skip(name, "pywb is not installed");
    };
    let dir = rig.folder("pywb")?;
    let manage = |args: &[&str], files: &[PathBuf]| {
        let mut command = Command::new(&manager);
        command.args(args).args(files).current_dir(&dir);
        process::run(&mut command, &dir, "wb-manager", SHORT_LIMIT)?.ok().context("wb-manager")
    };
    manage(&["init", "c"], &[])?;
    manage(add, files)?;
    let (_server, port) = on_free_port("pywb", |port| {
        let mut command = Command::new(&wayback);
        command.args(["-p", &port.to_string(), "-b", "127.0.0.1"]).current_dir(&dir);
        Running::start(&mut command, &dir, "wayback")
    })?;
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replay.py"));
    command.arg(format!("http://127.0.0.1:{port}/c")).arg(rig.dir.join("urls"));
    let done = process::run(&mut command, &rig.dir, "replay", CRAWL_LIMIT)?;
    let out = done.out_text();
    done.ok().with_context(|| format!("pywb replays something else:\n{out}"))?;
    Ok(())
}
