//! Series of pages without end beside honest sites: the series are left alone in time, shown and forgiven;
//! no honest page is lost.

use crate::nameserver::{NameServer, Said};
use crate::rig::{Rig, SHORT_LIMIT, count, some};
use crate::sites::Dice;
use crate::watched::{Answer, Asked, Watched, loopback};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use xtask::process::wait_until;

/// Requests into a trap, robots.txt included.
const MOST: usize = 200;

fn words(seed: &str, count: usize, of: u64) -> String {
    let mut dice = Dice::new(seed.bytes().fold(7, |h, b| h * 31 % 1_000_003 + u64::from(b)));
    let word = |n: u64| {
        let part = |n: u64| ["ba", "ke", "li", "mo", "ru", "ta", "vi", "zo"][(n % 8) as usize];
        format!("{}{}{}{}", part(n), part(n / 8), part(n / 64), part(n / 512))
    };
    (0..count).map(|_| word(dice.below(of))).collect::<Vec<_>>().join(" ")
}

fn html(title: &str, text: &str, links: &[String]) -> Answer {
    let links: String =
        links.iter().map(|to| format!("<li><a href=\"{to}\">see also</a></li>")).collect();
    let nav = "<p><a href=\"/\">Home</a> <a href=\"/imprint\">Imprint</a></p>";
    Answer::html(format!(
        "<!doctype html><title>{title}</title>{nav}<h1>{title}</h1><p>{text}</p><ul>{links}</ul>"
    ))
}

fn number(path: &str, before: &str) -> Option<u64> {
    let (_, rest) = path.split_once(before)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

const TRAPS: usize = 8;

/// Endless, each in its own way.
fn trap(kind: usize, path: &str) -> Answer {
    let same = "Everything about our products and where to find them in the shop around the corner";
    let list = |links: Vec<String>| links;
    match kind {
        // A calendar with a page for every day.
        0 => {
            let month = number(path, "m=").unwrap_or(0);
            let to = |m: u64| format!("/cal?m={m}");
            let days = (1..29).map(|d| format!("/cal?m={month}&d={d}"));
            let links = [to(month + 1), to(month.max(1) - 1)].into_iter().chain(days).collect();
            html(
                &format!("Month {month}"),
                "There are no events in this month, sorry",
                &list(links),
            )
        }
        // A relative link that makes the path longer.
        1 => html("Products", same, &["more/".to_owned(), "shop/more/".to_owned()]),
        // A new session in every link.
        2 => {
            let page = number(path, "/page").unwrap_or(0) % 20;
            let session = words(path, 2, 4000).replace(' ', "");
            let to = |n: u64| format!("/s-{session}/page{}", (page * 3 + n) % 20);
            html(
                &format!("Page {page}"),
                &words(&page.to_string(), 80, 900),
                &[to(1), to(2), to(3)],
            )
        }
        // Parameters in any combination.
        3 => {
            let query = path.split_once('?').map_or("", |(_, query)| query);
            let with = |more: &str| format!("/find?{query}&{more}");
            let links: Vec<String> = ["a=1", "a=2", "b=1", "b=2", "c=1"].map(with).into();
            html("Results", same, &links)
        }
        // A maze of made-up text, of few words and of many.
        4 | 5 => {
            let of = if kind == 4 { 300 } else { 4096 };
            let mut dice =
                Dice::new(path.bytes().fold(3, |h, b| h * 131 % 1_000_003 + u64::from(b)));
            let links: Vec<String> =
                (0..6).map(|_| format!("/maze/{:x}", dice.roll() >> 16)).collect();
            html(&words(path, 3, of), &words(path, 150, of), &links)
        }
        // Whatever is asked for is not found, says a page with a good status.
        6 => {
            let name = words(path, 3, 4000);
            let links: Vec<String> = name.split(' ').map(|w| format!("{w}/{w}.html")).collect();
            html("Not found", "We are sorry, there is nothing here; have a look elsewhere", &links)
        }
        // Every page redirects to a new address of the same text.
        _ => {
            // Kept small: the number grows twentyfold with every step.
            let n = number(path, "?n=").unwrap_or(0) % 1_000_000_000_000_007;
            if path.starts_with("/go") {
                return Answer::to(&format!("/land?n={}", n * 7 + 1));
            }
            let links: Vec<String> = (0..3).map(|i| format!("/go?n={}", n * 3 + i)).collect();
            html("Landed", same, &links)
        }
    }
}

const HONEST: usize = 4;

/// Finite, and each looking like a trap in one way.
fn honest(kind: usize, path: &str) -> Answer {
    let none = || Answer::status(404);
    match kind {
        // Lists known only from the list before, and articles known only from the lists.
        0 => match (number(path, "page="), number(path, "/article/")) {
            (_, Some(n)) if n < 800 => html(&words(path, 3, 4000), &words(path, 120, 900), &[]),
            (Some(n), _) if n < 80 => {
                let mut links: Vec<String> =
                    (0..10).map(|i| format!("/article/{}", n * 10 + i)).collect();
                links.extend((n < 79).then(|| format!("/list?page={}", n + 1)));
                html("All articles", "The older ones are at the end", &links)
            }
            _ if path == "/" => html("Start", "Welcome", &["/list?page=0".to_owned()]),
            _ => none(),
        },
        // A deep tree of folders with the same names, and little text.
        1 => {
            let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            if parts.len() > 6 || parts.iter().any(|part| !["lib", "doc", "src"].contains(part)) {
                return none();
            }
            let down = ["lib/", "doc/", "src/"].map(str::to_owned);
            html(path, &words(path, 40, 600), if parts.len() < 6 { &down } else { &[] })
        }
        // Pages that say next to nothing and refer to each other.
        2 => match number(path, "/p").or((path == "/").then_some(0)) {
            Some(n) if n < 300 => {
                let to = |i: u64| format!("/p{}", (n * 17 + i * i * 7 + 1) % 300);
                html("Page", "", &[to(0), to(1), to(2), to(3), format!("/p{}", (n + 1) % 300)])
            }
            _ => none(),
        },
        // A tree whose text is drawn from few words.
        _ => {
            let name = path.trim_start_matches('/');
            if name.len() > 4 || name.bytes().any(|b| !(b'a'..=b'e').contains(&b)) {
                return none();
            }
            let down: Vec<String> = ["a", "b", "c", "d", "e"].map(|l| format!("/{name}{l}")).into();
            html(name, &words(path, 80, 120), if name.len() < 4 { &down } else { &[] })
        }
    }
}

/// What an honest site has, by an independent walk.
fn pages_of(kind: usize) -> BTreeSet<String> {
    let mut known = BTreeSet::from(["/".to_owned()]);
    let mut left = vec!["/".to_owned()];
    let mut found = BTreeSet::new();
    while let Some(path) = left.pop() {
        let Answer::Whole { status: 200, body, .. } = honest(kind, &path) else { continue };
        found.insert(path.clone());
        for piece in String::from_utf8_lossy(&body).split("href=\"").skip(1) {
            let to = piece.split('"').next().unwrap_or_default();
            let to = if to.starts_with('/') { to.to_owned() } else { format!("{path}{to}") };
            if known.insert(to.clone()) {
                left.push(to);
            }
        }
    }
    found
}

fn served(asked: &Asked) -> Answer {
    match asked.path.as_str() {
        "/robots.txt" | "/imprint" => Answer::status(404),
        path if asked.host < TRAPS => trap(asked.host, path),
        path => honest(asked.host - TRAPS, path),
    }
}

#[test]
fn traps_are_left_alone_in_time_and_no_honest_page_is_lost() -> Result<()> {
    let Some(rig) = Rig::new("traps", &[])? else { return Ok(()) };
    let addresses: Vec<_> = (0..TRAPS + HONEST).map(|n| loopback(100 + n as u8)).collect();
    let web = Watched::start(&addresses, served)?;
    let starts: Vec<String> = (0..addresses.len()).map(|host| web.url(host, "/")).collect();
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let told = rig.crawl("data", &starts)?;
    ensure!(told["ended"] == "done" && count(&told, "queued")? == 0, "the summary says {told}");
    ensure!(count(&told["skipped"], "trap")? > 100, "the summary says {told}");
    for kind in 0..TRAPS {
        let asked = web.seen(kind).len();
        ensure!((40..=MOST).contains(&asked), "trap {kind} was asked {asked} times");
    }
    for kind in 0..HONEST {
        let asked: BTreeSet<String> = web.paths(TRAPS + kind).into_keys().collect();
        let missed: Vec<String> =
            pages_of(kind).into_iter().filter(|p| !asked.contains(p)).collect();
        ensure!(missed.is_empty(), "of honest site {kind} missed {}", some(missed));
    }

    // Each is shown with what speaks against it, and nothing of the honest ones is.
    let sites = rig.rows("data", &["sites"])?;
    let of = |host: usize| {
        let origin = web.url(host, "");
        sites.iter().find(|row| row["host"] == origin.as_str()).context("no row of a host")
    };
    for kind in 0..TRAPS {
        let row = of(kind)?;
        ensure!(row["state"] == "trap" && row["suspicion"] == 100, "sites says {row}");
        let paused = row["traps"].as_array().context("no traps")?;
        let paused: Vec<_> = paused.iter().filter(|trap| trap["state"] == "paused").collect();
        let whole = |trap: &&&serde_json::Value| {
            trap["examples"].as_array().is_some_and(|all| !all.is_empty())
                && (trap["line"].as_u64().is_some_and(|line| line >= 20)
                    || trap["shuffled"].as_u64().is_some_and(|turned| turned >= 36))
        };
        ensure!(!paused.is_empty() && paused.iter().all(|t| whole(&t)), "sites says {row}");
    }
    for kind in 0..HONEST {
        let row = of(TRAPS + kind)?;
        ensure!(row["state"] == "ok", "sites says {row}");
    }
    let table = rig.run("data", &["sites"])?.ok()?.out_text();
    ensure!(
        table.contains("sites forgive '") && table.contains("found one on the other"),
        "{table}"
    );
    let next = web.url(1, "/more/shop/more/more/more/");
    let why = rig.rows("data", &["explain", &next])?;
    ensure!(!why.is_empty(), "explain says nothing");
    rig.verify("data")?;

    // It is remembered: who goes on asks for nothing more.
    let before = web.all().len();
    rig.crawl("data", &starts)?;
    ensure!(web.all().len() <= before + starts.len(), "asked again: {}", web.all().len() - before);

    // Forgiven, it is asked for, and not judged again.
    let row = of(1)?;
    let pattern = row["traps"][0]["pattern"].as_str().context("no pattern")?.to_owned();
    let said = rig.run("data", &["sites", "forgive", &pattern])?.ok()?;
    ensure!(said.err.contains("asked again"), "forgive says {}", said.err);
    let already = web.seen(1).len();
    let mut running = rig.start_crawl("data", &[])?;
    wait_until("it is asked for again", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(web.seen(1).len() >= already + 2 * MOST)
    })?;
    // By hand it comes to an end at once.
    let name = web.address(1).to_string();
    rig.run("data", &["sites", "exclude", &name])?.ok()?;
    let told = running.wait(SHORT_LIMIT)?.ok().context("it ends")?;
    ensure!(told.out_text().contains("\"ended\":\"done\""), "{}", told.out_text());
    rig.verify("data")
}

#[test]
fn mirrors_under_ever_new_names_are_left_alone() -> Result<()> {
    let Some(rig) = Rig::new("mirrors", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(131)], |asked| {
        let host = asked
            .head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("host: ").map(str::to_owned));
        let host = host.unwrap_or_default();
        let port = host.rsplit(':').next().unwrap_or("80").to_owned();
        let n = number(&host, "m").unwrap_or(0);
        match asked.path.as_str() {
            "/robots.txt" | "/imprint" => Answer::status(404),
            path => {
                let page = number(path, "/p").unwrap_or(0);
                let to = |i: u64| format!("http://m{}.mirrors.test:{port}/p{i}", n * 4 + i + 1);
                let links: Vec<String> = (0..4).map(to).collect();
                html(&format!("Page {page}"), &words(&page.to_string(), 90, 4000), &links)
            }
        }
    })?;
    let names = NameServer::start(|question, _| match question.name.ends_with("mirrors.test") {
        true => Said::Addresses(vec![loopback(131)], 3600),
        false => Said::Unknown(20),
    })?;
    let dns = names.setting();
    let start = format!("http://m0.mirrors.test:{}/p0", web.address(0).port());
    let told = rig.crawl("data", &["--set", &dns, &start])?;
    let asked = web.seen(0).len();
    ensure!(told["ended"] == "done" && asked <= MOST, "{asked} requests: {told}");
    ensure!(count(&told["skipped"], "trap")? > 0, "the summary says {told}");
    rig.verify("data")
}

#[test]
fn the_watch_for_traps_can_be_switched_off() -> Result<()> {
    let Some(rig) = Rig::new("traps-off", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(132)], |asked| match asked.path.as_str() {
        "/robots.txt" | "/imprint" => Answer::status(404),
        path => trap(1, path),
    })?;
    let told =
        rig.crawl("data", &["--set", "crawl.traps=false", "--max-pages", "400", &web.url(0, "/")])?;
    ensure!(count(&told, "fetched")? == 400, "the summary says {told}");
    ensure!(count(&told["skipped"], "trap")? == 0, "the summary says {told}");
    rig.verify("data")
}
