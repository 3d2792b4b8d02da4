//! What others see of a crawl, and what it writes down: names and languages it sends, the rate at
//! which it takes, a line for every attempt.

use crate::rig::{Rig, count};
use crate::watched::{Answer, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn the_crawl_log_has_a_line_for_every_request() -> Result<()> {
    let Some(rig) = Rig::new("crawl-log", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(1), loopback(2)], |asked| {
        match (asked.path.as_str(), asked.before) {
            ("/robots.txt", _) => Answer::text("User-agent: *\nDisallow: /no\n"),
            ("/", _) => page("index", ["/a", "/gone", "/jump", "/again", "/no", "/lost", "/p.pdf"]),
            ("/gone", _) => Answer::status(410),
            ("/jump", _) => Answer::to("/a?jumped"),
            ("/again", 0) => Answer::status(500),
            ("/lost", _) => Answer::wild(|_| Ok(())),
            ("/a", _) => page("\u{201c}a\u{201d}", ["/typed"]),
            ("/typed", _) => Answer::of("application/zip", "PK\u{3}\u{4}"),
            (path, _) => page(path, ["/"]),
        }
    })?;
    let starts = hosts.starts();
    let mut args = vec!["--allow-private", "--delay", "5ms", "--set", "crawl.retry_delay=100ms"];
    args.extend(["--set", "crawl.backoff=50ms", "--set", "fetch.contact=someone@example.org"]);
    args.extend(["--set", "fetch.accept_language=de, en;q=0.5"]);
    args.extend(starts.iter().map(String::as_str));
    rig.crawl_plain("data", &args)?;

    // Requests that their host saw, and lines with the address that was asked.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for request in hosts.all() {
        *seen.entry(hosts.url(request.host, &request.path)).or_default() += 1;
    }
    ensure!(seen[&hosts.url(0, "/again")] == 2, "a failed page was not tried again");
    let lost = seen[&hosts.url(1, "/lost")];
    ensure!(lost == 3, "a lost page was asked for {lost} times instead of 3");
    let mut logged: BTreeMap<String, usize> = BTreeMap::new();
    for line in rig.crawl_log("data")? {
        *logged.entry(line.url).or_default() += 1;
    }
    ensure!(seen == logged, "the hosts saw {seen:?}, the log has {logged:?}");
    let log = rig.crawl_log("data")?;
    let find = |path: &str, nth: usize| {
        let url = hosts.url(0, path);
        log.iter().filter(|line| line.url == url).nth(nth).context("a line")
    };
    let a = find("/a", 0)?;
    ensure!(a.outcome == "fetched" && a.status == "200" && a.bytes > 50, "{a:?}");
    let jump = find("/jump", 0)?;
    ensure!(jump.outcome == "redirect" && jump.detail.ends_with("/a?jumped"), "{jump:?}");
    let again = (find("/again", 0)?, find("/again", 1)?);
    ensure!(again.0.status == "500" && again.1.status == "200", "{again:?}");

    // Everything that was sent said who asks, and in which languages.
    for request in hosts.all() {
        let head = request.head.to_ascii_lowercase();
        let said = |start: &str| head.lines().find_map(|line| line.strip_prefix(start));
        let agent = said("user-agent: ").context("no user agent")?;
        ensure!(agent.starts_with("argiope/"), "the user agent is {agent}");
        ensure!(agent.contains("(+someone@example.org)"), "the user agent is {agent}");
        let languages = said("accept-language: ").context("no language")?;
        ensure!(languages == "de, en;q=0.5", "the languages are {languages}");
    }
    Ok(())
}

#[test]
fn the_cap_on_bandwidth_is_kept_and_used() -> Result<()> {
    let Some(rig) = Rig::new("bandwidth", &[])? else { return Ok(()) };
    const PAGE: usize = 40_000;
    let hosts = Watched::start(&[1, 2, 3, 4].map(loopback), |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => page("index", (1..31).map(|n| format!("/{n}"))),
        _ => Answer::html("one word after another ".repeat(PAGE / 23)),
    })?;
    let starts = hosts.starts();
    let mut args = vec!["--connections-per-host", "4", "--set", "fetch.max_bandwidth=1MB"];
    args.extend(starts.iter().map(String::as_str));
    let told = rig.crawl("data", &args)?;
    ensure!(count(&told, "fetched")? == 4 * 31, "not every page: {told}");
    let seen = hosts.all();
    let (first, last) = (seen.first().context("a request")?, seen.last().context("a request")?);
    let took = last.arrived - first.arrived;
    let bytes = (4 * 30 * PAGE) as f64;
    let rate = bytes / took.as_secs_f64();
    // The last pages were still on their way when their requests came.
    ensure!(rate <= 1_200_000.0, "{rate:.0} bytes a second where 1,000,000 are allowed");
    ensure!(rate >= 700_000.0, "{rate:.0} bytes a second where 1,000,000 could be had");
    ensure!(took > Duration::from_secs(3), "too short to say: {took:?}");
    Ok(())
}
