//! What every outside test stands on: a fresh directory, the binary, and its answers as values.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use xtask::process::{self, Finished, Running};
use xtask::{argiope_bin, scratch, tools};

/// How long a crawl of an everyday site may take before it counts as hanging.
pub const CRAWL_LIMIT: Duration = Duration::from_secs(900);
/// How long any short command may take.
pub const SHORT_LIMIT: Duration = Duration::from_secs(60);

/// A test's own directory and the binary.
pub struct Rig {
    /// Empty at the start of the test.
    pub dir: PathBuf,
    bin: PathBuf,
}

/// One line of `export cdxj`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capture {
    pub url: String,
    pub mime: String,
    pub status: String,
    pub digest: String,
}

/// One line of the crawl log.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub outcome: String,
    pub status: String,
    pub bytes: u64,
    pub ms: u64,
    pub url: String,
    pub detail: String,
}

/// Says that a test, or a part of it, does not run here, past the test runner's capture.
pub fn skip(name: &str, why: &str) -> Result<()> {
    if std::env::var_os("ARGIOPE_NO_SKIP").is_some() {
        bail!("{name} may not be skipped: {why}");
    }
    let line = format!("SKIPPED {name}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).context("write to standard error")
}

/// A number from the environment.
pub fn knob(name: &str, default: u64) -> Result<u64> {
    match std::env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name} is not a number: {text}")),
        Err(_) => Ok(default),
    }
}

impl Rig {
    /// A rig for the test `name`, or none (and a SKIPPED line) when something is missing.
    pub fn new(name: &str, needs: &[&str]) -> Result<Option<Rig>> {
        let Some(bin) = argiope_bin() else {
            skip(name, "ARGIOPE_BIN is not set (run `cargo xtask test`)")?;
            return Ok(None);
        };
        if let Some(missing) = needs.iter().find(|tool| tools::find(tool).is_none()) {
            skip(name, &format!("{missing} is not installed"))?;
            return Ok(None);
        }
        let dir = scratch().join(name);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).with_context(|| format!("make {}", dir.display()))?;
        Ok(Some(Rig { dir, bin }))
    }

    /// A rig in a directory of its own beneath this one.
    pub fn beneath(&self, name: &str) -> Result<Rig> {
        Ok(Rig { dir: self.folder(name)?, bin: self.bin.clone() })
    }

    /// A new empty folder.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir).with_context(|| format!("make {}", dir.display()))?;
        Ok(dir)
    }

    /// `argiope --data DIR/data` with further arguments.
    pub fn argiope(&self, data: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.bin);
        command.arg("--data").arg(self.dir.join(data)).args(args).current_dir(&self.dir);
        command
    }

    /// The arguments of an unhurried-by-politeness crawl with a JSON summary.
    pub fn crawl_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
        let always = ["--format", "json", "crawl", "--delay", "0s", "--allow-private"];
        always.iter().chain(args).copied().collect()
    }

    /// The arguments of a crawl with a JSON summary and nothing else decided.
    pub fn plain_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
        ["--format", "json", "crawl"].iter().chain(args).copied().collect()
    }

    /// Starts a crawl with exactly these flags.
    pub fn start_plain(&self, data: &str, args: &[&str]) -> Result<Running> {
        let mut command = self.argiope(data, &Rig::plain_args(args));
        Running::start(&mut command, &self.dir, &format!("crawl-{data}"))
    }

    /// Crawls with exactly these flags to the end and gives the summary.
    pub fn crawl_plain(&self, data: &str, args: &[&str]) -> Result<Value> {
        summary(&self.start_plain(data, args)?.wait(CRAWL_LIMIT)?.ok().context("crawl")?)
    }

    /// The rows of a short command with `--format json`.
    pub fn rows(&self, data: &str, args: &[&str]) -> Result<Vec<Value>> {
        let args = [&["--format", "json"], args].concat();
        let done = self.run(data, &args)?.ok().with_context(|| format!("{args:?}"))?;
        let rows = done.out_text().lines().map(serde_json::from_str).collect::<Result<_, _>>();
        rows.with_context(|| format!("{args:?} is not JSON: {}", done.out_text()))
    }

    /// What `doc` says of a URL.
    pub fn doc(&self, data: &str, url: &str) -> Result<Value> {
        self.rows(data, &["doc", url])?.pop().with_context(|| format!("doc {url} says nothing"))
    }

    /// The lines of the crawl log, each as its fields.
    pub fn crawl_log(&self, data: &str) -> Result<Vec<Attempt>> {
        let path = self.dir.join(data).join("log/crawl.log");
        let text = std::fs::read_to_string(&path).context("read the crawl log")?;
        text.lines().map(attempt).collect()
    }

    /// How the last attempt of every URL ended, by the crawl log.
    pub fn outcomes(&self, data: &str) -> Result<BTreeMap<String, Attempt>> {
        let log = self.crawl_log(data)?.into_iter();
        Ok(log.map(|attempt| (attempt.url.clone(), attempt)).collect())
    }

    /// Starts a crawl.
    pub fn start_crawl(&self, data: &str, args: &[&str]) -> Result<Running> {
        let mut command = self.argiope(data, &Rig::crawl_args(args));
        Running::start(&mut command, &self.dir, &format!("crawl-{data}"))
    }

    /// Crawls to the end and gives the summary.
    pub fn crawl(&self, data: &str, args: &[&str]) -> Result<Value> {
        summary(&self.start_crawl(data, args)?.wait(CRAWL_LIMIT)?.ok().context("crawl")?)
    }

    /// Any short command.
    pub fn run(&self, data: &str, args: &[&str]) -> Result<Finished> {
        let name = args.iter().find(|arg| !arg.starts_with('-')).copied().unwrap_or("argiope");
        process::run(&mut self.argiope(data, args), &self.dir, name, SHORT_LIMIT)
    }

    /// `verify` finds nothing.
    pub fn verify(&self, data: &str) -> Result<()> {
        let mut command = self.argiope(data, &["--format", "json", "verify"]);
        let done = process::run(&mut command, &self.dir, "verify", CRAWL_LIMIT)?;
        let out = done.out_text();
        done.ok().with_context(|| format!("verify of {data} found problems:\n{out}"))?;
        Ok(())
    }

    /// Everything `export cdxj` lists.
    pub fn captures(&self, data: &str) -> Result<Vec<Capture>> {
        let done = self.run(data, &["export", "cdxj"])?.ok().context("export cdxj")?;
        done.out_text().lines().map(capture).collect()
    }

    /// The documents of a data directory: what each URL gave.
    pub fn documents(&self, data: &str) -> Result<BTreeSet<(String, String)>> {
        Ok(self.captures(data)?.into_iter().map(|found| (found.url, found.digest)).collect())
    }
}

/// The summary a crawl ends with.
pub fn summary(done: &Finished) -> Result<Value> {
    let out = done.out_text();
    let last = out.lines().last().context("the crawl printed no summary")?;
    serde_json::from_str(last).with_context(|| format!("the summary is not JSON: {last}"))
}

/// A whole number of the summary.
pub fn count(summary: &Value, key: &str) -> Result<u64> {
    summary[key].as_u64().with_context(|| format!("no number {key} in {summary}"))
}

fn capture(line: &str) -> Result<Capture> {
    let json = line.splitn(3, ' ').nth(2).with_context(|| format!("not a CDXJ line: {line}"))?;
    let fields: Value = serde_json::from_str(json).with_context(|| format!("not JSON: {line}"))?;
    let text = |key: &str| match &fields[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    ensure!(fields["url"].is_string(), "a CDXJ line without a url: {line}");
    let (url, mime) = (text("url"), text("mime"));
    Ok(Capture { url, mime, status: text("status"), digest: text("digest") })
}

fn attempt(line: &str) -> Result<Attempt> {
    let fields: Vec<&str> = line.splitn(10, ' ').collect();
    ensure!(fields.len() >= 9, "not a line of the crawl log: {line}");
    let number = |at: usize| fields[at].parse().with_context(|| format!("field {at} of {line}"));
    Ok(Attempt {
        outcome: fields[1].to_string(),
        status: fields[2].to_string(),
        bytes: number(3)?,
        ms: number(4)?,
        url: fields[8].to_string(),
        detail: fields.get(9).copied().unwrap_or_default().to_string(),
    })
}

/// Every file beneath `dir` whose name ends in `end`.
pub fn files_ending(dir: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| format!("read {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_ending(&path, end)?);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The first of many, for a message.
pub fn some<T: std::fmt::Debug>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<T> = items.into_iter().collect();
    format!("{}: {:?}", items.len(), &items[..items.len().min(20)])
}
