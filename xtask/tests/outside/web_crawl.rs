//! A crawl that is started, watched, paused and stopped from the pages; and the directory between two processes.

use crate::rig::{Rig, SHORT_LIMIT, count};
use crate::served::{Served, encoded};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::time::Duration;
use xtask::process::wait_until;

/// The last page.
const PAGES: usize = 400;

/// A tree of pages that takes its time.
fn tree(asked: &Asked) -> Answer {
    let n: usize = asked.path.rsplit('/').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let children = [2 * n + 1, 2 * n + 2].into_iter().filter(|n| *n <= PAGES);
    match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        _ => page("a page", children.map(|n| format!("/{n}"))).later(Duration::from_millis(15)),
    }
}

fn status(rig: &Rig) -> Result<Value> {
    rig.rows("data", &["status"])?.pop().context("no status")
}

/// Lets the crawls of a directory ask private addresses, without pauses.
fn allow_private(rig: &Rig) -> Result<()> {
    let dir = rig.folder("data")?;
    std::fs::write(
        dir.join("argiope.toml"),
        "[crawl]\ndelay = \"0s\"\n[fetch]\nallow_private = true\n",
    )?;
    Ok(())
}

#[test]
fn a_crawl_is_started_paused_resumed_and_stopped_from_the_page_and_nothing_is_lost() -> Result<()> {
    let Some(rig) = Rig::new("web-start", &[])? else { return Ok(()) };
    allow_private(&rig)?;
    let web = Watched::start(&[loopback(223)], tree)?;
    let mut served = Served::start(&rig, "data")?;
    let idle = served.get("/crawl")?.text();
    ensure!(idle.contains("Nothing is being crawled just now"), "{idle}");
    ensure!(!idle.contains("name=\"urls\""), "readers see no form: {idle}");
    ensure!(served.get_as_operator("/crawl")?.text().contains("name=\"urls\""), "operators do");
    let fields = format!("urls={}&scope=host&delay=0&max_depth=1000", encoded(&web.url(0, "/0")));
    let reply = served.post("/crawl/start", &fields)?;
    ensure!(reply.status == 303, "{}", reply.text());
    wait_until("it crawls", SHORT_LIMIT, || Ok(web.all().len() > 10))?;
    let page = served.get_as_operator("/crawl")?.text();
    for part in
        ["A crawl is running", "Stop the crawl", "Newest pages", "Queues between", "polyline"]
    {
        ensure!(page.contains(part), "no {part}: {page}");
    }
    ensure!(page.contains(&format!("/page?url={}", encoded(&web.url(0, "/")))), "{page}");
    // Paused, it ends; nothing is asked meanwhile.
    let reply = served.post("/crawl/job", "id=1&act=pause")?;
    ensure!(reply.status == 303, "{}", reply.text());
    wait_until("it is over", SHORT_LIMIT, || Ok(status(&rig)?["state"] == "idle"))?;
    let asked = web.all().len();
    std::thread::sleep(Duration::from_millis(500));
    ensure!(web.all().len() == asked, "asked while paused");
    // Opened again, it goes on when somebody says so, and stops when somebody says so.
    served.post("/crawl/job", "id=1&act=resume")?;
    served.post("/crawl/start", "go_on=yes")?;
    wait_until("it goes on", SHORT_LIMIT, || Ok(web.all().len() > asked + 5))?;
    served.post("/crawl/stop", "x=1")?;
    wait_until("it has stopped", SHORT_LIMIT, || Ok(status(&rig)?["state"] == "idle"))?;
    let stopped = status(&rig)?;
    ensure!(count(&stopped, "queued")? > 0, "the rest stays queued: {stopped}");
    // The rest, from the page; every page once.
    served.post("/crawl/start", "go_on=yes")?;
    wait_until("all is fetched", Duration::from_secs(120), || {
        let now = status(&rig)?;
        Ok(now["state"] == "idle" && now["queued"] == 0)
    })?;
    let all = web.paths(0).into_iter().filter(|(path, _)| path != "/robots.txt");
    ensure!(all.count() == PAGES + 1, "asked for {:?}", web.paths(0));
    ensure!(count(&status(&rig)?, "fetched")? == PAGES as u64 + 1, "{}", status(&rig)?);
    served.answers("all of it")?;
    served.stop()?;
    rig.verify("data")
}

#[test]
fn a_directory_is_left_to_whoever_crawls_and_taken_back() -> Result<()> {
    let Some(rig) = Rig::new("web-yield", &[])? else { return Ok(()) };
    allow_private(&rig)?;
    let web = Watched::start(&[loopback(224)], tree)?;
    rig.crawl("data", &[&web.url(0, "/3")])?;
    let mut served = Served::start(&rig, "data")?;
    served.answers("the start")?;
    for round in 0..2 {
        let start = web.url(0, &format!("/{}", 4 + round));
        let mut running = rig.start_crawl("data", &[&start])?;
        wait_until("the page shows it", SHORT_LIMIT, || {
            ensure!(running.is_running()?, "it ended: {}", running.err_so_far());
            Ok(served.get("/crawl")?.text().contains("A crawl is running"))
        })?;
        running.wait(SHORT_LIMIT)?.ok()?;
        let shown = || Ok(served.get("/crawl")?.text().contains("Nothing is being crawled"));
        wait_until("it is kept again", SHORT_LIMIT, shown)?;
    }
    // Nobody else answers now: the pages do.
    let asked = status(&rig)?;
    let seen = web.paths(0).len() as u64 - 1;
    ensure!(asked["state"] == "idle" && count(&asked, "fetched")? == seen, "{asked}");
    served.answers("two crawls")?;
    served.stop()?;
    rig.verify("data")
}

#[test]
fn nothing_private_is_fetched_for_the_page_that_the_configuration_does_not_allow() -> Result<()> {
    let Some(rig) = Rig::new("web-private", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(225)], tree)?;
    rig.folder("data")?;
    let mut served = Served::start(&rig, "data")?;
    let port = web.address(0).port();
    let urls = [
        web.url(0, "/0"),
        format!("http://127.0.2.225:{port}/1"),
        format!("http://[::ffff:127.0.2.225]:{port}/2"),
        format!("http://2130707169:{port}/3"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ];
    let reply = served.post("/crawl/start", &format!("urls={}", encoded(&urls.join("\n"))))?;
    ensure!(reply.status == 303, "{}", reply.text());
    let said = served.get_as_operator("/crawl")?.text();
    ensure!(said.contains("Nothing was fetched"), "{said}");
    for field in
        ["allow_private=true", "--allow-private=", "set=fetch.allow_private%3Dtrue", "flags=x"]
    {
        served.post("/crawl/start", &format!("urls={}&{field}", encoded(&urls[0])))?;
    }
    for wrong in ["file:///etc/passwd", "ftp://127.0.2.225/", "--allow-private", "gopher://a.test/"]
    {
        served.post("/crawl/start", &format!("urls={}", encoded(wrong)))?;
        let said = served.get_as_operator("/crawl")?.text();
        ensure!(said.contains("That was not done"), "{wrong}: {said}");
    }
    ensure!(web.all().is_empty(), "it was asked: {:?}", web.all());
    served.answers("private addresses")
}

#[test]
fn a_delay_set_by_hand_holds_at_once_and_afterwards_and_robots_txt_is_kept() -> Result<()> {
    let Some(rig) = Rig::new("web-delay", &[])? else { return Ok(()) };
    allow_private(&rig)?;
    let web = Watched::start(&[loopback(226), loopback(227)], |asked| {
        match (asked.host, asked.path.as_str()) {
            (1, "/robots.txt") => Answer::text("User-agent: *\nCrawl-delay: 2\n"),
            _ => tree(asked),
        }
    })?;
    let name = web.address(0).to_string();
    let mut served = Served::start(&rig, "data")?;
    let fields = format!("urls={}&scope=host&delay=0", encoded(&web.url(0, "/0")));
    served.post("/crawl/start", &fields)?;
    wait_until("it crawls", SHORT_LIMIT, || Ok(web.seen(0).len() > 20))?;
    let reply =
        served.post("/crawl/site", &format!("act=delay&delay=1s&name={}", encoded(&name)))?;
    ensure!(reply.status == 303, "{}", reply.text());
    let from = web.seen(0).len();
    std::thread::sleep(Duration::from_secs(4));
    let after = web.seen(0).len() - from;
    ensure!(after <= 5, "{after} requests in four seconds with a delay of one");
    let pace = |from: usize| -> Result<()> {
        for pair in web.seen(0)[from + 1..].windows(2) {
            let pause = pair[1].arrived - pair[0].arrived;
            ensure!(pause >= Duration::from_millis(990), "asked again after {pause:?}");
        }
        Ok(())
    };
    pace(from)?;
    let row = rig.rows("data", &["sites", &name])?.remove(0);
    ensure!(row["delay_by_hand_s"] == 1.0 && row["delay_s"] == 1.0, "{row}");
    let table = rig.run("data", &["sites"])?.ok()?.out_text();
    ensure!(table.contains("by hand"), "{table}");
    // Another process keeps it too.
    served.post("/crawl/stop", "x=1")?;
    wait_until("it has stopped", SHORT_LIMIT, || Ok(status(&rig)?["state"] == "idle"))?;
    let from = web.seen(0).len();
    let running = rig.start_crawl("data", &[])?;
    wait_until("it goes on", SHORT_LIMIT, || Ok(web.seen(0).len() >= from + 3))?;
    pace(from)?;
    // Taken back, it runs; and a program may say so too.
    let said = rig.run("data", &["sites", "delay", &name, "none"])?.ok()?;
    ensure!(said.err.contains("as the configuration says"), "{}", said.err);
    let from = web.seen(0).len();
    wait_until("it runs again", Duration::from_secs(10), || Ok(web.seen(0).len() > from + 30))?;
    rig.run("data", &["jobs", "drop", "1"])?.ok()?;
    running.wait(SHORT_LIMIT)?.ok()?;
    // What a robots.txt asks for is more than what was set.
    let body = format!("{{\"name\": \"{}\", \"delay\": \"100ms\"}}", web.address(1));
    let bearer = format!(
        "Authorization: Bearer {}\r\nContent-Type: application/json\r\n",
        crate::served::TOKEN
    );
    let reply = served.send(&served.request("POST", "/api/sites/delay", &bearer, &body))?;
    ensure!(reply.status == 200 && reply.text().contains("0.1"), "{} {}", reply.head, reply.text());
    let running = rig.start_crawl("data", &[&web.url(1, "/3")])?;
    wait_until("some are asked", SHORT_LIMIT, || Ok(web.seen(1).len() >= 4))?;
    web.keeps_pause(1, Duration::from_millis(1_990))?;
    drop(running);
    served.answers("delays")
}
