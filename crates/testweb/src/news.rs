//! A news web: twenty sites in three languages, and the truth about them.
//!
//! * What this is: sites that write about the same events and others, each with its own kind of
//!   front page, URLs, feeds, charset and manners, and what a reader would say of them: which
//!   article belongs to which story, its title, date, author, section and text, and what was added
//!   and edited in every edition.
//! * Its place: tests of the news collector ask [`NewsWeb::respond`] in process or talk to
//!   [`serve_news`] over one socket with many host names. It knows nothing of how articles are
//!   found or grouped, and must not: it is what that is measured by.
//! * How it comes to be: *plan* decides what happens and who writes about it, with sentences of a
//!   *grammar* and made-up *names*; *page*, *front* and *feeds* write it down; *truth* is read from the
//!   plan, never from the pages.
//! * Invariants: the same seed and base time give the same bytes; pages change with
//!   [`NewsWeb::next_edition`] and only then, but for one site that answers 503 at times; no article
//!   is dated later than the base time.
//! * What is not here: what the sites are collected with.

mod address;
mod calendar;
mod feeds;
mod front;
mod grammar;
mod names;
mod page;
mod plan;
mod serve;
mod sites;
mod truth;
mod words;

pub use serve::{NewsHit, NewsServed, serve_news};
pub use sites::Lang;

use crate::draw::{Draw, Stream};
use crate::web::Response;
use address::Address;
use calendar::{DAY, HOUR};
use names::Facts;
use page::escape;
use plan::{Piece, Role};
use sites::{Charset, Quirk, SITES, Section};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use words::Words;
use xxhash_rust::xxh3::xxh3_64;

/// What a news web is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewsSpec {
    /// Where everything is derived from.
    pub seed: u64,
    /// The present, in milliseconds since 1970; articles are dated up to four days before it.
    pub base_ms: i64,
    /// The port of all hosts; 80 stands in no URL.
    pub port: u16,
}

/// The news web.
#[derive(Debug)]
pub struct NewsWeb {
    spec: NewsSpec,
    pieces: Vec<Piece>,
    places: HashMap<Address, Place>,
    hosts: HashMap<String, usize>,
    edition: AtomicU32,
    /// What the busy site has been asked before.
    asked: Mutex<HashSet<String>>,
}

/// What is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Front,
    Section(usize, usize),
    Article(usize),
    Twin(usize),
    /// Articles that share the tag of this one.
    Tag(usize),
    /// Articles that share the author of this one.
    Author(usize),
    Plain(usize),
}

const PLAIN: [&str; 6] = ["/about", "/contact", "/privacy", "/jobs", "/newsletter", "/login"];

impl NewsWeb {
    /// A web as of its first edition.
    pub fn new(spec: NewsSpec) -> Self {
        let pieces = plan::plan(spec.seed, spec.base_ms);
        let mut places = HashMap::new();
        let mut hosts = HashMap::new();
        for (number, site) in SITES.iter().enumerate() {
            hosts.insert(site.front_host(), number);
            places.insert(Address::new(site.front_host(), "/"), Place::Front);
            for (nth, section) in site.sections().iter().enumerate() {
                hosts.insert(site.host(section), number);
                for page in 1..=3 {
                    places.insert(address::section(site, section, page), Place::Section(nth, page));
                }
            }
            for (nth, path) in PLAIN.iter().enumerate() {
                places.insert(Address::new(site.front_host(), *path), Place::Plain(nth));
            }
        }
        for piece in &pieces {
            places.entry(address::tag(piece)).or_insert(Place::Tag(piece.id));
            if let Some(at) = address::author(piece) {
                places.entry(at).or_insert(Place::Author(piece.id));
            }
            if let Some(at) = address::twin(piece) {
                places.insert(at, Place::Twin(piece.id));
            }
            places.insert(address::article(piece), Place::Article(piece.id));
        }
        NewsWeb { spec, pieces, places, hosts, edition: AtomicU32::new(0), asked: Mutex::default() }
    }

    /// A new edition: some articles are new, some are edited, front pages and feeds follow.
    pub fn next_edition(&self) {
        self.edition.fetch_add(1, Ordering::SeqCst);
    }

    /// The edition that is served, from 0 to 3.
    pub fn edition(&self) -> u32 {
        self.edition.load(Ordering::SeqCst)
    }

    /// Every host name, sorted.
    pub fn hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = self.hosts.keys().cloned().collect();
        hosts.sort();
        hosts
    }

    /// The front page of every site.
    pub fn fronts(&self) -> Vec<String> {
        SITES.iter().map(|site| self.url(&Address::new(site.front_host(), "/"))).collect()
    }

    /// How long the answers of a host take.
    pub fn latency(&self, host: &str) -> Duration {
        let slow = self.site(host).is_some_and(|site| SITES[site].quirk == Quirk::Slow);
        if slow { Duration::from_millis(300) } else { Duration::ZERO }
    }

    /// What a host answers to a path and query; nothing if nobody answers there.
    pub fn respond(&self, host: &str, target: &str) -> Option<Response> {
        let Some(number) = self.site(host) else {
            return Some(answer(421, "text/plain", b"no such host\n".to_vec()));
        };
        let site = &SITES[number];
        match site.quirk {
            Quirk::Down => return None,
            Quirk::Busy if self.is_busy(host, target) => {
                let mut busy = answer(503, "text/plain", b"busy\n".to_vec());
                busy.headers.push(("Retry-After", "1".to_owned()));
                return Some(busy);
            }
            _ => {}
        }
        let edition = self.edition();
        if let Some(answer) = self.machine(host, number, target, edition) {
            return Some(answer);
        }
        Some(match self.page(host, number, target, edition) {
            Some(html) => {
                let kind = format!("text/html; charset={}", site.charset.name());
                let mut response = answer(200, &kind, site.charset.encode(&html));
                // Pages made of a query have no validators.
                if site.form != sites::Form::Query {
                    let tag = format!("\"{:016x}\"", xxh3_64(&response.body));
                    response.headers.push(("ETag", tag));
                }
                response
            }
            None => {
                let html = front::plain(self, number, "404");
                answer(404, "text/html; charset=utf-8", html.into_bytes())
            }
        })
    }

    /// What is not for readers.
    fn machine(&self, host: &str, number: usize, target: &str, edition: u32) -> Option<Response> {
        let site = &SITES[number];
        let is_front = host == site.front_host();
        let (kind, text) = match target {
            "/robots.txt" => ("text/plain; charset=utf-8", feeds::robots(self, number)),
            "/sitemap-news.xml" if is_front && site.news_sitemap => {
                ("application/xml", feeds::news_sitemap(self, number, edition))
            }
            "/sitemap.xml" if is_front && site.quirk == Quirk::OldSitemap => {
                ("application/xml", feeds::old_sitemap(self, number))
            }
            "/app.js" => ("text/javascript", "fetch('/feed/rss.xml').then(show)\n".to_owned()),
            path if path.starts_with("/img/") => {
                return Some(answer(200, "image/png", crate::file::PNG.to_vec()));
            }
            // Every page of a site names the same feed, whatever its host.
            path if Some(path) == address::feed(site) => feeds::feed(self, number, edition)?,
            _ => return None,
        };
        Some(answer(200, kind, text.into_bytes()))
    }

    fn page(&self, host: &str, number: usize, target: &str, edition: u32) -> Option<String> {
        let site = &SITES[number];
        if site.quirk == Quirk::OldSitemap && target.starts_with("/archive/") {
            return self.archived(number, target);
        }
        let place = self.places.get(&Address::new(host, clean(target))).copied();
        let common = |wanted: &dyn Fn(&Piece) -> bool| {
            let mut found: Vec<&Piece> = self.current(number, edition);
            found.retain(|piece| wanted(piece) && !piece.forbidden);
            found
        };
        Some(match place? {
            Place::Front => front::front(self, number, edition),
            Place::Section(nth, page) => {
                front::section(self, number, &site.sections()[nth], page, edition)
            }
            Place::Article(id) | Place::Twin(id) if self.pieces[id].since() > edition => {
                return None;
            }
            Place::Article(id) => page::render(self, &self.pieces[id], edition, false),
            Place::Twin(id) => page::render(self, &self.pieces[id], edition, true),
            Place::Tag(id) => {
                let tag = &self.pieces[id].tag;
                front::listing(self, number, tag, &common(&|p| &p.tag == tag), edition)
            }
            Place::Author(id) => {
                let author = &self.pieces[id].author;
                let title = author.as_deref().unwrap_or_default();
                front::listing(self, number, title, &common(&|p| &p.author == author), edition)
            }
            Place::Plain(nth) => {
                let words = Words::of(site.lang);
                let titles = [
                    words.about,
                    words.contact,
                    words.privacy,
                    words.jobs,
                    words.newsletter,
                    words.login,
                ];
                front::plain(self, number, titles[nth])
            }
        })
    }

    /// A page of long ago, made from its number.
    fn archived(&self, number: usize, target: &str) -> Option<String> {
        let nth: usize = target.strip_prefix("/archive/")?.strip_suffix(".html")?.parse().ok()?;
        if nth >= feeds::OLD_PAGES {
            return None;
        }
        let site = &SITES[number];
        let mut draw = Draw::new(self.spec.seed, 300, nth, Stream::News);
        let facts = Facts::new(&mut draw, false);
        let time = self.spec.base_ms - (60 + nth as i64 / 4) * DAY;
        let text = plan::old_text("trial", &facts, site.lang, time, draw.number());
        let mut html = page::top(self, site, &text.title, "");
        html.push_str(&format!("<h1>{}</h1>\n", escape(&text.title)));
        for paragraph in &text.paragraphs {
            html.push_str(&format!("<p>{}</p>\n", escape(paragraph)));
        }
        Some(html + &page::bottom(site))
    }

    /// Whether the busy site has no time now: for every fourth path, when it is asked first.
    fn is_busy(&self, host: &str, target: &str) -> bool {
        if target == "/robots.txt" || !xxh3_64(target.as_bytes()).is_multiple_of(4) {
            return false;
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(format!("{host}{target}"))
    }

    fn site(&self, host: &str) -> Option<usize> {
        let name = host.split_once(':').map_or(host, |(name, _)| name);
        self.hosts.get(name).copied()
    }

    pub(crate) fn base(&self) -> i64 {
        self.spec.base_ms
    }

    pub(crate) fn origin(&self, host: &str) -> String {
        match self.spec.port {
            80 => format!("http://{host}"),
            port => format!("http://{host}:{port}"),
        }
    }

    pub(crate) fn url(&self, at: &Address) -> String {
        self.origin(&at.host) + &at.path
    }

    /// The articles of a site in an edition, newest first, without those of long ago.
    pub(crate) fn current(&self, site: usize, edition: u32) -> Vec<&Piece> {
        let mut found: Vec<&Piece> = self
            .pieces
            .iter()
            .filter(|p| p.site == site && !p.is_old() && !p.forbidden && p.since() <= edition)
            .collect();
        found.sort_by_key(|p| (std::cmp::Reverse(p.published), p.id));
        found
    }

    /// What the front page shows.
    pub(crate) fn on_front(&self, site: usize, edition: u32) -> Vec<&Piece> {
        let mut found = self.current(site, edition);
        found.truncate(SITES[site].shown);
        found
    }

    /// What a section shows; its later pages show what is old.
    pub(crate) fn in_section(
        &self,
        site: usize,
        section: &Section,
        page: usize,
        edition: u32,
    ) -> Vec<&Piece> {
        let mut found = match page {
            1 => self.current(site, edition),
            2 => self.pieces.iter().filter(|p| p.site == site && p.is_old()).collect(),
            _ => Vec::new(),
        };
        found.retain(|p| p.subject == section.subject);
        found
    }

    pub(crate) fn in_feed(&self, site: usize, edition: u32) -> Vec<&Piece> {
        let mut found = self.current(site, edition);
        found.truncate(feeds::entries());
        found
    }

    pub(crate) fn in_news_sitemap(&self, site: usize, edition: u32) -> Vec<&Piece> {
        let mut found = self.current(site, edition);
        found.retain(|p| p.published > self.spec.base_ms - 2 * DAY - HOUR);
        found
    }

    /// What is for members only.
    pub(crate) fn members(&self, site: usize, edition: u32) -> Vec<&Piece> {
        let shown = |p: &&Piece| p.site == site && p.forbidden && p.since() <= edition;
        self.pieces.iter().filter(shown).collect()
    }

    /// What an article's page points to: others of its section, and of long ago.
    pub(crate) fn related(&self, piece: &Piece, edition: u32) -> Vec<&Piece> {
        // What was there from the start, so that these links do not change.
        let mut found: Vec<&Piece> = self
            .pieces
            .iter()
            .filter(|p| p.site == piece.site && p.id != piece.id && !p.forbidden)
            .filter(|p| p.since() <= edition.min(piece.since()) && p.role != Role::Again)
            .collect();
        found.sort_by_key(|p| (p.subject != piece.subject, (p.id * 31 + piece.id) % 17, p.id));
        found.truncate(5);
        found
    }
}

/// A target without what only tells where a link was clicked.
fn clean(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let kept: Vec<&str> = query.split('&').filter(|part| !part.starts_with("utm_")).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

fn answer(status: u16, kind: &str, body: Vec<u8>) -> Response {
    Response { status, headers: vec![("Content-Type", kind.to_owned())], body: body.into() }
}

impl Charset {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "utf-8",
            Charset::Windows1252 => "windows-1252",
            Charset::Gb18030 => "gb18030",
        }
    }

    fn encode(self, text: &str) -> Vec<u8> {
        let encoding = match self {
            Charset::Utf8 => return text.as_bytes().to_vec(),
            Charset::Windows1252 => encoding_rs::WINDOWS_1252,
            Charset::Gb18030 => encoding_rs::GB18030,
        };
        encoding.encode(text).0.into_owned()
    }
}
