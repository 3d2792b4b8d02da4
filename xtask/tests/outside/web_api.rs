//! The API as programs meet it: held against its own description by schemathesis, read by pywb, a Memento client and
//! Prometheus, and asked for pieces while a crawl adds pages.

use crate::exchange::python_with;
use crate::fleet_metrics::lint;
use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, knob, skip};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use xtask::nginx::Nginx;
use xtask::process::{self, Running};
use xtask::tools;

const TOKEN: &str = "a-token-for-tests";
const AUTHORIZATION: &str = "Authorization: Bearer a-token-for-tests";
/// Statuses that refuse what is not as described; the longest requests are not read at all.
const SCHEMATHESIS: &str = "[checks.negative_data_rejection]\n\
    expected-statuses = [400, 401, 403, 404, 405, 409, 413, 414, 415, 421, 431]\n\
    [checks.positive_data_acceptance]\n\
    expected-statuses = [\"2xx\", \"3xx\", 400, 401, 403, 404, 409]\n";

/// A directory that is being served.
struct Served {
    base: String,
    _running: Running,
}

impl Served {
    fn start(rig: &Rig, data: &str) -> Result<Served> {
        let args =
            ["--format", "json", "serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--no-open"];
        let name = format!("serve-{data}");
        let running = Running::start(&mut rig.argiope(data, &args), &rig.dir, &name)?;
        let (out, mut base) = (rig.dir.join(format!("{name}.out")), String::new());
        process::wait_until("the pages", SHORT_LIMIT, || {
            let said = std::fs::read_to_string(&out)?;
            let row: Option<Value> = said.lines().next().and_then(|l| serde_json::from_str(l).ok());
            let url = row.as_ref().and_then(|row| row["url"].as_str());
            base = url.unwrap_or_default().trim_end_matches('/').to_owned();
            Ok(!base.is_empty())
        })?;
        Ok(Served { base, _running: running })
    }

    /// The body of an answer.
    fn get(&self, path: &str) -> Result<String> {
        let url = format!("{}{path}", self.base);
        let code = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end='')";
        process::output(Command::new("python3").args(["-c", code, &url]))
    }

    /// Asks as programs do; the row it ends with.
    fn ask(&self, rig: &Rig, python: &Path, what: &str, args: &[&str]) -> Result<Value> {
        let mut command = Command::new(python);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/web_api.py"));
        command.arg(what).arg(&self.base).args(args);
        let done = process::run(&mut command, &rig.dir, what, CRAWL_LIMIT)?;
        let (said, row) = (done.err.clone(), done.out_text());
        done.ok().with_context(|| format!("{what}: {said}"))?;
        tell(&format!("{what}: {}", row.trim()))?;
        serde_json::from_str(row.trim()).with_context(|| format!("not a row: {row}"))
    }

    /// Has schemathesis try to break it.
    fn fuzz(
        &self,
        rig: &Rig,
        schemathesis: &Path,
        (name, known): (&str, &str),
        args: &[&str],
    ) -> Result<()> {
        let config = rig.dir.join(format!("{name}.toml"));
        std::fs::write(&config, format!("{known}{SCHEMATHESIS}"))?;
        let (examples, seed) = (knob("ARGIOPE_EXAMPLES", 30)?, knob("ARGIOPE_SEED", 1)?);
        let mut command = Command::new(schemathesis);
        command.arg("--config-file").arg(&config).arg("run");
        command.arg(format!("{}/api/openapi.json", self.base)).args(args);
        command.args(["--checks", "all", "--phases", "examples,coverage,fuzzing"]);
        command.args(["--continue-on-failure", "--no-shrink", "--max-examples"]);
        command.arg(examples.to_string()).arg("--seed").arg(seed.to_string());
        let done = process::run(command.current_dir(&rig.dir), &rig.dir, name, CRAWL_LIMIT)?;
        let said = done.out_text();
        let told = said.lines().rev().take(40).collect::<Vec<_>>();
        let told = told.into_iter().rev().collect::<Vec<_>>().join("\n");
        ensure!(
            done.code == Some(0),
            "schemathesis found something ({}):\n{told}",
            done.out.display()
        );
        let cases = said.lines().find(|line| line.contains(" generated, "));
        let cases = cases.context("schemathesis tells no number of cases")?;
        tell(&format!("{name}: {}", cases.trim()))?;
        Ok(())
    }
}

/// A crawled site of which some pages have two versions, and where it is.
fn crawled(rig: &Rig, data: &str, pages: usize) -> Result<(Nginx, String)> {
    let root = rig.folder("site")?;
    Graph::made_up(pages, 5).write(&root, 1_500)?;
    let first = root.join("index.html");
    let text = std::fs::read_to_string(&first)?;
    let links = "<a href=/missing.html>gone</a> <a href='http://two words.test/'>no address</a>";
    std::fs::write(&first, format!("{text}<p>{links}"))?;
    std::fs::write(root.join("robots.txt"), "User-agent: *\nDisallow: /private/\n")?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}/index.html", nginx.origin);
    rig.crawl(data, &[&start, "--scope", "host"])?;
    // Another second, so that times of files and of versions differ.
    std::thread::sleep(Duration::from_millis(1_100));
    std::fs::write(&first, format!("{text}<p>{links}<p>Something entirely new about silk."))?;
    rig.run(data, &["refresh", "--all", "--delay", "0s", "--allow-private"])?.ok()?;
    Ok((nginx, start))
}

fn schemathesis(name: &str) -> Result<Option<PathBuf>> {
    let found = tools::find("schemathesis");
    if found.is_none() {
        skip(name, "schemathesis is not installed")?;
    }
    Ok(found)
}

#[test]
fn every_answer_is_as_it_is_described() -> Result<()> {
    let name = "web-api";
    let Some(rig) = Rig::new(name, &["nginx", "python3"])? else { return Ok(()) };
    let Some(schemathesis) = schemathesis(name)? else { return Ok(()) };
    let Some(python) = python_with("schemathesis") else {
        return skip(name, "schemathesis is not installed");
    };
    let (_nginx, start) = crawled(&rig, "data", 120)?;
    let served = Served::start(&rig, "data")?;
    served.ask(&rig, &python, "answers", &[TOKEN, &start, "spider"])?;
    served.ask(&rig, &python, "paging", &[&start])?;
    // Nothing is fetched from made-up addresses, and nobody waits for the end of events.
    let quiet = "^/api/(crawl|crawl/stop|events|news/quick|news/collect)$";
    let args = ["-H", AUTHORIZATION, "--exclude-path-regex", quiet];
    served.fuzz(&rig, &schemathesis, ("fuzz", ""), &args)?;
    // A page that is there, and everything else made up.
    let path = start.replace(':', "%3A").replace('/', "%2F");
    let known = format!("[parameters]\n\"query.url\" = \"{start}\"\n\"path.url\" = \"{path}\"\n");
    let of_pages =
        "^/(api/(doc|doc/words|history|text|diff|links|links/out|near|around|explain)|cdx|time.*)$";
    let args = ["--include-path-regex", of_pages];
    served.fuzz(&rig, &schemathesis, ("fuzz-known", &known), &args)?;
    // Without the token what changes something must refuse everything, and say so as described.
    let args = ["--include-path-regex", "^/api/(crawl|crawl/stop|news/(quick|collect|sites.*))$"];
    served.fuzz(&rig, &schemathesis, ("fuzz-without-token", ""), &args)?;
    for (name, path) in [("new", "/feed.atom"), ("search", "/feed.atom?q=spider")] {
        let file = rig.dir.join(format!("{name}.atom"));
        std::fs::write(&file, served.get(path)?)?;
        let mut reader = Command::new("python3");
        reader.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atom.py")).arg(&file);
        let rows = process::output(&mut reader).with_context(|| path.to_owned())?;
        ensure!(rows.lines().count() > 5, "{path}: {rows}");
    }
    lint(&served.get("/metrics")?)?;
    ensure!(served.get("/healthz")? == "ok\n" && served.get("/readyz")? == "ready\n");
    Ok(())
}

#[test]
fn archive_tools_read_what_is_archived() -> Result<()> {
    let name = "web-archive";
    let Some(rig) = Rig::new(name, &["nginx", "python3"])? else { return Ok(()) };
    let Some(python) = python_with("pywb, memento_client") else {
        return skip(name, "pywb or memento_client is not installed");
    };
    let (_nginx, start) = crawled(&rig, "data", 60)?;
    let index = rig.dir.join("index.cdxj");
    let export = rig.run("data", &["export", "cdxj"])?.ok()?;
    std::fs::copy(&export.out, &index)?;
    let served = Served::start(&rig, "data")?;
    let told = served.ask(&rig, &python, "archive", &[&start, &index.to_string_lossy()])?;
    ensure!(told["rows"].as_u64() > Some(100) && told["mementos"] == 2, "{told}");
    Ok(())
}

#[test]
fn pieces_stay_put_while_a_crawl_adds_pages() -> Result<()> {
    let name = "web-paging";
    let Some(rig) = Rig::new(name, &["nginx", "python3"])? else { return Ok(()) };
    let Some(python) = python_with("requests") else {
        return skip(name, "requests is not installed");
    };
    let root = rig.folder("site")?;
    let pages = 6_000;
    Graph::made_up(pages, 3).write(&root, 1_000)?;
    for page in 0..pages {
        // A word of its own for every page, so that the dictionary grows at all places.
        let path = root.join(&Graph::uri(page)[1..]);
        let text = std::fs::read_to_string(&path)?;
        let letter = char::from(b'a' + (page % 26) as u8);
        std::fs::write(&path, format!("{text} {letter}word{page}"))?;
    }
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}/index.html", nginx.origin);
    rig.crawl("data", &[&start, "--scope", "host", "--max-pages", "300"])?;
    let served = Served::start(&rig, "data")?;
    let args = ["crawl", &start, "--scope", "host", "--delay", "5ms", "--allow-private"];
    let mut crawl = Running::start(&mut rig.argiope("data", &args), &rig.dir, "crawl")?;
    process::wait_until("the crawl", SHORT_LIMIT, || {
        Ok(served.get("/metrics")?.contains("argiope_web_crawling 1"))
    })?;
    served.ask(&rig, &python, "live", &[&start])?;
    let metrics = served.get("/metrics")?;
    lint(&metrics)?;
    ensure!(metrics.contains("\nargiope_pages_total "), "{metrics}");
    ensure!(crawl.is_running()?, "the crawl was over before it was asked");
    Ok(())
}

#[test]
fn a_crawl_is_started_watched_and_ended_by_a_program() -> Result<()> {
    let Some(rig) = Rig::new("web-crawl", &["nginx", "python3"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(400, 9).write(&root, 500)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}/index.html", nginx.origin);
    std::fs::create_dir_all(rig.dir.join("data"))?;
    std::fs::write(rig.dir.join("data/argiope.toml"), "[fetch]\nallow_private = true\n")?;
    let served = Served::start(&rig, "data")?;
    let post = |path: &str, body: &str| -> Result<Value> {
        let code = "import sys, urllib.request as u; r = u.Request(sys.argv[1], sys.argv[2].encode(), \
            {'Authorization': 'Bearer ' + sys.argv[3], 'Content-Type': 'application/json'}); \
            print(u.urlopen(r).read().decode())";
        let url = format!("{}{path}", served.base);
        let said = process::output(Command::new("python3").args(["-c", code, &url, body, TOKEN]))?;
        Ok(serde_json::from_str(&said)?)
    };
    let order =
        format!(r#"{{"urls": ["{start}"], "scope": "host", "delay": 0.02, "max_depth": 900}}"#);
    let told = post("/api/crawl", &order)?;
    ensure!(told["message"].as_str().is_some_and(|m| m.contains("running")), "{told}");
    let fetched = || -> Result<u64> {
        let status: Value = serde_json::from_str(&served.get("/api/status")?)?;
        status["rows"][0]["fetched"].as_u64().context("no number")
    };
    process::wait_until("pages", SHORT_LIMIT, || Ok(fetched()? > 20))?;
    post("/api/crawl/stop", "")?;
    process::wait_until("the end", SHORT_LIMIT, || {
        Ok(served.get("/metrics")?.contains("argiope_web_crawling 0"))
    })?;
    let jobs: Value = serde_json::from_str(&served.get("/api/jobs")?)?;
    let job = &jobs["rows"][0];
    ensure!(job["queued"].as_u64() > Some(0) && job["scope"] == "host", "{jobs}");
    let job = post("/api/jobs/1/pause", "")?;
    ensure!(job["rows"][0]["state"] == "paused", "{job}");
    Ok(())
}

/// Says a figure past the test runner's capture.
fn tell(line: &str) -> Result<()> {
    let line = format!("{line}\n");
    std::io::stderr().write_all(line.as_bytes()).context("write to standard error")
}
