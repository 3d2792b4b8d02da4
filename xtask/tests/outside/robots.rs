//! What a site asks of robots is done: what is forbidden is not asked for, what must not be
//! followed is not followed, and what a sitemap names is found.

use crate::rig::{Rig, count};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::process;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A group for others, our own group below it, and lines between that mean nothing.
const RULES: &str = "\
# everyone else is kept out
User-agent: *
Disallow: /

Strange-line: yes
User-agent: argiope
User-agent: somebody-else
Disallow: /private/
Allow: /private/open
Disallow: /*.cgi$
Disallow: /caf%C3%A9

User-agent: webster
Disallow: /*
Allow: /$
Allow: /fine
";

#[test]
fn what_robots_txt_forbids_is_never_asked_for_and_explain_names_the_line() -> Result<()> {
    let Some(rig) = Rig::new("robots-rules", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(1)], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::text(RULES),
        "/" => page(
            "index",
            [
                "/private/",
                "/private/a",
                "/private/open",
                "/do.cgi",
                "/do.cgi?x=1",
                "/PRIVATE/",
                "/caf\u{e9}",
                "/jump",
                "/fine",
                "/%70rivate/b",
                "/x/../private/c",
            ],
        ),
        // Not even a redirect leads there.
        "/jump" => Answer::to("/private/by-jump"),
        path => page(path, ["/private/deeper"]),
    })?;
    rig.crawl("data", &[&hosts.url(0, "/")])?;
    let allowed = ["/robots.txt", "/", "/private/open", "/do.cgi?x=1", "/PRIVATE/", "/jump"];
    hosts.saw_exactly(0, allowed.into_iter().chain(["/fine"]))?;

    let said = |path: &str| -> Result<String> {
        let rows = rig.rows("data", &["explain", &hosts.url(0, path)])?;
        let row = rows.iter().find(|row| row["rule"] == "robots").context("no row of robots")?;
        Ok(format!("{} {}", row["verdict"], row["detail"]).replace('"', ""))
    };
    for (path, start) in [
        ("/private/a", "no line 8: Disallow: /private/"),
        ("/private/by-jump", "no line 8: Disallow: /private/"),
        ("/private/never-met", "no line 8: Disallow: /private/"),
        ("/private/open", "yes line 9: Allow: /private/open"),
        ("/do.cgi", "no line 10: Disallow: /*.cgi$"),
        ("/caf%C3%A9", "no line 11: Disallow: /caf%C3%A9"),
        ("/fine", "yes no rule speaks of it"),
    ] {
        let said = said(path)?;
        ensure!(said.starts_with(start), "explain {path} says {said}, not {start}");
    }
    let text = rig.run("data", &["explain", &hosts.url(0, "/private/a")])?.ok()?.out_text();
    ensure!(text.contains("Disallow: /private/"), "the text for people: {text}");

    // Another name, other rules.
    let before = hosts.all().len();
    rig.crawl("renamed", &[&hosts.url(0, "/"), "--set", "fetch.user_agent=Webster/2.0 (test)"])?;
    let asked: Vec<String> = hosts.all().drain(before..).map(|seen| seen.path).collect();
    ensure!(asked == ["/robots.txt", "/", "/fine"], "as Webster it asked for {asked:?}");

    // Ignoring robots.txt is possible, and only when told so.
    rig.crawl("ignoring", &[&hosts.url(0, "/"), "--robots", "ignore"])?;
    let asked = hosts.paths(0);
    ensure!(asked.contains_key("/private/a"), "--robots ignore still obeys");
    ensure!(asked["/robots.txt"] == 2, "--robots ignore asked for robots.txt");
    Ok(())
}

#[test]
fn links_that_must_not_be_followed_are_not() -> Result<()> {
    let Some(rig) = Rig::new("nofollow", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(1)], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => Answer::html(
            "<a href=/meta>1</a><a href=/meta-ours>2</a><a href=/meta-theirs>3</a>\
             <a href=/noindex>4</a><a href=/header>5</a><a href=/header-theirs>6</a>\
             <a href=/a rel=nofollow>7</a><a href=/b rel='external NoFollow ugc'>8</a>\
             <a href=/none>9</a><a href=/both rel=nofollow>10</a><a href=/both>11</a>",
        ),
        "/meta" => Answer::html("<meta name=ROBOTS content='noarchive, NOFOLLOW'><a href=/c>c</a>"),
        "/meta-ours" => Answer::html("<meta name=argiope content=nofollow><a href=/d>d</a>"),
        "/meta-theirs" => Answer::html("<meta name=otherbot content=nofollow><a href=/ok1>1</a>"),
        "/noindex" => Answer::html("<meta name=robots content=noindex><a href=/ok2>2</a>"),
        "/header" => Answer::html("<a href=/e>e</a>").header("X-Robots-Tag: noindex, nofollow"),
        "/header-theirs" => {
            Answer::html("<a href=/ok3>3</a>").header("X-Robots-Tag: otherbot: nofollow")
        }
        "/none" => Answer::html("<meta name=robots content=none><a href=/f>f</a>"),
        path => page(path, ["/"]),
    })?;
    rig.crawl("data", &[&hosts.url(0, "/")])?;
    let pages = ["/", "/meta", "/meta-ours", "/meta-theirs", "/noindex", "/header", "/none"];
    let followed = ["/robots.txt", "/header-theirs", "/both", "/ok1", "/ok2", "/ok3"];
    hosts.saw_exactly(0, pages.into_iter().chain(followed))
}

const GOOD: usize = 0;
const MISSING: usize = 1;
const RECOVERS: usize = 2;
const BROKEN: usize = 3;
const MOVED: usize = 4;
const MOVED_AWAY: usize = 5;
const TARGET: usize = 6;
const ENDLESS: usize = 7;
const DRIPPING: usize = 8;
const RESET: usize = 9;
const LOOPING: usize = 10;
const GOOD_PAGES: usize = 60;

/// A robots.txt for every temper; the pages behind are all alike.
fn tempers(asked: &Asked, target: &str) -> Answer {
    let forbids = || Answer::text("User-agent: *\nDisallow: /no\n");
    match (asked.host, asked.path.as_str()) {
        (MISSING, "/robots.txt") => Answer::status(404),
        (RECOVERS, "/robots.txt") if asked.before < 2 => Answer::status(503),
        (BROKEN, "/robots.txt") => Answer::status(500),
        (MOVED, "/robots.txt") => Answer::to("/rules/robots.txt"),
        (MOVED, "/rules/robots.txt") => forbids(),
        (MOVED_AWAY, "/robots.txt") => Answer::to(target),
        (TARGET, "/shared-rules.txt") => forbids(),
        (LOOPING, "/robots.txt") => Answer::to("/robots.txt?again"),
        (LOOPING, "/robots.txt?again") => Answer::to("/robots.txt"),
        // It allows what follows and then goes on for ever.
        (ENDLESS, "/robots.txt") => Answer::wild(|stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")?;
            stream.write_all(b"User-agent: *\nDisallow: /no\n")?;
            loop {
                stream.write_all(&[b'#'; 16_384])?;
            }
        }),
        (DRIPPING, "/robots.txt") => Answer::wild(|stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")?;
            loop {
                stream.write_all(b"#")?;
                std::thread::sleep(ms(50));
            }
        }),
        (RESET, "/robots.txt") => Answer::wild(|_| Ok(())),
        (_, "/robots.txt") => forbids(),
        (GOOD, "/") => page("good", (1..GOOD_PAGES).map(|n| format!("/{n}"))),
        (_, "/") => page("index", ["/a", "/no"]),
        (_, path) => page(path, ["/"]),
    }
}

#[test]
fn robots_txt_of_every_temper_is_understood_and_holds_nobody_else_up() -> Result<()> {
    let Some(rig) = Rig::new("robots-tempers", &[])? else { return Ok(()) };
    let target = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let told = target.clone();
    let addresses = (1..=11).map(loopback).collect::<Vec<_>>();
    let hosts = Watched::start(&addresses, move |asked| {
        tempers(asked, told.get().map_or("", String::as_str))
    })?;
    target.get_or_init(|| hosts.url(TARGET, "/shared-rules.txt"));
    let mut settings = vec!["--allow-private", "--delay", "60ms", "--connections", "64"];
    settings.extend(["--set", "fetch.connect_timeout=2s", "--set", "fetch.page_timeout=2s"]);
    settings.extend(["--set", "crawl.retry_delay=100ms", "--set", "crawl.backoff=100ms"]);
    settings.extend(["--set", "crawl.backoff_max=300ms"]);

    let begin = Instant::now();
    rig.crawl_plain("alone", &[&settings[..], &[&hosts.url(GOOD, "/")]].concat())?;
    let alone = begin.elapsed();
    ensure!(hosts.seen(GOOD).len() == GOOD_PAGES + 1, "the good host was not crawled alone");

    let starts = hosts.starts();
    let all: Vec<&str> = starts.iter().map(String::as_str).collect();
    let begin = Instant::now();
    rig.crawl_plain("data", &[&settings[..], &all].concat())?;
    let good = hosts.seen(GOOD);
    ensure!(good.len() == 2 * (GOOD_PAGES + 1), "the good host was not crawled among the others");
    let among = good.last().context("a request")?.arrived - begin;
    ensure!(
        among <= alone * 2 + ms(1000),
        "the good host took {among:?} among strange ones and {alone:?} alone"
    );

    let usual = ["/robots.txt", "/", "/a"];
    for host in [MISSING, ENDLESS] {
        hosts.saw_exactly(host, usual.into_iter().chain((host == MISSING).then_some("/no")))?;
    }
    hosts.saw_exactly(RECOVERS, usual)?;
    let before = hosts.seen(RECOVERS).iter().take(3).all(|seen| seen.path == "/robots.txt");
    ensure!(before, "a page was asked for before robots.txt was to be had");
    hosts.saw_exactly(BROKEN, ["/robots.txt"])?;
    hosts.saw_exactly(MOVED, usual.into_iter().chain(["/rules/robots.txt"]))?;
    hosts.saw_exactly(MOVED_AWAY, usual)?;
    hosts.saw_exactly(TARGET, usual.into_iter().chain(["/shared-rules.txt"]))?;
    hosts.saw_exactly(DRIPPING, ["/robots.txt"])?;
    hosts.saw_exactly(RESET, ["/robots.txt"])?;
    let turns = hosts.seen(LOOPING).iter().filter(|s| s.path.starts_with("/robots.txt")).count();
    ensure!(turns <= 3 * 6, "{turns} requests for a robots.txt that leads nowhere");

    // The pause holds wherever a robots.txt led.
    for host in [GOOD, MISSING, RECOVERS, BROKEN, MOVED, MOVED_AWAY, TARGET, LOOPING] {
        let all = hosts.seen(host);
        let mine = all.iter().skip_while(|seen| seen.arrived < begin).collect::<Vec<_>>();
        for pair in mine.windows(2) {
            let pause = pair[1].arrived - pair[0].answered.context("a whole answer")?;
            ensure!(pause >= ms(60), "host {host}: {pause:?} before {}", pair[1].path);
        }
    }
    // Nothing ends unrecorded.
    for (host, outcome) in
        [(BROKEN, "server-error"), (DRIPPING, "timed-out"), (RESET, "connection-lost")]
    {
        let row = rig.doc("data", &hosts.url(host, "/"))?;
        ensure!(row["outcome"] == outcome, "host {host}: doc says {row}");
        let log = rig.crawl_log("data")?;
        let robots = hosts.url(host, "/robots.txt");
        let tries = log.iter().filter(|line| line.url == robots).collect::<Vec<_>>();
        ensure!(tries.len() == hosts.seen(host).len(), "host {host}: the log says {tries:?}");
        ensure!(tries.iter().all(|line| line.outcome == outcome), "the log says {tries:?}");
        ensure!(tries.iter().all(|line| line.ms <= 3000), "longer than its limit: {tries:?}");
    }
    Ok(())
}

#[test]
fn sitemaps_named_in_robots_txt_lead_to_pages_nobody_links_to() -> Result<()> {
    let Some(rig) = Rig::new("sitemaps", &["gzip"])? else { return Ok(()) };
    let urls = |origin: &str, paths: &[&str]| -> String {
        let urls = paths.iter().map(|path| format!("<url><loc>{origin}{path}</loc></url>"));
        format!(
            "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>",
            urls.collect::<String>()
        )
    };
    let packed = std::sync::Arc::new(std::sync::OnceLock::<Vec<u8>>::new());
    let (served, origin) = (packed.clone(), std::sync::OnceLock::<String>::new());
    let origin = std::sync::Arc::new(origin);
    let here = origin.clone();
    let hosts = Watched::start(&[loopback(1)], move |asked| {
        let here = here.get().map_or("", String::as_str);
        match asked.path.as_str() {
            "/robots.txt" => Answer::text(format!(
                "Sitemap: {here}/index.xml\nUser-agent: *\nDisallow: /kept-out\nSitemap: {here}/list.txt\n"
            )),
            "/index.xml" => Answer::of(
                "application/xml",
                format!(
                    "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
                     <sitemap><loc>{here}/a.xml</loc></sitemap>\
                     <sitemap><loc>{here}/b.xml.gz</loc></sitemap></sitemapindex>"
                ),
            ),
            "/a.xml" => Answer::of(
                "text/xml",
                urls(here, &["/from-xml", "/from-xml?x=1&amp;y=2", "/kept-out/x"]),
            ),
            "/b.xml.gz" => {
                Answer::of("application/gzip", served.get().cloned().unwrap_or_default())
            }
            "/list.txt" => Answer::text(format!("{here}/from-text\nhttp://192.0.2.7/elsewhere\n")),
            "/" => page("index", ["/linked"]),
            path => page(path, ["/"]),
        }
    })?;
    origin.get_or_init(|| hosts.url(0, ""));
    let plain = rig.dir.join("b.xml");
    std::fs::write(&plain, urls(&hosts.url(0, ""), &["/from-gzip", "/linked"]))?;
    process::output(Command::new("gzip").arg(&plain))?;
    let bytes = std::fs::read(rig.dir.join("b.xml.gz"))?;
    packed.get_or_init(|| bytes);

    let args = ["--allow-private", "--delay", "40ms", &hosts.url(0, "/")];
    let told = rig.crawl_plain("data", &args)?;
    hosts.keeps_pause(0, ms(40)).context("with sitemaps")?;
    let pages = ["/", "/linked", "/from-xml", "/from-xml?x=1&y=2", "/from-gzip", "/from-text"];
    let others = ["/robots.txt", "/index.xml", "/a.xml", "/b.xml.gz", "/list.txt"];
    hosts.saw_exactly(0, pages.into_iter().chain(others))?;
    ensure!(count(&told, "fetched")? >= pages.len() as u64, "the summary says {told}");
    for path in pages {
        let row = rig.doc("data", &hosts.url(0, path))?;
        ensure!(row["outcome"] == "fetched", "doc says {row}");
    }
    rig.verify("data")?;

    rig.crawl("without", &[&hosts.url(0, "/"), "--set", "crawl.sitemaps=false"])?;
    let asked = hosts.paths(0);
    ensure!(asked["/"] == 2 && asked["/from-text"] == 1, "crawl.sitemaps=false reads sitemaps");
    Ok(())
}
