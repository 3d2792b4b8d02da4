//! News collected by the real binary from the made-up news web, held against its truth.
//!
//! Twenty sites behind one socket: what is found and what is not, how it is grouped, what became of
//! edits, how polite it was. `ARGIOPE_SEED` gives another web; the figures stand on standard error.

use crate::rig::{CRAWL_LIMIT, Rig, knob, some};
use anyhow::{Context, Result, ensure};
use argiope_testweb::{NewsHit, NewsServed, NewsSpec, serve_news};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;
use xtask::news::{Figures, Tally, measure, plain};
use xtask::process::Running;

/// A served news web, and the flags it needs.
struct Newsroom {
    rig: Rig,
    served: NewsServed,
    hosts: String,
    _runtime: Runtime,
}

impl Newsroom {
    fn open(name: &str) -> Result<Option<Newsroom>> {
        let Some(rig) = Rig::new(name, &[])? else { return Ok(None) };
        let runtime = Runtime::new()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
        let spec = NewsSpec { seed: knob("ARGIOPE_SEED", 1)?, base_ms: now, port: 0 };
        let served = runtime.block_on(serve_news(spec))?;
        let names = served.web().hosts().into_iter().map(|host| format!("{host}=127.0.0.1"));
        let hosts = format!("fetch.hosts={}", names.collect::<Vec<_>>().join(","));
        Ok(Some(Newsroom { rig, served, hosts, _runtime: runtime }))
    }

    fn truth(&self) -> Value {
        self.served.web().truth()
    }

    /// Follows sites: all of them, or those with these names.
    fn follow(&self, only: &[&str]) -> Result<()> {
        let fronts = self.served.web().fronts();
        let wanted = |front: &&String| only.is_empty() || only.iter().any(|o| front.contains(o));
        let fronts = fronts.iter().filter(wanted).map(String::as_str);
        let args: Vec<&str> = ["news", "sites", "add"].into_iter().chain(fronts).collect();
        self.rig.run("data", &args)?.ok().context("news sites add")?;
        Ok(())
    }

    fn start(&self, command: &[&str], name: &str) -> Result<Running> {
        let always = ["--allow-private", "--delay", "0s", "--set", &self.hosts];
        let args = [&["--format", "json"], command, &always].concat();
        Running::start(&mut self.rig.argiope("data", &args), &self.rig.dir, name)
    }

    /// A round to its end.
    fn collect(&self, args: &[&str]) -> Result<Value> {
        let running = self.start(&[&["news", "collect"], args].concat(), "collect")?;
        let done = running.wait(CRAWL_LIMIT)?.ok().context("news collect")?;
        let out = done.out_text();
        let last = out.lines().last().context("news collect said nothing")?;
        serde_json::from_str(last).with_context(|| format!("not JSON: {last}"))
    }

    /// Every article that was collected.
    fn articles(&self) -> Result<Vec<Value>> {
        self.rig.rows("data", &["news", "list", "--articles", "--limit", "100000"])
    }

    fn figures(&self) -> Result<(Figures, Vec<Value>)> {
        let rows = self.articles()?;
        Ok((measure(&self.truth(), &rows), rows))
    }

    fn hits(&self, host: &str) -> Vec<NewsHit> {
        let all = self.served.hits();
        all.into_iter().filter(|hit| hit.host == host || host.is_empty()).collect()
    }
}

/// Says something past the test runner's capture.
fn tell(text: &str) -> Result<()> {
    std::io::stderr().write_all(text.as_bytes()).context("write to standard error")
}

fn at_least(what: &str, tally: Tally, least: f64, mistakes: &[String]) -> Result<()> {
    let (precision, recall) = (tally.precision(), tally.recall());
    ensure!(
        precision >= least && recall >= least,
        "{what}: precision {precision:.3}, recall {recall:.3}, less than {least}; {}",
        some(mistakes)
    );
    Ok(())
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

fn list<'v>(row: &'v Value, key: &str) -> &'v [Value] {
    row[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The collected rows by the URL of the truth.
fn by_url(rows: &[Value]) -> BTreeMap<String, &Value> {
    rows.iter().map(|row| (plain(text(row, "url")), row)).collect()
}

#[test]
fn news_of_twenty_sites_are_collected_grouped_and_followed_through_their_edits() -> Result<()> {
    let Some(room) = Newsroom::open("news")? else { return Ok(()) };
    room.follow(&[])?;
    let began = Instant::now();
    let told = room.collect(&[])?;
    let (figures, rows) = room.figures()?;
    let mistakes: String = figures.mistakes.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(room.rig.dir.join("mistakes"), mistakes)?;
    tell(&format!(
        "news: {} requests in {:.1?}\n{}",
        room.served.hits().len(),
        began.elapsed(),
        figures.table()
    ))?;
    polite(&room)?;
    let of = |what: &str| -> Vec<String> {
        figures.mistakes.iter().filter(|line| line.starts_with(what)).cloned().collect()
    };
    ensure!(told["ended"] == "done", "{told}");
    let wrong = [of("missed"), of("no article"), of("twice")].concat();
    at_least("articles", figures.all_articles(), 0.95, &wrong)?;
    at_least("titles", figures.titles, 0.95, &of("title"))?;
    at_least("dates", figures.dates, 0.9, &of("date"))?;
    at_least("authors", figures.authors, 0.8, &of("author"))?;
    at_least("pairs", figures.all_pairs(), 0.9, &[of("joined"), of("parted")].concat())?;
    // Sections have hosts of their own, and belong to the site.
    for site in ["northmoor-daily.test", "lindenberger-rundschau.test", "nanjiang-news.test"] {
        let elsewhere = rows.iter().filter(|row| text(row, "site") == site);
        let elsewhere = elsewhere.filter(|row| !text(row, "url").contains("//www.")).count();
        ensure!(elsewhere >= 5, "{elsewhere} articles on the section hosts of {site}");
    }
    edits(&room, 2)?;
    room.rig.verify("data")
}

/// What nobody may ask for was not asked for, and pauses were kept.
fn polite(room: &Newsroom) -> Result<()> {
    let truth = room.truth();
    for site in list(&truth, "sites") {
        let host = format!("www.{}", text(site, "site"));
        let hits = room.hits(&host);
        if let Some(path) = site["forbidden"].as_str() {
            ensure!(!hits.is_empty(), "{host} was not asked for anything");
            let asked = hits.iter().filter(|hit| hit.path.starts_with(path));
            ensure!(asked.count() == 0, "{host} was asked for what robots.txt forbids");
        }
        if let Some(path) = site["old_sitemap"].as_str() {
            let asked = hits.iter().filter(|hit| hit.path.starts_with(path)).count();
            ensure!(asked == 0, "{asked} old pages of {host} were asked for");
        }
        if site["crawl_delay"].is_number() {
            let after_robots = hits.iter().position(|hit| hit.path == "/robots.txt");
            let hits = &hits[after_robots.context("no robots.txt was read")?..];
            for pair in hits.windows(2) {
                let pause = pair[1].began.saturating_sub(pair[0].ended);
                let both = format!("{} and {}", pair[0].path, pair[1].path);
                ensure!(pause >= Duration::from_millis(950), "{host}: {pause:?} between {both}");
            }
        }
    }
    let known: BTreeSet<String> = room.served.web().hosts().into_iter().collect();
    let strange: BTreeSet<String> =
        room.served.hits().into_iter().map(|hit| hit.host).filter(|h| !known.contains(h)).collect();
    ensure!(strange.is_empty(), "hosts that are not followed were asked: {strange:?}");
    Ok(())
}

/// Later editions: what was edited has a version more, what was not has none.
fn edits(room: &Newsroom, editions: u32) -> Result<()> {
    for _ in 0..editions {
        room.served.web().next_edition();
        room.collect(&[])?;
        let (figures, rows) = room.figures()?;
        let truth = room.truth();
        tell(&format!("news, edition {}:\n{}", truth["edition"], figures.table()))?;
        let found = by_url(&rows);
        let (mut missed, mut extra, mut edited) = (Vec::new(), Vec::new(), Vec::new());
        for article in list(&truth, "articles") {
            let Some(row) = found.get(text(article, "url")) else { continue };
            let (versions, wanted) = (row["versions"].as_u64(), article["version"].as_u64());
            let is_now = article["changed_in"] == truth["edition"] && wanted > Some(1);
            match versions.cmp(&wanted) {
                std::cmp::Ordering::Less => missed.push(text(article, "url").to_owned()),
                std::cmp::Ordering::Greater => extra.push(text(article, "url").to_owned()),
                std::cmp::Ordering::Equal if is_now => edited.push(article),
                std::cmp::Ordering::Equal => {}
            }
        }
        tell(&format!(
            "edits found {}, missed {}, versions without an edit {}\n",
            edited.len(),
            missed.len(),
            extra.len()
        ))?;
        ensure!(missed.is_empty(), "edits without a version: {}", some(missed));
        ensure!(extra.is_empty(), "versions without an edit: {}", some(extra));
        ensure!(edited.len() >= 5, "only {} edits", edited.len());
        for article in edited.iter().take(6) {
            let url = text(article, "url");
            let row = found.get(url).context("a row")?;
            ensure!(row["title"] == article["title"], "{row} is not {}", article["title"]);
            ensure!(row["updated"].is_string(), "no time of the change: {row}");
            let history = room.rig.rows("data", &["history", text(row, "url")])?;
            ensure!(history.len() >= 2, "{url} has {} versions in its history", history.len());
            let diff = room.rig.run("data", &["diff", text(row, "url")])?.ok()?.out_text();
            let shown = diff.contains("{+") || diff.contains("[-");
            ensure!(shown, "the {} of {url} is not shown: {diff}", article["change"]);
            // With the article, its earlier selves, and no other words than those that were edited.
            let number = row["story"].as_u64().context("a story")?.to_string();
            let told = room.rig.rows("data", &["news", "list", "--story", &number])?;
            let told = told.iter().find(|told| told["doc"] == row["doc"]).context("the article")?;
            let past = list(told, "past");
            ensure!(
                Some(past.len() as u64 + 1) == row["versions"].as_u64(),
                "{url}: {past:?} of {row}"
            );
            let before = past.last().context("no earlier self")?;
            let words = (&before["title"], &before["text"]);
            ensure!(words != (&told["title"], &told["text"]), "{url} was as it is: {before}");
            let shown =
                room.rig.run("data", &["news", "list", "--story", &number])?.ok()?.out_text();
            ensure!(shown.contains("{+") || shown.contains("[-"), "no change is shown: {shown}");
        }
        at_least("articles", figures.all_articles(), 0.95, &figures.mistakes)?;
        at_least("pairs", figures.all_pairs(), 0.9, &figures.mistakes)?;
    }
    Ok(())
}

#[test]
fn a_watch_finds_an_edit_within_a_cycle() -> Result<()> {
    let Some(room) = Newsroom::open("news-watch")? else { return Ok(()) };
    let sites = ["harbour-courier", "valley-post", "nordauer-tagblatt", "changhe-daily"];
    room.follow(&sites)?;
    room.collect(&[])?;
    let watch = room.start(&["watch", "--set", "news.cycle=2s"], "watch")?;
    std::thread::sleep(Duration::from_secs(6));
    room.served.web().next_edition();
    let turned = room.served.started().elapsed();
    let truth = room.truth();
    let known: BTreeSet<String> =
        by_url(&room.articles()?).keys().cloned().collect::<BTreeSet<String>>();
    let edited: Vec<&str> = list(&truth, "articles")
        .iter()
        .filter(|article| article["changed_in"] == 1 && article["version"] == 2)
        .map(|article| text(article, "url"))
        .filter(|url| known.contains(*url))
        .collect();
    ensure!(!edited.is_empty(), "nothing was edited at {sites:?}");
    // A cycle, and what a busy machine adds to it.
    let limit = Instant::now() + Duration::from_secs(60);
    let asked_again = |url: &str| {
        let found = room.served.hits().into_iter().find(|hit| {
            let at = format!("http://{}:{}{}", hit.host, room.served.address().port(), hit.path);
            hit.began >= turned && at == url && hit.status == 200
        });
        found.map(|hit| hit.began - turned)
    };
    while Instant::now() < limit && !edited.iter().all(|url| asked_again(url).is_some()) {
        std::thread::sleep(Duration::from_millis(200));
    }
    let late: Vec<_> = edited.iter().filter(|url| asked_again(url).is_none()).collect();
    ensure!(late.is_empty(), "not asked for again: {late:?}");
    let longest = edited.iter().filter_map(|url| asked_again(url)).max().unwrap_or_default();
    tell(&format!("watch: {} edits asked for within {longest:.1?} (cycle 2 s)\n", edited.len()))?;
    ensure!(longest < Duration::from_secs(15), "an edit was asked for only after {longest:?}");
    let seen = loop {
        let rows = room.articles()?;
        let found = by_url(&rows);
        let unseen: Vec<&&str> =
            edited.iter().filter(|url| found[**url]["versions"] != 2).collect();
        if unseen.is_empty() || Instant::now() > limit {
            break unseen.len();
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    ensure!(seen == 0, "{seen} edits are no version");
    let sent = Command::new("kill").arg("-TERM").arg(watch.id().to_string()).status()?;
    ensure!(sent.success(), "the watch is not there any more");
    watch.wait(CRAWL_LIMIT)?.ok()?;
    room.rig.verify("data")
}

#[test]
fn a_round_that_was_killed_loses_nothing_and_has_nothing_twice() -> Result<()> {
    let Some(room) = Newsroom::open("news-kill")? else { return Ok(()) };
    let sites = ["harbour-courier", "northmoor-daily", "coastline-today", "donghu-times"];
    room.follow(&sites)?;
    let mut kills = 0;
    while kills < 3 {
        let mut run = room.start(&["news", "collect"], "collect-killed")?;
        let before = room.served.hits().len();
        // In the middle: some pages after the start, wherever that is.
        let limit = Instant::now() + Duration::from_secs(60);
        while run.is_running()?
            && room.served.hits().len() < before + 12 * (kills + 1)
            && Instant::now() < limit
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        if !run.is_running()? {
            break;
        }
        run.kill()?;
        kills += 1;
    }
    ensure!(kills >= 1, "it was over before it could be killed");
    room.collect(&[])?;
    let (mut figures, rows) = room.figures()?;
    figures.articles.retain(|site, _| sites.iter().any(|name| site.contains(name)));
    let wrong: Vec<String> = figures
        .mistakes
        .iter()
        .filter(|line| line.starts_with("twice") || line.starts_with("no article"))
        .cloned()
        .collect();
    tell(&format!("news, killed {kills} times: {:?}\n", figures.all_articles()))?;
    at_least("articles after kills", figures.all_articles(), 0.95, &wrong)?;
    let docs: BTreeSet<u64> = rows.iter().filter_map(|row| row["doc"].as_u64()).collect();
    ensure!(docs.len() == rows.len(), "an article is listed twice");
    room.rig.verify("data")
}

#[test]
fn only_articles_on_a_subject_are_collected_when_asked_so() -> Result<()> {
    let Some(room) = Newsroom::open("news-subject")? else { return Ok(()) };
    let sites = ["harbour-courier", "northmoor-daily", "nordauer-tagblatt", "changhe-daily"];
    room.follow(&sites)?;
    room.collect(&["--subject", "sport"])?;
    let truth = room.truth();
    let subjects: BTreeMap<&str, &str> = list(&truth, "articles")
        .iter()
        .map(|article| (text(article, "url"), text(article, "subject")))
        .collect();
    let rows = room
        .rig
        .rows("data", &["news", "list", "--articles", "--limit", "1000", "--subject", "sport"])?;
    let found = by_url(&rows);
    let mut tally = Tally::default();
    for url in found.keys() {
        match subjects.get(url.as_str()) {
            Some(&"sport") => tally.right += 1,
            _ => tally.wrong += 1,
        }
    }
    let missed = |article: &&Value| {
        let followed = sites.iter().any(|site| text(article, "site").contains(site));
        followed
            && article["subject"] == "sport"
            && article["copy_of"].is_null()
            && !list(article, "linked").is_empty()
            && !found.contains_key(text(article, "url"))
    };
    tally.missed = list(&truth, "articles").iter().filter(missed).count();
    tell(&format!("news on sport: {tally:?}\n"))?;
    at_least("articles on sport", tally, 0.9, &[])
}

#[test]
fn a_quick_look_shows_the_headlines_of_every_front_page() -> Result<()> {
    let Some(room) = Newsroom::open("news-fronts")? else { return Ok(()) };
    let truth = room.truth();
    let known: BTreeSet<&str> =
        list(&truth, "articles").iter().map(|article| text(article, "url")).collect();
    // What stands there twice under one headline may be shown once.
    let copies: BTreeSet<&str> = list(&truth, "articles")
        .iter()
        .filter(|article| !article["copy_of"].is_null())
        .map(|article| text(article, "url"))
        .collect();
    let (mut all, mut wrong) = (Tally::default(), Vec::new());
    for site in list(&truth, "sites") {
        let front = text(site, "front");
        let flags = ["--allow-private", "--set", &room.hosts, "--limit", "200"];
        let args = [&["--format", "json", "news", "quick", front][..], &flags].concat();
        let done = room.rig.run("none", &args)?;
        if site["answers"] == false {
            ensure!(done.code != Some(0), "{front} answered, though nobody is there");
            continue;
        }
        let rows: Vec<Value> = done
            .ok()
            .with_context(|| format!("news quick {front}"))?
            .out_text()
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        let shown = by_url(&rows);
        let mut tally = Tally::default();
        for url in shown.keys() {
            match known.contains(url.as_str()) {
                true => tally.right += 1,
                false => {
                    tally.wrong += 1;
                    wrong.push(format!("none: {url}"));
                }
            }
        }
        let headlines = list(site, "front_headlines").iter().filter_map(Value::as_str);
        for url in headlines.filter(|url| !shown.contains_key(*url) && !copies.contains(url)) {
            tally.missed += 1;
            wrong.push(format!("missed: {url}"));
        }
        let (precision, recall) = (tally.precision(), tally.recall());
        tell(&format!("quick {:<30} {precision:.3} {recall:.3} {tally:?}\n", text(site, "site")))?;
        all.right += tally.right;
        all.wrong += tally.wrong;
        all.missed += tally.missed;
    }
    tell(&format!("quick {:<30} {:.3} {:.3} {all:?}\n", "", all.precision(), all.recall()))?;
    at_least("headlines", all, 0.9, &wrong)
}
