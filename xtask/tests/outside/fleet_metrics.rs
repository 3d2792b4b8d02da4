//! What Prometheus is told: readable to the letter, growing where it says so, and true.

use crate::cluster::{CARELESS, Cluster};
use crate::fleet_together::{Team, twenty_sites};
use crate::rig::{CRAWL_LIMIT, Rig, count, summary};
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use xtask::tools;

/// Asks for a path; the head and the body of the answer.
fn ask(address: &str, path: &str) -> Result<(String, String)> {
    let mut stream = TcpStream::connect(address).with_context(|| format!("reach {address}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").context("no head")?;
    Ok((head.to_owned(), body.to_owned()))
}

/// Whether a text may be the name of a metric or of a label.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// The samples of a page, by name and labels, and the kinds of metrics; refuses what is not written as the
/// format wants it.
fn read(page: &str) -> Result<(BTreeMap<String, f64>, BTreeMap<String, String>)> {
    ensure!(page.ends_with('\n'), "the last line has no end");
    let (mut samples, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    let (mut helped, mut now) = (BTreeSet::new(), String::new());
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, words) = help.split_once(' ').with_context(|| line.to_owned())?;
            ensure!(is_name(name) && !words.is_empty() && helped.insert(name.to_owned()), "{line}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').with_context(|| line.to_owned())?;
            ensure!(helped.contains(name), "no help before {line}");
            ensure!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            ensure!((kind == "counter") == name.ends_with("_total"), "{line}");
            ensure!(kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "twice: {line}");
            now = name.to_owned();
        } else {
            let (series, value) = line.rsplit_once(' ').with_context(|| line.to_owned())?;
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            let mut of_it = name == now;
            if kinds.get(&now).is_some_and(|kind| kind == "histogram") {
                of_it = ["bucket", "sum", "count"].iter().any(|end| name == format!("{now}_{end}"));
            }
            ensure!(of_it && is_name(name), "{line} stands under {now}");
            let labels = labels.strip_suffix('}').with_context(|| line.to_owned())?;
            for label in labels.split(',').filter(|label| !label.is_empty()) {
                let (name, value) = label.split_once('=').with_context(|| line.to_owned())?;
                let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                ensure!(is_name(name) && inner.is_some_and(|v| !v.contains(['"', '\\'])), "{line}");
            }
            let value: f64 = value.parse().with_context(|| line.to_owned())?;
            ensure!(value >= 0.0 && value.is_finite(), "{line}");
            ensure!(samples.insert(series.to_owned(), value).is_none(), "twice: {line}");
        }
    }
    Ok((samples, kinds))
}

/// Prometheus' own checker has nothing to say, where it is installed.
pub fn lint(page: &str) -> Result<()> {
    let Some(promtool) = tools::find("promtool") else { return Ok(()) };
    let mut checker = Command::new(promtool)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    checker.stdin.take().context("no way in")?.write_all(page.as_bytes())?;
    let said = checker.wait_with_output()?;
    let words = [said.stdout, said.stderr].concat();
    ensure!(said.status.success(), "promtool: {}", String::from_utf8_lossy(&words));
    Ok(())
}

/// What ends in `_total`, and what histograms count, is no less than before.
fn only_grows(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> Result<()> {
    for (series, value) in before {
        let name = series.split('{').next().unwrap_or_default();
        if ["_total", "_bucket", "_sum", "_count"].iter().any(|end| name.ends_with(end)) {
            let Some(now) = after.get(series) else { bail!("{series} is gone") };
            ensure!(now >= value, "{series} went from {value} to {now}");
        }
    }
    Ok(())
}

#[test]
fn every_worker_tells_prometheus_how_it_stands() -> Result<()> {
    let Some(rig) = Rig::new("fleet-metrics", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let hosts = twenty_sites(160)?;
    let refused = rig.run("data", &["crawl", "http://127.0.0.1:1/", "--metrics", "here"])?;
    ensure!(refused.code == Some(2) && refused.err.contains("127.0.0.1:9464"), "{}", refused.err);
    let mut team = Team::new(rig, &cluster, &["--delay", "150ms", "--metrics", "127.0.0.1:0"]);
    team.start(&["first", "second"])?;
    let starts = hosts.starts();
    let mut args = vec!["--max-pages", "400"];
    args.extend(starts.iter().map(String::as_str));
    let mut crawl = team.crawl(&args)?;
    let (mut pages, mut last, begun) = (BTreeMap::new(), String::new(), Instant::now());
    let mut seen: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let mut look = |team: &Team| -> Result<()> {
        let rows = team.rig.rows("look", &["status", "--fleet", "--store", &team.url])?;
        ensure!(rows[0]["lag_s"].is_number() && rows[0]["messages"].is_number(), "{rows:?}");
        for row in rows[1..].iter().filter(|row| row["alive"] == true) {
            let address = row["metrics"].as_str().with_context(|| row.to_string())?;
            // The one that gave the work leaves when it is done.
            let Ok((head, page)) = ask(address, "/metrics") else { continue };
            ensure!(head.starts_with("HTTP/1.1 200 ") && head.contains("version=0.0.4"), "{head}");
            let (samples, kinds) = read(&page)?;
            ensure!(kinds.len() >= 15, "{page}");
            if let Some(before) = seen.get(address) {
                only_grows(before, &samples)?;
            }
            pages.insert(address.to_owned(), samples["argiope_pages_total"]);
            ensure!(samples["argiope_lease_seconds"] <= 3.0, "{page}");
            let held = samples["argiope_partitions_held"];
            ensure!(
                (0.0..=4096.0).contains(&held) && samples["argiope_memory_bytes"] > 1e6,
                "{page}"
            );
            seen.insert(address.to_owned(), samples);
            last = page;
        }
        Ok(())
    };
    while crawl.is_running()? {
        ensure!(begun.elapsed() < CRAWL_LIMIT, "it hangs: {}", crawl.err_so_far());
        look(&team)?;
        std::thread::sleep(Duration::from_millis(200));
    }
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == 400, "{told}");
    look(&team)?;
    lint(&last)?;
    let other = seen.keys().find_map(|address| ask(address, "/").ok());
    let (head, body) = other.context("nobody answers")?;
    ensure!(head.starts_with("HTTP/1.1 404 ") && !body.contains("argiope_"), "{head}");
    // The two that stay have told all of theirs; of the third the end may be missing.
    ensure!(pages.len() == 3, "{pages:?}");
    let all: f64 = pages.values().sum();
    ensure!((300.0..=400.0).contains(&all), "{all} of 400 pages were told of: {pages:?}");
    let commits = |samples: &BTreeMap<String, f64>| samples["argiope_commit_seconds_count"];
    ensure!(seen.values().all(|samples| commits(samples) > 0.0), "{seen:?}");
    team.end()?;
    Ok(())
}
