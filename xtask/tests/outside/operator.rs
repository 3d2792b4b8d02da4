//! What an operator sees and does beside a running crawl: sites excluded and forgiven, what they
//! take up, and what the crawl is doing right now.

use crate::rig::{Rig, SHORT_LIMIT, count, files_ending, summary};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::Write;
use std::time::{Duration, Instant};
use xtask::process::wait_until;

/// Host 0 never ends; host 1 has forty pages, each with a link to host 0 (`TRAP`).
fn web(trap: &str, asked: &Asked) -> Answer {
    let n: usize = asked.path.rsplit('/').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let later = Duration::from_millis(10);
    match (asked.host, asked.path.as_str()) {
        (_, "/robots.txt") => Answer::status(404),
        (0, _) => page("more", [format!("/{}", 2 * n + 1), format!("/{}", 2 * n + 2)]).later(later),
        (_, _) if n < 40 => {
            page("some", [format!("/{}", n + 1), format!("{trap}/from/{n}")]).later(later)
        }
        _ => page("last", ["/0"]),
    }
}

#[test]
fn a_site_excluded_while_it_is_crawled_is_not_asked_again_until_it_is_forgiven() -> Result<()> {
    let Some(rig) = Rig::new("exclude", &[])? else { return Ok(()) };
    // The trap is bound first, so that the others can link to it.
    let trap = Watched::start(&[loopback(211)], |asked| web("", asked))?;
    let origin = trap.url(0, "");
    let to = origin.clone();
    let good = Watched::start(&[loopback(212)], move |asked| {
        web(&to, &Asked { host: 1, ..asked.clone() })
    })?;
    let name = trap.address(0).to_string();
    let (start, other) = (trap.url(0, "/0"), good.url(0, "/0"));
    let mut running = rig.start_crawl("data", &[&start, &other])?;
    wait_until("the trap is being crawled", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(trap.seen(0).len() >= 10)
    })?;
    let said = rig.run("data", &["sites", "exclude", &name])?.ok()?;
    let at = Instant::now();
    ensure!(said.err.contains("is excluded: 1 host"), "exclude says {}", said.err);
    let told = summary(&running.wait(SHORT_LIMIT)?.ok().context("it ends")?)?;
    // One request may have been under way.
    let after: Vec<_> = trap.seen(0).into_iter().filter(|seen| seen.arrived > at).collect();
    ensure!(after.len() <= 1, "asked after it was excluded: {after:?}");
    ensure!(told["ended"] == "done" && count(&told, "queued")? == 0, "the summary says {told}");
    ensure!(count(&told["skipped"], "excluded")? > 10, "the summary says {told}");
    ensure!(good.paths(0).len() == 42, "the other is crawled to its end: {:?}", good.paths(0));

    let sites = rig.rows("data", &["sites", &name])?;
    ensure!(sites.len() == 1 && sites[0]["state"] == "excluded", "sites says {sites:?}");
    let table = rig.run("data", &["sites"])?.ok()?.out_text();
    let line = table.lines().find(|line| line.contains(&name)).context("no line of it")?;
    ensure!(line.contains("excluded") && line.contains("forgive"), "the table says {table}");
    let why = rig.rows("data", &["explain", &trap.url(0, "/from/3")])?;
    let rule = why.iter().find(|row| row["rule"] == "exclusion").context("no rule of its own")?;
    ensure!(rule["verdict"] == "no", "explain says {rule}");
    let status = rig.rows("data", &["status"])?;
    ensure!(count(&status[0]["skipped"], "excluded")? > 10, "status says {status:?}");
    on_disk(&rig, &rig.rows("data", &["sites"])?)?;

    // It holds for other orders; who asks for it by name hears of it.
    let asked = trap.all().len();
    let mut command = rig.argiope("data", &Rig::crawl_args(&[&trap.url(0, "/new")]));
    let refused = xtask::process::run(&mut command, &rig.dir, "refused", SHORT_LIMIT)?;
    ensure!(refused.code == Some(1), "a start URL of an excluded site was taken");
    ensure!(refused.err.contains("sites forgive"), "it says {}", refused.err);
    rig.crawl("data", &[&good.url(0, "/again"), &trap.url(0, "/new")])?;
    ensure!(trap.all().len() == asked, "asked by another job: {:?}", trap.paths(0));

    // Forgiven, it goes on; excluded again, it ends again.
    rig.run("data", &["sites", "forgive", &name])?.ok()?;
    let mut running = rig.start_crawl("data", &[])?;
    wait_until("it is asked again", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(trap.all().len() >= asked + 20)
    })?;
    rig.run("data", &["sites", "exclude", &origin])?.ok()?;
    running.wait(SHORT_LIMIT)?.ok().context("it ends")?;
    rig.verify("data")
}

/// What `sites` says of the disk is what lies there, but for the heads of the segments.
fn on_disk(rig: &Rig, sites: &[Value]) -> Result<()> {
    let counted: u64 = sites.iter().filter_map(|row| row["disk"].as_u64()).sum();
    let mut there = 0;
    for (dir, end) in [("data/warc", ".warc.gz"), ("data/text", ".zst")] {
        for file in files_ending(&rig.dir.join(dir), end)? {
            there += std::fs::metadata(&file)?.len();
        }
    }
    let heads = there.checked_sub(counted);
    ensure!(
        heads.is_some_and(|heads| heads < 2000),
        "{counted} bytes of {there} are accounted for"
    );
    Ok(())
}

#[test]
fn status_tells_what_is_being_waited_for_and_what_is_being_read() -> Result<()> {
    let Some(rig) = Rig::new("live-status", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(213), loopback(214), loopback(215)], |asked| {
        match (asked.host, asked.path.as_str()) {
            (_, "/robots.txt") => Answer::status(404),
            // Its head is there at once, its body takes its time.
            (1, _) => Answer::wild(|stream| {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")?;
                stream.write_all(b"Content-Length: 100\r\n\r\n")?;
                for _ in 0..100 {
                    stream.write_all(b"x")?;
                    std::thread::sleep(Duration::from_millis(80));
                }
                Ok(())
            }),
            (2, _) => page("quick", ["/more"]),
            _ => page("slow", ["/"]).later(Duration::from_secs(8)),
        }
    })?;
    let starts: Vec<String> = (0..3).map(|host| hosts.url(host, "/start")).collect();
    let args: Vec<&str> = starts.iter().map(String::as_str).collect();
    let args = [&["--allow-private", "--delay", "2s"][..], &args].concat();
    let mut running = rig.start_plain("data", &args)?;
    let mut last = Value::Null;
    let stage = |row: &Value, url: &str| -> String {
        let all = row["workers"].as_array().cloned().unwrap_or_default();
        let of = all.iter().find(|worker| worker["url"] == url);
        of.and_then(|w| w["stage"].as_str()).unwrap_or_default().to_owned()
    };
    wait_until("both are seen", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended; the last status: {last}");
        if hosts.all().is_empty() {
            return Ok(false);
        }
        last = rig.rows("data", &["status"])?.remove(0);
        Ok(stage(&last, &starts[0]) == "waiting for the answer"
            && stage(&last, &starts[1]) == "reading"
            && last["waiting"].as_array().is_some_and(|hosts| !hosts.is_empty()))
    })?;
    let text = rig.run("data", &["status"])?.ok()?.out_text();
    ensure!(text.contains(&starts[0]) && text.contains("waiting for the answer"), "{text}");
    ensure!(text.lines().all(|line| line.chars().count() <= 100), "too wide: {text}");
    let requests = &last["queues"]["requests"];
    ensure!(count(requests, "now")? >= 2 && count(requests, "most")? > 2, "queues: {last}");
    ensure!(last["jobs"][0]["job"] == 1, "jobs: {last}");
    let waited = &last["waiting"][0];
    ensure!(waited["host"] == hosts.url(2, ""), "who is waited for: {waited}");
    ensure!(waited["why"] == "delay" && waited["every_s"] == 2.0, "and why: {waited}");
    ensure!(count(&last["memory"], "now")? > 1_000_000, "memory: {last}");
    running.wait(Duration::from_secs(90))?.ok()?;
    let idle = rig.rows("data", &["status"])?.remove(0);
    ensure!(idle["state"] == "idle" && idle["workers"] == serde_json::json!([]), "idle: {idle}");
    ensure!(count(&idle, "fetched")? == count(&idle["jobs"][0], "fetched")?, "idle: {idle}");
    Ok(())
}
