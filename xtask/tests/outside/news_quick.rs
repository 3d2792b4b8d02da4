//! `news quick`: a front page at once, as a person's browser would get it; nothing is stored.

use crate::rig::Rig;
use crate::watched::{Answer, Asked, Watched, loopback};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::Write;
use std::time::{Duration, Instant};

const TITLES: [&str; 6] = [
    "Spiders return to the northern woods after decades",
    "Parliament votes on the new budget late at night",
    "Two teams share the lead after a long match",
    "Scientists measure the silk of orb weavers",
    "Old bridge over the river closes for repairs",
    "Prices of bread rise for the third month",
];

fn front() -> String {
    let mut html = "<!doctype html><title>News</title><nav><a href=/about>About us</a></nav><main><h1>Sport</h1>".to_owned();
    for (n, title) in TITLES.iter().enumerate() {
        html += &format!(
            "<article><h2><a href='/sport/2026/11/16/story-number-{n}'>{title}</a></h2><p>What is known of story {n} so far, \
             in a sentence.</p><img src='/p{n}.jpg' width=400 height=300><time datetime='2026-11-16T0{n}:00:00Z'>today</time></article>"
        );
    }
    html + "</main>"
}

const FEED: &str = "<rss><channel><title>Feed News</title>\
    <item><title>One of the feed</title><link>/a/1</link><description>About one</description>\
    <pubDate>Mon, 16 Nov 2026 08:00:00 +0100</pubDate></item>\
    <item><title>Two of the feed</title><link>/a/2</link></item></channel></rss>";

fn answer(asked: &Asked, elsewhere: &str) -> Answer {
    match asked.path.as_str() {
        "/robots.txt" => Answer::text("User-agent: *\nCrawl-delay: 30\nDisallow: /closed\n"),
        "/" => Answer::html(front()),
        "/feed.xml" => Answer::of("application/rss+xml", FEED),
        "/few" => Answer::html(
            "<link rel=alternate type=application/rss+xml href=/feed.xml><p>Welcome to our site.",
        ),
        "/none" => Answer::html("<p>Nothing is here."),
        "/round" => Answer::to("/round"),
        "/lead" => Answer::html("<meta http-equiv=Refresh content='0; URL=\"/\"'>Please wait"),
        "/elsewhere" => Answer::to(elsewhere),
        "/picture" => Answer::of("image/png", *b"\x89PNG\r\n\x1a\n"),
        "/endless" => Answer::wild(|stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")?;
            loop {
                stream.write_all(&[b'x'; 65_536])?;
            }
        }),
        _ => Answer::status(404),
    }
}

#[test]
fn a_front_page_is_shown_at_once_and_nothing_is_stored() -> Result<()> {
    let Some(rig) = Rig::new("news_quick", &[])? else { return Ok(()) };
    let other = Watched::start(&[loopback(91)], |asked| answer(asked, "/"))?;
    let closed = Watched::start(&[loopback(93)], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::text("User-agent: argiope\nDisallow: /\n"),
        _ => Answer::html(front()),
    })?;
    let to = other.url(0, "/");
    let web = Watched::start(&[loopback(92)], move |asked| answer(asked, &to))?;
    let name = web.address(0).to_string();

    let began = Instant::now();
    let rows = quick(&rig, &[&name, "--allow-private"])?;
    // The pause that robots.txt asks of crawlers is not one between it and the page.
    ensure!(began.elapsed() < Duration::from_secs(10), "it took {:?}", began.elapsed());
    let titles: Vec<&str> = rows.iter().filter_map(|row| row["title"].as_str()).collect();
    ensure!(titles == TITLES, "{titles:?}");
    let first = &rows[0];
    ensure!(first["n"] == 1 && first["subject"] == "sport", "{first}");
    ensure!(first["url"] == web.url(0, "/sport/2026/11/16/story-number-0"), "{first}");
    ensure!(first["summary"].as_str().unwrap_or_default().starts_with("What is known"), "{first}");
    ensure!(first["time"] == "2026-11-16T00:00:00Z" && first["picture"] == web.url(0, "/p0.jpg"));
    web.saw_exactly(0, ["/robots.txt", "/"])?;

    let piped = run(&rig, &[&name, "--allow-private", "--limit", "2"])?.ok()?.out_text();
    ensure!(piped.contains(&format!("  1. {}\n", TITLES[0])) && !piped.contains('\x1b'), "{piped}");
    ensure!(!piped.contains(TITLES[2]), "{piped}");

    // A page that leads on by itself.
    let rows = quick(&rig, &[&web.url(0, "/lead"), "--allow-private"])?;
    ensure!(rows.len() == TITLES.len(), "{rows:?}");

    // Redirects lead to other hosts, which are asked for their rules too.
    let rows = quick(&rig, &[&web.url(0, "/elsewhere"), "--allow-private"])?;
    ensure!(rows.len() == TITLES.len(), "{rows:?}");
    other.saw_exactly(0, ["/robots.txt", "/"])?;

    // A page without headlines that names a feed, and a feed itself.
    for path in ["/few", "/feed.xml"] {
        let rows = quick(&rig, &[&web.url(0, path), "--allow-private"])?;
        ensure!(rows.len() == 2 && rows[0]["title"] == "One of the feed", "{path}: {rows:?}");
        ensure!(rows[0]["time"] == "2026-11-16T07:00:00Z", "{path}: {rows:?}");
        ensure!(rows[0]["url"] == web.url(0, "/a/1"), "{path}: {rows:?}");
    }

    let sport = quick(&rig, &[&name, "--allow-private", "--subject", "deportes"])?;
    ensure!(sport.len() == TITLES.len());
    for (args, code, words) in [
        (vec!["/none", "--allow-private"], 1, "no headlines were found"),
        (vec!["/round", "--allow-private"], 1, "never arrives"),
        (vec!["/picture", "--allow-private"], 1, "image/png"),
        (vec!["/endless", "--allow-private"], 1, "larger than"),
        (vec!["/missing", "--allow-private"], 1, "404"),
        (
            vec!["/closed/x", "--allow-private"],
            1,
            "robots.txt forbids it (line 3: Disallow: /closed)",
        ),
        (vec!["/", "--allow-private", "--subject", "weather"], 1, "no headlines on weather"),
        (vec!["/", "--allow-private", "--open", "7"], 2, "1 to 6"),
        (vec!["/"], 1, "--allow-private"),
    ] {
        let url = web.url(0, args[0]);
        let args: Vec<&str> = [&[url.as_str()], &args[1..]].concat();
        fails(&rig, &args, code, words)?;
    }
    ensure!(!web.paths(0).contains_key("/closed/x"));
    fails(&rig, &[&closed.url(0, "/"), "--allow-private"], 1, "robots.txt forbids")?;
    closed.saw_exactly(0, ["/robots.txt"])?;
    fails(&rig, &["no site"], 2, "no site")?;
    fails(&rig, &["nowhere.invalid"], 1, "no address")?;
    ensure!(!rig.dir.join("data").exists(), "a data directory was made");
    Ok(())
}

fn run(rig: &Rig, args: &[&str]) -> Result<xtask::process::Finished> {
    rig.run("data", &[&["news", "quick"], args].concat())
}

fn quick(rig: &Rig, args: &[&str]) -> Result<Vec<Value>> {
    rig.rows("data", &[&["news", "quick"], args].concat())
}

fn fails(rig: &Rig, args: &[&str], code: i32, words: &str) -> Result<()> {
    let done = run(rig, args)?;
    let said = done.last_words();
    ensure!(done.code == Some(code), "{args:?}: {:?}: {said}", done.code);
    ensure!(said.contains(words), "{args:?} says: {said}");
    said.lines().last().map(|_| ()).context("it says nothing")
}
