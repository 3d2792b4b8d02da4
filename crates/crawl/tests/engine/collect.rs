//! News: which links of front pages, feeds and sitemaps are followed, how often pages are looked at, and
//! that other jobs rest.

use crate::raw::{Asked, Raw, http, missing, page, redirect};
use crate::support::{Place, Running, now, order, settings, within};
use argiope_crawl::{EngineSettings, NewsSettings, NewsSource, NewsTally, Return, RevisitSettings};
use argiope_model::{JobState, Role, Time};
use argiope_news::{ArticleRule, Part, Pattern, Recipe, Sites};
use argiope_store::UrlState;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DAY: i64 = 86_400_000;

fn html(body: &str) -> Vec<u8> {
    http("200 OK", &[("Content-Type", "text/html; charset=utf-8")], body)
}

fn xml(body: &str) -> Vec<u8> {
    http("200 OK", &[("Content-Type", "application/xml")], body)
}

/// A front page: sections on top, headlines, and what stands below on every page.
pub fn front(headlines: &[String]) -> Vec<u8> {
    let shown: String = headlines
        .iter()
        .enumerate()
        .map(|(n, to)| {
            format!("<article><h2><a href='{to}'>The council of town {n} has found a new way to build</a></h2><p>A summary of it.</p></article>")
        })
        .collect();
    html(&format!(
        "<title>The paper</title><header><nav><a href='/sport/'>Sport</a> <a href='/about'>About us</a>
         <a href='/login'>Log in</a></nav></header><main>{shown}</main>
         <footer><a href='/imprint'>Imprint</a> <a href='/privacy/our-long-words-on-your-data'>Our long words on your data</a>
         <a href='http://other.test/2026/11/16/a-story-told-elsewhere-in-the-world'>A story told elsewhere in the world</a></footer>"
    ))
}

pub fn article(n: usize, text: &str) -> Vec<u8> {
    html(&format!(
        "<title>Article {n}</title><meta property='og:type' content='article'><h1>The council of town {n}</h1>
         <p>{text} The people of town {n} have seen much of this before.</p>
         <a href='/2026/11/16/a-way-from-an-article-{n}'>A way from an article that leads to another one</a>"
    ))
}

pub fn path(n: usize) -> String {
    format!("/2026/11/16/the-council-of-town-{n}-has-found")
}

pub fn number(path: &str) -> Option<usize> {
    path.strip_prefix("/2026/11/16/the-council-of-town-")?.split('-').next()?.parse().ok()
}

pub fn recipe(site: &str, front: String) -> Recipe {
    Recipe { site: site.to_owned(), front: vec![front], ..Recipe::default() }
}

/// Sites that may be changed while a run goes on.
#[derive(Clone, Default)]
pub struct Followed(Arc<Mutex<Arc<Sites>>>);

impl Followed {
    pub fn of(recipes: Vec<Recipe>) -> Self {
        let followed = Followed::default();
        followed.set(recipes);
        followed
    }

    pub fn set(&self, recipes: Vec<Recipe>) {
        *self.0.lock().unwrap() = Arc::new(Sites::new(recipes));
    }

    /// Settings of a run for news alone.
    pub fn settings(&self) -> EngineSettings {
        let all = self.0.clone();
        let source = NewsSource::new(move || all.lock().unwrap().clone());
        let news = NewsSettings { source, only: true, ..NewsSettings::default() };
        let mut settings = EngineSettings { news, ..settings() };
        let home = "127.0.0.1".parse().unwrap();
        for host in ["www.n.test", "sports.n.test", "www.m.test", "other.test"] {
            settings.fetch.resolve_overrides.push((host.to_owned(), home));
        }
        settings
    }
}

pub async fn collect(place: &Place, followed: &Followed) -> NewsTally {
    let summary = place.come_back(followed.settings(), Return::Due).await;
    assert_eq!(summary.news.len(), 1, "{:?}", summary.news);
    summary.news.into_values().next().unwrap()
}

pub fn asked(raw: &Raw) -> BTreeSet<String> {
    raw.paths().into_iter().collect()
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_front_page_headlines_and_sections_are_followed_and_of_articles_nothing() {
    let site = Raw::start(|asked| match asked.path.as_str() {
        "/" => {
            let mut all: Vec<String> = (0..6).map(path).collect();
            // The same one again, from a box that counts clicks.
            all.push(format!("{}?utm_source=box&utm_medium=x", path(0)));
            front(&all)
        }
        "/sport/" => front(&(4..9).map(path).collect::<Vec<_>>()),
        path => number(path).map_or_else(missing, |n| article(n, "Something was built.")),
    })
    .await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let tally = collect(&place, &followed).await;
    assert_eq!((tally.fronts, tally.new, tally.failed), (2, 9, 0), "{tally:?}");
    let articles: Vec<String> = (0..9).map(path).collect();
    let mut wanted: BTreeSet<String> = articles.into_iter().collect();
    wanted.extend(set(&["/", "/sport/"]));
    assert_eq!(asked(&site), wanted);
    assert!(site.counts().values().all(|times| *times == 1), "{:?}", site.counts());
    let opened = place.open();
    let jobs = opened.store.jobs().unwrap();
    assert!(jobs.len() == 1 && jobs[0].job.news && jobs[0].state == JobState::Done, "{jobs:?}");
    // What is stored of the page is whole all the same.
    let key = crate::support::url(&site.url("/")).key(opened.dir.suffixes());
    let links = opened.store.links(&[key]).unwrap().pop().flatten().unwrap();
    let links = argiope_store::decode_links(&links).unwrap();
    assert!(links.iter().any(|link| link.url.path() == "/imprint"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_its_registrable_domain_and_its_recipe_says_what_is_an_article() {
    let port = Arc::new(AtomicUsize::new(0));
    let known = port.clone();
    let site = Raw::start(move |asked| {
        let port = known.load(Ordering::SeqCst);
        match asked.path.as_str() {
            "/" => html(&format!(
                "<nav><a href='http://sports.n.test:{port}/g/laliga/2013-12-01/08136911563.shtml'>x</a>
                 <a href='http://sports.n.test:{port}/g/list.shtml'>All of them in one long list of names</a>
                 <a href='http://other.test:{port}/g/laliga/2013-12-01/1.shtml'>Elsewhere a thing was said</a></nav>"
            )),
            "/g/laliga/2013-12-01/08136911563.shtml" => article(1, "A goal was scored."),
            _ => missing(),
        }
    })
    .await;
    port.store(usize::from(site.port), Ordering::SeqCst);
    let pattern =
        format!("{{section}}.n.test:{}/{{scope}}/{{subject}}/{{date}}/{{id}}.shtml", site.port);
    let followed = Followed::of(vec![Recipe {
        patterns: vec![Pattern::parse(&pattern).unwrap()],
        article: ArticleRule { needs: vec![Part::Date, Part::Id], without: Vec::new() },
        ..recipe("n.test", format!("http://www.n.test:{}/", site.port))
    }]);
    let place = Place::new();
    let tally = collect(&place, &followed).await;
    assert_eq!((tally.fronts, tally.new), (1, 1), "{tally:?}");
    let rows = place.rows();
    let fetched: Vec<&String> =
        rows.iter().filter(|(_, row)| row.state == UrlState::Fetched).map(|(url, _)| url).collect();
    let article =
        format!("http://sports.n.test:{}/g/laliga/2013-12-01/08136911563.shtml", site.port);
    assert_eq!(fetched, [&article, &format!("http://www.n.test:{}/", site.port)]);
    assert!(rows.keys().all(|url| !url.contains("other.test")));
}

fn rss(items: &[(String, Time)]) -> Vec<u8> {
    let items: String = items
        .iter()
        .map(|(to, time)| {
            let date = time.http_date().unwrap();
            format!("<item><title>A thing</title><link>{to}</link><pubDate>{date}</pubDate></item>")
        })
        .collect();
    xml(&format!(
        "<?xml version='1.0'?><rss version='2.0'><channel><title>All</title>{items}</channel></rss>"
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_front_page_shows_nothing_its_feed_brings_the_news() {
    for named in [true, false] {
        let site = Raw::start(move |asked| match asked.path.as_str() {
            "/" if named => html(
                "<link rel=alternate type='application/rss+xml' href='/all.xml'><div id=app></div>",
            ),
            "/" => html("<div id=app></div>"),
            "/all.xml" if named => rss(&feed_items()),
            "/feed" if !named => redirect("/feed/"),
            "/feed/" if !named => rss(&feed_items()),
            path => number(path).map_or_else(missing, |n| article(n, "It was in the feed.")),
        })
        .await;
        let place = Place::new();
        let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
        let tally = collect(&place, &followed).await;
        assert_eq!(
            (tally.fronts, tally.feeds, tally.new),
            (1, 1, 3),
            "{tally:?} {:?}",
            site.paths()
        );
        assert!(!asked(&site).contains(&path(9)), "that one is old");
    }
}

fn feed_items() -> Vec<(String, Time)> {
    let now = now();
    let mut items: Vec<_> = (0..3).map(|n| (path(n), Time(now.0 - n as i64 * DAY))).collect();
    items.push((path(9), Time(now.0 - 60 * DAY)));
    items
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_sitemap_of_all_pages_only_the_recent_are_taken() {
    let site = Raw::with_robots(|asked| match asked.path.as_str() {
        "/robots.txt" => {
            http("200 OK", &[("Content-Type", "text/plain")], "Sitemap: /sitemap.xml\n")
        }
        "/sitemap.xml" => {
            let now = now();
            let entry = |n: usize| {
                let age = if n < 20 { 1 } else { 400 };
                format!(
                    "<url><loc>{}</loc><lastmod>{}</lastmod></url>",
                    path(n),
                    Time(now.0 - age * DAY)
                )
            };
            let all: String = (0..10_000).rev().map(entry).collect();
            xml(&format!(
                "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{all}</urlset>"
            ))
        }
        "/" => html("<div id=app></div>"),
        path => number(path).map_or_else(missing, |n| article(n, "It was in the list.")),
    })
    .await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let tally = collect(&place, &followed).await;
    assert_eq!(tally.new, 20, "{tally:?}");
    assert!(place.rows().len() < 40, "{}", place.rows().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_articles_on_a_subject_are_fetched_and_later_the_others() {
    let at = |section: &str, n: usize| {
        format!("/{section}/2026/11/16/the-council-of-town-{n}-has-found")
    };
    let site = Raw::start(move |asked| match asked.path.as_str() {
        "/" => {
            let all = (0..4).map(|n| at("sports", n)).chain((4..8).map(|n| at("politics", n)));
            front(&all.collect::<Vec<_>>())
        }
        path if path.contains("/2026/") => article(1, "Said."),
        _ => missing(),
    })
    .await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let mut settings = followed.settings();
    settings.news.subject = Some("sport".to_owned());
    let summary = place.come_back(settings, Return::Due).await;
    assert_eq!(summary.news["127.0.0.1"].new, 4, "{:?}", site.paths());
    assert!(site.paths().iter().all(|path| !path.contains("politics")));
    assert_eq!(collect(&place, &followed).await.new, 4, "{:?}", site.paths());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_old_by_its_url_is_no_news_unless_a_page_has_nothing_else() {
    for with_news in [true, false] {
        let site = Raw::start(move |asked| match asked.path.as_str() {
            "/" => {
                let old = (0..400).map(|n| format!("/sport/2019/03/14/a-story-of-long-ago-{n}"));
                let year = (0..9).map(|n| format!("/2018/a-report-of-that-year-{n}"));
                // Whatever day it is.
                let new = (0..4).map(|n| format!("/news/the-council-of-town-has-found-{n}-77"));
                front(&old.chain(year).chain(new.filter(|_| with_news)).collect::<Vec<_>>())
            }
            "/sport/" => missing(),
            _ => article(1, "Something was built."),
        })
        .await;
        let place = Place::new();
        let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
        let tally = collect(&place, &followed).await;
        assert_eq!(tally.new, if with_news { 4 } else { 200 }, "{tally:?}");
    }
}

/// A paper of ten articles; what it says may be changed.
pub struct Paper {
    pub shown: AtomicUsize,
    edited: AtomicBool,
}

pub async fn paper(paper: &Arc<Paper>) -> Raw {
    let paper = paper.clone();
    Raw::start(move |asked: &Asked| {
        let edited = paper.edited.load(Ordering::SeqCst);
        match asked.path.as_str() {
            "/" => front(&(0..paper.shown.load(Ordering::SeqCst)).map(path).collect::<Vec<_>>()),
            path => match number(path) {
                Some(3) if edited => {
                    article(3, "All of this was wrong, and the paper is sorry for what it said.")
                }
                Some(n) => article(n, "Something was built."),
                None => missing(),
            },
        }
    })
    .await
}

pub fn new_paper(shown: usize) -> Arc<Paper> {
    Arc::new(Paper { shown: AtomicUsize::new(shown), edited: AtomicBool::new(false) })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_finds_new_articles_and_edits_of_recent_ones() {
    let told = new_paper(8);
    let site = paper(&told).await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    assert_eq!(collect(&place, &followed).await.new, 8);
    told.edited.store(true, Ordering::SeqCst);
    told.shown.store(10, Ordering::SeqCst);
    let tally = collect(&place, &followed).await;
    assert_eq!((tally.new, tally.changed, tally.unchanged), (2, 1, 7), "{tally:?}");
    let opened = place.open();
    assert_eq!(opened.captures(&site.url(&path(3))).len(), 2);
    drop(opened);
    // Those that are no longer recent are left to the policy.
    let mut settings = followed.settings();
    settings.news.recent = Duration::ZERO;
    let summary = place.come_back(settings, Return::Due).await;
    let tally = summary.news["127.0.0.1"];
    assert_eq!((tally.fronts, tally.unchanged + tally.changed), (1, 0), "{tally:?}");
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_was_killed_goes_on() {
    let told = new_paper(30);
    let site = paper(&told).await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let slow =
        EngineSettings { delay: Duration::from_millis(30), per_host: 1, ..followed.settings() };
    let running = Running::begin(place.open(), slow, None, Return::Due);
    running.until_fetched(5).await;
    running.abandon();
    let tally = collect(&place, &followed).await;
    assert!(tally.new > 0 && tally.new < 30, "{tally:?}");
    let fetched = place.open().in_state(UrlState::Fetched);
    assert_eq!(
        fetched.iter().filter(|url| number(url.split_at(site.url("").len()).1).is_some()).count(),
        30
    );
    place.open().assert_verified();
}

/// One request after the other, with a pause.
pub fn in_turn(settings: EngineSettings, pause: u64) -> EngineSettings {
    EngineSettings { delay: Duration::from_millis(pause), per_host: 1, ..settings }
}

#[tokio::test(flavor = "multi_thread")]
async fn fronts_come_first_then_what_is_new_then_what_is_known() {
    let told = new_paper(12);
    let site = paper(&told).await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    collect(&place, &followed).await;
    told.shown.store(18, Ordering::SeqCst);
    let before = site.paths().len();
    place.come_back(in_turn(followed.settings(), 5), Return::Due).await;
    let asked = &site.paths()[before..];
    let numbers: Vec<usize> = asked.iter().filter_map(|path| number(path)).collect();
    let (new, known) = numbers.split_at(6);
    assert!(new.iter().all(|n| *n >= 12) && known.iter().all(|n| *n < 12), "{asked:?}");
    assert_eq!(known.len(), 12, "all of them are asked for changes");
    assert_eq!(asked[0], "/");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_what_is_new_still_comes_before_what_is_known() {
    let told = new_paper(20);
    let site = paper(&told).await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    collect(&place, &followed).await;
    told.shown.store(60, Ordering::SeqCst);
    let known = || site.counts().keys().filter(|path| number(path).is_some()).count();
    for _ in 0..4 {
        let (before, begun) = (known(), site.paths().len());
        let running =
            Running::begin(place.open(), in_turn(followed.settings(), 20), None, Return::Due);
        until("requests", || site.paths().len() >= begun + 8).await;
        running.abandon();
        assert!(known() >= before + 3, "{:?}", &site.paths()[begun..]);
    }
    collect(&place, &followed).await;
    assert_eq!(known(), 60);
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_watch_with_more_to_check_than_there_is_room_for_new_articles_come_at_once() {
    let told = new_paper(24);
    let site = paper(&told).await;
    let place = Place::new();
    // A cycle has room for a dozen requests, and twice as many articles are to be checked.
    let followed = Followed::of(vec![Recipe {
        cycle: Some(Duration::from_secs(1)),
        ..recipe("127.0.0.1", site.url("/"))
    }]);
    collect(&place, &followed).await;
    let watching = in_turn(followed.settings(), 80);
    let running = Running::begin(place.open(), watching, None, Return::Watch);
    until("checks", || site.counts()[&path(7)] + site.counts()[&path(8)] >= 3).await;
    for new in 24..27 {
        let (begun, fronts) = (site.paths().len(), site.counts()["/"]);
        told.shown.store(new + 1, Ordering::SeqCst);
        until("the new article", || asked(&site).contains(&path(new))).await;
        let made = site.paths().len() - begun;
        assert!(made <= 25, "{made} requests before it: {:?}", &site.paths()[begun..]);
        assert!(site.counts()["/"] <= fronts + 2);
    }
    // And the known ones have their turns, the younger oftener, none for ever left out.
    until("every article", || (0..24).all(|n| site.counts()[&path(n)] >= 3)).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_are_asked_as_politely_as_ever() {
    let told = new_paper(5);
    let site = paper(&told).await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let delay = Duration::from_millis(150);
    let begun = Instant::now();
    place
        .come_back(EngineSettings { delay, per_host: 1, ..followed.settings() }, Return::Due)
        .await;
    // robots.txt, the front page and the articles, one after the other.
    let requests = site.counts().values().sum::<usize>() as u32;
    assert!(requests >= 7, "{requests}");
    assert!(begun.elapsed() >= delay * (requests - 1), "{:?}", begun.elapsed());
}

/// A server that has asked to be left alone, and one that hangs up, beside one that is well.
async fn with_two_bad_ones() -> (Raw, Raw, Raw, Arc<AtomicBool>, Followed) {
    let (told, bad) = (new_paper(4), Arc::new(AtomicBool::new(true)));
    let site = paper(&told).await;
    let is_bad = bad.clone();
    let busy = Raw::start(move |asked| match asked.path.as_str() {
        _ if is_bad.load(Ordering::SeqCst) => {
            http("429 Too Many Requests", &[("Retry-After", "7200")], "")
        }
        "/" => front(&(0..4).map(path).collect::<Vec<_>>()),
        path => number(path).map_or_else(missing, |n| article(n, "Something was built.")),
    })
    .await;
    let dead = Raw::with_robots(|_| Vec::new()).await;
    let followed = Followed::of(vec![
        recipe("127.0.0.1", site.url("/")),
        recipe("n.test", format!("http://www.n.test:{}/", busy.port)),
        recipe("m.test", format!("http://www.m.test:{}/", dead.port)),
    ]);
    (site, busy, dead, bad, followed)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_leaves_hosts_that_are_not_well_to_the_next_and_keeps_what_they_asked_for() {
    let (site, busy, dead, bad, followed) = with_two_bad_ones().await;
    let place = Place::new();
    let patient = || {
        let mut settings = followed.settings();
        settings.patience.backoff = Duration::from_secs(100);
        settings.patience.backoff_max = Duration::from_secs(1_000);
        settings
    };
    let begun = Instant::now();
    let summary = within(20, place.come_back(patient(), Return::Due)).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(summary.news["127.0.0.1"].new, 4);
    for bad in ["n.test", "m.test"] {
        assert_eq!(summary.news[bad].unread, 1, "{bad}: {:?}", summary.news);
        assert_eq!(summary.put_off[bad].pages, 1, "{:?}", summary.put_off);
    }
    let asked_to = &summary.put_off["n.test"];
    assert_eq!(asked_to.outcome.as_ref().map(|outcome| outcome.status), Some(429));
    assert!(asked_to.until > Time(now().0 + 7_000_000), "{asked_to:?}");
    let (asked_busy, asked_dead) = (busy.paths().len(), dead.counts().len());
    assert_eq!(asked_busy, 1);
    // The next round does not ask before the time, however often it is begun.
    bad.store(false, Ordering::SeqCst);
    for _ in 0..2 {
        let summary = within(20, place.come_back(patient(), Return::Due)).await;
        assert_eq!(summary.news["127.0.0.1"].unchanged, 4);
        assert_eq!(summary.put_off.len(), 2, "{:?}", summary.put_off);
        assert_eq!((busy.paths().len(), dead.counts().len()), (asked_busy, asked_dead));
    }
    assert!(site.counts()["/"] == 3);
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn fronts_of_new_sites_are_asked_under_conditions_from_their_second_visit_on() {
    let whole: Arc<Mutex<Vec<usize>>> = Arc::default();
    let noted = whole.clone();
    let site = Raw::start(move |asked| match asked.path.as_str() {
        "/" if asked.conditional => http("304 Not Modified", &[("ETag", "\"a\"")], ""),
        "/" => {
            noted.lock().unwrap().push(asked.before);
            let shown = "<h2><a href='/2026/11/16/the-council-of-town-1-has-found'>The council of a town has found a way</a></h2>";
            http("200 OK", &[("Content-Type", "text/html"), ("ETag", "\"a\"")], shown)
        }
        _ => missing(),
    })
    .await;
    let place = Place::new();
    let every = |seconds| Some(Duration::from_secs(seconds));
    let base = recipe("127.0.0.1", site.url("/"));
    let followed = Followed::of(vec![Recipe { cycle: every(2), ..base.clone() }]);
    let running = Running::begin(place.open(), followed.settings(), None, Return::Watch);
    let fronts = || site.counts().get("/").copied().unwrap_or(0);
    until("three visits", || fronts() >= 3).await;
    assert_eq!(*whole.lock().unwrap(), [0], "of a site that is new");
    // What an entry says of its cycle changes nothing of that.
    followed.set(vec![Recipe { cycle: every(1), ..base.clone() }]);
    let before = fronts();
    until("four more", || fronts() >= before + 4).await;
    assert_eq!(*whole.lock().unwrap(), [0], "its cycle was edited");
    // What it says of articles is read once.
    let article = ArticleRule { without: vec!["/video/".to_owned()], ..ArticleRule::default() };
    followed.set(vec![Recipe { cycle: every(1), article, ..base }]);
    until("it is read again", || whole.lock().unwrap().len() == 2).await;
    let before = fronts();
    until("three more", || fronts() >= before + 3).await;
    assert_eq!(whole.lock().unwrap().len(), 2);
    running.stop().await;
}

/// Until something holds.
pub async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect(what);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_looks_again_in_cycles_of_seconds() {
    let told = new_paper(6);
    let site = paper(&told).await;
    let place = Place::new();
    let followed = Followed::of(vec![Recipe {
        cycle: Some(Duration::from_secs(2)),
        ..recipe("127.0.0.1", site.url("/"))
    }]);
    let mut settings = followed.settings();
    settings.news.only = false;
    let running = Running::begin(place.open(), settings, None, Return::Watch);
    until("the first articles", || asked(&site).contains(&path(5))).await;
    told.shown.store(7, Ordering::SeqCst);
    told.edited.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    until("the new article", || asked(&site).contains(&path(6))).await;
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    let before = site.counts()[&path(3)];
    until("the edited one once more", || site.counts()[&path(3)] > before).await;
    let fronts = site.counts()["/"];
    assert!(fronts <= 12, "not at once again: {fronts}");
    running.stop().await;
    assert_eq!(
        place.open().captures(&site.url(&path(3))).iter().filter(|c| c.text.is_some()).count(),
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_that_are_followed_during_a_watch_are_noticed() {
    let (told, other) = (new_paper(4), new_paper(4));
    let (site, later) = (paper(&told).await, paper(&other).await);
    let here = recipe("n.test", format!("http://www.n.test:{}/", site.port));
    let there = recipe("m.test", format!("http://www.m.test:{}/", later.port));
    let cycle = Some(Duration::from_secs(1));
    let (here, there) = (Recipe { cycle, ..here }, Recipe { cycle, ..there });
    let place = Place::new();
    let followed = Followed::of(vec![here]);
    let running = Running::begin(place.open(), followed.settings(), None, Return::Watch);
    until("the first site", || asked(&site).contains(&path(3))).await;
    followed.set(vec![there]);
    until("the second site", || asked(&later).contains(&path(3))).await;
    let before = site.paths().len();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(site.paths().len(), before, "it is not followed any more");
    running.stop().await;
    let jobs = place.open().store.jobs().unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].job.seeds.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_jobs_rest_while_news_are_collected() {
    let told = new_paper(4);
    let site = paper(&told).await;
    let links: Vec<String> = (0..200).map(|n| format!("/p{n}")).collect();
    let other = Raw::start(move |asked| match asked.path.as_str() {
        "/" => page(&links.iter().map(String::as_str).collect::<Vec<_>>()),
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    let slow = EngineSettings { delay: Duration::from_millis(20), per_host: 1, ..settings() };
    let running = place.start(slow, Some(order(&[other.url("/")])));
    running.until_fetched(5).await;
    running.stop().await;
    let before = place.open().store.jobs().unwrap();
    assert_eq!(before[0].state, JobState::Open);
    let asked_before = other.paths().len();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    assert_eq!(collect(&place, &followed).await.new, 4);
    assert_eq!(other.paths().len(), asked_before);
    let after = place.open().store.jobs().unwrap();
    assert_eq!(after[0], before[0]);
    assert!(after[1].job.news && after[1].state == JobState::Done);
    // It goes on as if nothing had been.
    place.start(settings(), None).end().await;
    assert_eq!(other.paths().len(), 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_was_crawled_before_is_read_for_its_news_all_the_same() {
    let told = new_paper(4);
    let site = paper(&told).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    let before = site.counts()["/"];
    told.shown.store(6, Ordering::SeqCst);
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let tally = collect(&place, &followed).await;
    assert_eq!((tally.fronts, tally.new), (1, 2), "{tally:?} {:?}", site.paths());
    assert_eq!(site.counts()["/"], before + 1);
    // And again after another crawl that takes it up.
    place
        .crawl(
            settings(),
            argiope_crawl::NewJob { domains: vec!["x.test".to_owned()], ..order(&[site.url("/")]) },
        )
        .await;
    told.shown.store(8, Ordering::SeqCst);
    let tally = collect(&place, &followed).await;
    assert_eq!((tally.fronts, tally.new), (1, 2), "{tally:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_of_seconds_holds_in_a_watch() {
    let site = Raw::start(|_| page(&[])).await;
    let place = Place::new();
    let rules = vec!["* every 1s".parse().unwrap()];
    let revisit = RevisitSettings { rules, ..RevisitSettings::default() };
    let running = Running::begin(
        place.open(),
        EngineSettings { revisit, ..settings() },
        Some(order(&[site.url("/")])),
        Return::Watch,
    );
    within(15, until("four visits", || site.paths().len() >= 4)).await;
    running.stop().await;
    let rows = place.rows();
    assert!(rows.values().all(|row| row.role == Role::Page && row.visits >= 3));
}
