//! The pages in a real Chromium: every view of the demo, every action of an operator, and the pictures of the
//! README.

use crate::exchange::python_with;
use crate::rig::{CRAWL_LIMIT, Rig, skip};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::nginx::Nginx;
use xtask::process::{self, Running};

const TOKEN: &str = "a-token-for-tests";

/// What the browser needs, where it is there.
fn browser(name: &str) -> Result<Option<(Rig, PathBuf)>> {
    let Some(rig) = Rig::new(name, &["chromium", "nginx", "python3"])? else { return Ok(None) };
    let Some(python) = python_with("playwright, axe_playwright_python") else {
        skip(name, "playwright is not installed")?;
        return Ok(None);
    };
    Ok(Some((rig, python)))
}

/// Waits until a program has said something, and gives the line.
fn said(rig: &Rig, running: &mut Running, file: &str, word: &str) -> Result<String> {
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(rig.dir.join(file)).unwrap_or_default();
        if let Some(line) = text.lines().find(|line| line.contains(word)) {
            return Ok(line.to_owned());
        }
        ensure!(begun.elapsed() < CRAWL_LIMIT, "never said {word:?}:\n{text}");
        ensure!(running.is_running()?, "ended before it said {word:?}:\n{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn drive(rig: &Rig, python: &Path, args: &[&str]) -> Result<Value> {
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/web.py")).args(args);
    let done = process::run(&mut command, &rig.dir, "browser", CRAWL_LIMIT)?;
    let said = done.out_text();
    done.ok().context("the browser found something")?;
    let last = said.lines().last().context("the browser said nothing")?;
    serde_json::from_str(last).with_context(|| format!("not a summary: {last}"))
}

#[test]
fn every_view_of_the_demo_in_a_browser() -> Result<()> {
    let Some((rig, python)) = browser("web-views")? else { return Ok(()) };
    let mut command = rig.argiope("unused", &["demo", "--stay", "--no-open", "--keep", "demo"]);
    command.args(["--listen", "127.0.0.1:0"]);
    let mut demo = Running::start(&mut command, &rig.dir, "demo")?;
    let at = said(&rig, &mut demo, "demo.err", "See it at ")?;
    let at = at.trim_start_matches("See it at ").split("?token=").next().unwrap_or_default();
    let shots = rig.folder("pictures")?;
    drive(&rig, &python, &["live", at, &shots.to_string_lossy()])?;
    said(&rig, &mut demo, "demo.err", "The page stays at")?;
    let web = said(&rig, &mut demo, "demo.err", "is being served on this machine, from")?;
    let first = web.split_whitespace().find(|word| word.starts_with("http")).context("no site")?;
    let hits = rig.rows("demo", &["search", "spider", "--limit", "1"])?;
    let other = hits[0]["url"].as_str().context("nothing was found")?;
    let done = drive(&rig, &python, &["read", at, &shots.to_string_lossy(), first, other])?;
    ensure!(done["views"].as_u64() > Some(80), "{done}");
    keep_pictures(&shots)?;
    demo.kill()?;
    Ok(())
}

#[test]
fn every_action_of_an_operator_in_a_browser() -> Result<()> {
    let Some((rig, python)) = browser("web-actions")? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(120, 5).write(&root, 400)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    std::fs::write(rig.dir.join("argiope.toml"), "[fetch]\nallow_private = true\n")?;
    let args = ["serve", "--listen", "127.0.0.1:0", "--no-open", "--token", TOKEN];
    let mut serve = Running::start(&mut rig.argiope("data", &args), &rig.dir, "serve")?;
    let at = said(&rig, &mut serve, "serve.err", "Argiope is at ")?;
    let at = at.split_whitespace().find(|word| word.starts_with("http")).context("no address")?;
    let shots = rig.folder("pictures")?;
    drive(&rig, &python, &["act", at, &shots.to_string_lossy(), TOKEN, &start])?;
    serve.kill()?;
    rig.run("data", &["verify"])?.ok().context("verify")?;
    Ok(())
}

/// The pictures of the README are these, when somebody wants new ones.
fn keep_pictures(from: &Path) -> Result<()> {
    let Some(folder) = std::env::var_os("ARGIOPE_PICTURES") else { return Ok(()) };
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), Path::new(&folder).join(entry.file_name()))?;
    }
    Ok(())
}
