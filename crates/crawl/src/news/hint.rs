//! What others say of an article: feeds, news sitemaps, and the pages that lead to it.
//!
//! * What this is: times, authors, subject, summary and picture by the address of the article, as they come in
//!   ([`Hints`]), and how an article is told by them ([`fill`]).
//! * Invariants: a hint counts only where the page itself says less, and only of articles of the teller's own site, or of
//!   the site that names the feed as its own; what was used stands in the row, what waits for its article beside the
//!   rows, and there are no more than [`MOST`], nor more than [`MOST_BYTES`]. Each says who told it, so that it goes when
//!   they are forgotten.
//! * What is not here: when feeds and fronts are read (`intake`), and whether a page is an article (`judge`).

use super::judge::{address, is_loose_list, said, subject};
use super::row::{Body, Exact, Head, Hint, MANY};
use argiope_model::{CanonicalUrl, Suffixes, Time};
use argiope_news::{Learned, Recipe, Sites, headlines, is_popular_heading, without_tracking};
use argiope_parse::{Feed, Sure};
use argiope_parse::{FeedTime, Outline, When, is_sitemap, parse_feed, parse_sitemap};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Articles that something is known of, …
const MOST: usize = 50_000;
/// … and bytes of all that.
const MOST_BYTES: usize = 32 << 20;
/// Characters of a summary.
const SUMMARY: usize = 400;
/// Characters of the name of a section or a person, and persons.
const NAME: usize = 120;
const PERSONS: usize = 20;
/// Bytes of the URL of a picture.
const PICTURE: usize = 2_000;
/// Tellers that a hint names.
const TELLERS: usize = 16;
/// Words that a heading may have to name a subject.
const HEADING: usize = 3;
const HOUR: i64 = 3_600_000;

/// How far the subject of a hint is to be believed: the list it stands in, …
const LIST: u8 = 1;
/// … the heading it stands under, …
const UNDER: u8 = 2;
/// … what is said of it alone.
const OWN: u8 = 3;

/// What is known by address; the oldest goes first.
#[derive(Default)]
pub(super) struct Hints {
    known: HashMap<u64, Hint>,
    order: VecDeque<u64>,
    bytes: usize,
}

impl Hints {
    pub fn of(&self, address: u64) -> Option<&Hint> {
        self.known.get(&address)
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = (u64, &Hint)> {
        self.order.iter().filter_map(|at| Some((*at, self.known.get(at)?)))
    }

    /// Remembers what is said; whether that is more than was known.
    pub fn tell(&mut self, address: u64, hint: Hint) -> bool {
        if let Some(known) = self.known.get_mut(&address) {
            let before = known.bytes();
            let is_more = known.join(hint);
            self.bytes = (self.bytes + known.bytes()).saturating_sub(before);
            return is_more;
        }
        self.bytes += hint.bytes();
        self.order.push_back(address);
        self.known.insert(address, hint);
        while (self.order.len() > MOST || self.bytes > MOST_BYTES)
            && let Some(oldest) = self.order.pop_front()
        {
            let gone = self.known.remove(&oldest);
            self.bytes = self.bytes.saturating_sub(gone.map_or(0, |gone| gone.bytes()));
        }
        true
    }

    /// Leaves out what these documents say, and what is said of these addresses.
    pub fn forget(&mut self, docs: &BTreeSet<u64>, addresses: &BTreeSet<u64>) {
        let all = std::mem::take(self);
        for address in all.order {
            let hint = all.known.get(&address).filter(|hint| !hint.is_by(docs));
            if let Some(hint) = hint.filter(|_| !addresses.contains(&address)) {
                self.tell(address, hint.clone());
            }
        }
    }
}

impl Hint {
    /// How much it holds.
    fn bytes(&self) -> usize {
        let names = [&self.subject, &self.section, &self.picture];
        let names = names.into_iter().flatten().chain(&self.authors);
        size_of::<Hint>()
            + 8 * self.by.len()
            + self.summary.len()
            + names.map(String::len).sum::<usize>()
    }

    /// Whether one of these documents may have told any of it.
    pub fn is_by(&self, docs: &BTreeSet<u64>) -> bool {
        self.by.iter().any(|doc| *doc == MANY || docs.contains(doc))
    }

    /// Adds what another says; whether that is more.
    pub fn join(&mut self, mut other: Hint) -> bool {
        let before = self.clone();
        let tellers = std::mem::take(&mut other.by);
        self.published = self.published.or(other.published);
        self.updated = self.updated.max(other.updated);
        self.shown = self.shown.or(other.shown);
        if self.authors.is_empty() {
            self.authors = other.authors;
        }
        if self.summary.is_empty() {
            self.summary = other.summary;
        }
        self.picture = self.picture.take().or(other.picture);
        match self.weight.cmp(&other.weight) {
            std::cmp::Ordering::Less => {
                (self.weight, self.subject, self.section) =
                    (other.weight, other.subject, other.section);
            }
            // It stands in lists of several subjects, which then tell nothing.
            std::cmp::Ordering::Equal if self.weight == LIST && self.subject != other.subject => {
                self.subject = None;
            }
            _ => {}
        }
        let is_more = *self != before;
        if is_more {
            for teller in tellers {
                if self.by.len() >= TELLERS {
                    self.by = vec![MANY];
                }
                if !self.by.contains(&MANY) && !self.by.contains(&teller) {
                    self.by.push(teller);
                }
            }
        }
        is_more
    }

    /// Told by a document, and no longer than it is of use.
    fn by(mut self, doc: u64) -> Self {
        let short = |text: &mut String| {
            if let Some((end, _)) = text.char_indices().nth(NAME) {
                text.truncate(end);
            }
        };
        self.authors.truncate(PERSONS);
        self.authors.iter_mut().chain(&mut self.section).chain(&mut self.subject).for_each(short);
        self.picture = self.picture.filter(|picture| picture.len() <= PICTURE);
        self.by = vec![doc];
        self
    }

    fn on(mut self, weight: u8, subject: Option<String>, section: Option<&str>) -> Self {
        if subject.is_some() && weight > self.weight {
            (self.weight, self.subject) = (weight, subject);
            self.section = section.map(|section| section.trim().to_owned());
        }
        self
    }
}

/// Who tells: a document of a site.
pub(super) struct Teller<'a> {
    pub doc: u64,
    pub url: &'a CanonicalUrl,
    pub recipe: &'a Recipe,
    pub sites: &'a Sites,
}

impl Teller<'_> {
    /// What a hint is of: an article of its own site, or of one that names it as its feed; with the recipe.
    fn target(&self, link: &CanonicalUrl) -> Option<(u64, &Recipe)> {
        let is_feed = |feed: &String| CanonicalUrl::parse(feed).is_ok_and(|feed| feed == *self.url);
        let recipe = match self.recipe.is_for(link) {
            true => self.recipe,
            false => self.sites.of(link).filter(|r| r.feeds.iter().any(is_feed))?,
        };
        Some((address(&without_tracking(link)), recipe))
    }
}

/// What a front page, or one of a section, says of what it leads to.
pub(super) fn by_front(
    outline: &Outline,
    teller: &Teller<'_>,
    pinned: &Suffixes,
    time: Time,
) -> Vec<(u64, Hint)> {
    let Teller { url, recipe, .. } = *teller;
    // Under a tag `automobile` stand the jobs and the strikes of those who build them.
    let here = if is_loose_list(url) { None } else { subject(url, recipe, None) };
    let title = outline.inside(0, &["title"]).next().map(|n| outline.line(n, 200, |_| false));
    let title = title.unwrap_or_default().to_lowercase();
    let names: Vec<&str> = title.split(['|', '-', '–', '—', ':', '·']).map(str::trim).collect();
    let found = headlines(outline, url, pinned, &Learned::default(), time);
    // Where some lie below the page itself, others are those of all the site.
    let is_below = |to: &CanonicalUrl| url.path() != "/" && to.path().starts_with(url.path());
    let has_own = found.iter().filter(|headline| is_below(&headline.url)).count() >= 2;
    let mut out = Vec::new();
    for headline in found {
        let Some((address, recipe)) = teller.target(&headline.url) else { continue };
        let heading = headline.section.trim();
        // What a front page is called is no section of it.
        let is_name = url.path() == "/" && names.iter().any(|name| name == &heading.to_lowercase());
        let short = heading.split_whitespace().count() <= HEADING;
        let under = if short && !is_name { said(recipe, heading) } else { None };
        // What others read is of all subjects.
        let is_of_it = !is_popular_heading(heading) && (!has_own || is_below(&headline.url));
        let here = here.clone().filter(|_| is_of_it);
        let hint = Hint {
            shown: headline.time.filter(|shown| *shown <= time).map(|shown| shown.0),
            summary: shortened(&headline.summary),
            picture: headline.picture.map(|picture| picture.as_str().to_owned()),
            ..Hint::default()
        };
        let hint = hint.on(UNDER, under, Some(heading)).on(LIST, here, None);
        out.push((address, hint.by(teller.doc)));
    }
    out
}

/// What a feed or a news sitemap says of its articles.
pub(super) fn by_list(
    bytes: &[u8],
    content_type: Option<&str>,
    teller: &Teller<'_>,
) -> Vec<(u64, Hint)> {
    if let Some(feed) = parse_feed(bytes, content_type, Some(teller.url)) {
        return by_feed(feed, teller);
    }
    if !is_sitemap(bytes) {
        return Vec::new();
    }
    let urls = parse_sitemap(bytes, teller.url).urls.into_iter();
    let news = urls.filter_map(|listed| {
        let (address, _) = teller.target(&listed.url)?;
        let published = full(listed.news?.published)?;
        let hint = Hint { published: Some(published), ..Hint::default() };
        Some((address, hint.by(teller.doc)))
    });
    news.take(MOST).collect()
}

fn by_feed(feed: Feed, teller: &Teller<'_>) -> Vec<(u64, Hint)> {
    // `Example News - Sport`, but not `Sport Today`.
    let named = feed.title.rsplit_once([':', '|', '-', '–', '»']).map(|(_, last)| last.trim());
    let here = subject(teller.url, teller.recipe, named);
    let mut out = Vec::new();
    for entry in feed.entries {
        let Some(link) = &entry.link else { continue };
        let Some((address, recipe)) = teller.target(link) else { continue };
        let named = entry.categories.iter().find_map(|name| Some((said(recipe, name)?, name)));
        let names = entry.author.split(',').map(str::trim).filter(|name| !name.is_empty());
        let published = full(entry.published);
        let hint = Hint {
            published,
            updated: full(entry.updated).filter(|updated| Some(*updated) > published),
            shown: entry.published.or(entry.updated).map(|said| said.time.0),
            authors: names.map(str::to_owned).collect(),
            summary: shortened(&entry.summary),
            picture: entry.picture.map(|picture| picture.as_str().to_owned()),
            ..Hint::default()
        };
        let (own, section) = named.unzip();
        let hint = hint.on(OWN, own, section.map(String::as_str)).on(LIST, here.clone(), None);
        out.push((address, hint.by(teller.doc)));
    }
    out
}

/// A time that is whole.
fn full(said: Option<FeedTime>) -> Option<i64> {
    said.filter(|said| said.zone.is_some()).map(|said| said.time.0)
}

/// A summary in one line, of whole words.
fn shortened(text: &str) -> String {
    let mut out = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = out.char_indices().nth(SUMMARY) {
        let end = out[..end].rfind(' ').unwrap_or(end);
        out.truncate(end);
        out.push('…');
    }
    out
}

/// How exact a page says when its article appeared.
pub(super) fn exact(published: Option<When>) -> Exact {
    match published {
        None => Exact::Unknown,
        Some(when) if when.sure == Sure::Guessed => Exact::Guessed,
        Some(when) if !when.has_clock => Exact::Day,
        Some(when) if !when.has_zone => Exact::Clock,
        Some(_) => Exact::Full,
    }
}

/// Tells an article by its hint, where the page says less.
pub(super) fn fill(head: &mut Head, body: &mut Body) {
    let hint = &body.hint;
    let fits = |told: &i64| {
        let apart = told - body.published.unwrap_or(*told);
        match body.exact {
            Exact::Unknown | Exact::Guessed => true,
            Exact::Day => (-24 * HOUR..48 * HOUR).contains(&apart),
            Exact::Clock => apart.abs() <= 15 * HOUR,
            Exact::Full => false,
        }
    };
    if let Some(told) = hint.published.filter(fits) {
        (body.published, body.exact) = (Some(told), Exact::Full);
    } else if body.exact == Exact::Unknown && hint.shown.is_some() {
        (body.published, body.exact) = (hint.shown, Exact::Guessed);
    }
    let newest = head.pages.iter().map(|page| page.last).max().unwrap_or(head.seen);
    head.time = body.published.filter(|time| *time <= newest).unwrap_or(head.seen);
    // Of a day without a time all that is known is that it was not later than it was seen.
    let day = head.time.div_euclid(24 * HOUR);
    if body.exact == Exact::Day && head.seen.div_euclid(24 * HOUR) == day {
        head.time = head.seen;
    }
    body.modified = body.modified.or(hint.updated);
    if body.authors.is_empty() {
        body.authors.clone_from(&hint.authors);
    }
    if body.summary.is_empty() && body.quotable {
        body.summary.clone_from(&hint.summary);
    }
    if body.picture.is_none() {
        body.picture.clone_from(&hint.picture);
    }
    // A section of its own that nobody knows is not the one whose front leads there.
    if head.subject.is_none() && (body.section.is_none() || hint.weight >= OWN) {
        head.subject.clone_from(&hint.subject);
    }
    if body.section.is_none() {
        body.section.clone_from(&hint.section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    fn site() -> Recipe {
        Recipe { site: "n.test".to_owned(), ..Recipe::default() }
    }

    const FEED: &str = r#"<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
        <title>N - Sport</title><link>http://www.n.test/</link>
        <item><title>A</title><link>http://www.n.test/a?utm_source=rss</link><category>Wirtschaft</category>
        <pubDate>Mon, 16 Nov 2026 10:30:00 +0100</pubDate><dc:creator>Ada Byron</dc:creator>
        <description>What it is about.</description></item>
        <item><title>B</title><link>http://www.n.test/b</link></item>
        <item><title>C</title><link>http://other.test/c</link></item></channel></rss>"#;

    #[test]
    fn feeds_tell_times_authors_subjects_and_summaries_of_their_own_site() {
        let sites = Sites::new(vec![site()]);
        let (at, own) = (url("http://www.n.test/rss"), site());
        let teller = Teller { doc: 7, url: &at, recipe: &own, sites: &sites };
        let told = by_list(FEED.as_bytes(), None, &teller);
        assert_eq!(told.len(), 2);
        let (at, a) = &told[0];
        assert_eq!(*at, address(&url("http://n.test/a")));
        assert_eq!(Time(a.published.unwrap()).to_string()[..16], *"2026-11-16T09:30");
        assert_eq!(
            (a.authors.join(","), &*a.summary),
            ("Ada Byron".to_owned(), "What it is about.")
        );
        assert_eq!((a.subject.as_deref(), a.weight), (Some("business"), OWN));
        assert_eq!((told[1].1.subject.as_deref(), told[1].1.weight), (Some("sport"), LIST));
    }

    #[test]
    fn a_section_tells_a_subject_and_a_tag_does_not() {
        let titles = [
            "Teachers strike on Thursday over posts that are cut",
            "Snow warning for the whole of the south from tonight",
            "The bridge over the river is open again for lorries",
            "A baker wins the prize of the region for her bread",
        ];
        let items = titles.iter().enumerate().map(|(n, title)| {
            format!("<div class=item><h3><a href='/2026/11/18/{n}-a-title-of-it'>{title}</a></h3><p>Some words of it, a few more.</p></div>")
        });
        let page = format!("<body><h1>N</h1><main>{}</main></body>", items.collect::<String>());
        let outline = argiope_parse::parse_outline(page.as_bytes(), None);
        let sites = Sites::new(vec![site()]);
        let told = |at: &str| {
            let (url, pinned, own) = (url(at), Suffixes::built_in(), site());
            let teller = Teller { doc: 7, url: &url, recipe: &own, sites: &sites };
            by_front(&outline, &teller, &pinned, Time(1_795_000_000_000))
        };
        for (at, subject) in [
            ("http://www.n.test/automobile/", Some("cars")),
            ("http://www.n.test/category/automobile/", Some("cars")),
            ("http://www.n.test/tag/automobile/", None),
            ("http://www.n.test/author/sport", None),
        ] {
            let told = told(at);
            assert_eq!(told.len(), 4, "{at}");
            assert!(told.iter().all(|(_, hint)| hint.subject.as_deref() == subject), "{at}");
        }
    }

    #[test]
    fn what_others_read_is_not_of_the_section_beside_which_it_stands() {
        let link = |path: &str, title: &str| {
            format!(
                "<div class=item><h3><a href='{path}'>{title}</a></h3><p>Some words of it, a few more.</p></div>"
            )
        };
        let page = [
            link("/sport/481570.html", "Derby delight for Marchant as Rovers go top"),
            link("/sport/481607.html", "Stalemate at Ashgate leaves Thornby second"),
            link("/news/483309.html", "Village pub saved by its two hundred shareholders"),
        ];
        let page = format!("<body><main>{}</main></body>", page.concat());
        let outline = argiope_parse::parse_outline(page.as_bytes(), None);
        let (at, own, sites) = (url("http://www.n.test/sport/"), site(), Sites::new(vec![site()]));
        let teller = Teller { doc: 7, url: &at, recipe: &own, sites: &sites };
        let told = by_front(&outline, &teller, &Suffixes::built_in(), Time(1_795_000_000_000));
        let of = |path: &str| {
            let address = address(&url(&format!("http://www.n.test{path}")));
            told.iter().find(|(at, _)| *at == address).and_then(|(_, hint)| hint.subject.clone())
        };
        assert_eq!(of("/sport/481570.html").as_deref(), Some("sport"));
        assert_eq!((told.len(), of("/news/483309.html")), (3, None));
    }

    #[test]
    fn lists_that_disagree_tell_no_subject_until_somebody_knows_better() {
        let on = |weight, subject: &str| Hint::default().on(weight, Some(subject.to_owned()), None);
        let mut hint = on(LIST, "sport");
        assert!(!hint.join(on(LIST, "sport")));
        assert!(hint.join(on(LIST, "politics")));
        assert_eq!(hint.subject, None);
        assert!(hint.join(on(OWN, "world")) && !hint.join(on(UNDER, "sport")));
        assert_eq!(hint.subject.as_deref(), Some("world"));
    }

    #[test]
    fn the_oldest_hint_goes_first() {
        let mut hints = Hints::default();
        for at in 0..=MOST as u64 {
            assert!(hints.tell(at, Hint { shown: Some(1), ..Hint::default() }));
        }
        assert!(hints.of(0).is_none() && hints.of(1).is_some() && hints.of(MOST as u64).is_some());
        assert!(!hints.tell(7, Hint { shown: Some(2), ..Hint::default() }));
    }

    #[test]
    fn nobody_tells_of_the_articles_of_another_site_but_its_feed_elsewhere() {
        let other = |feeds: &[&str]| Recipe {
            site: "other.test".to_owned(),
            feeds: feeds.iter().map(|feed| (*feed).to_owned()).collect(),
            ..Recipe::default()
        };
        let (at, own) = (url("http://www.n.test/rss"), site());
        let told = |feeds: &[&str]| {
            let sites = Sites::new(vec![site(), other(feeds)]);
            let teller = Teller { doc: 7, url: &at, recipe: &own, sites: &sites };
            by_list(FEED.as_bytes(), None, &teller).len()
        };
        assert_eq!((told(&[]), told(&["http://www.n.test/rss"])), (2, 3));
    }

    #[test]
    fn what_was_told_goes_with_who_told_it() {
        let by = |doc: u64, summary: &str| {
            Hint { summary: summary.to_owned(), ..Hint::default() }.by(doc)
        };
        let mut hints = Hints::default();
        hints.tell(1, by(7, "a"));
        // It said nothing that was not known.
        hints.tell(1, by(8, "b"));
        hints.tell(2, by(8, "c"));
        hints.tell(3, by(9, "d"));
        hints.forget(&BTreeSet::from([8]), &BTreeSet::from([3]));
        let left: Vec<u64> = hints.all().map(|(at, _)| at).collect();
        assert_eq!(left, [1]);
        let mut many = Hint::default();
        for doc in 0..=TELLERS as i64 {
            many.join(Hint { updated: Some(doc), ..Hint::default() }.by(doc as u64));
        }
        assert!(many.by == [MANY] && many.is_by(&BTreeSet::from([1_000])));
    }

    #[test]
    fn hints_are_bounded_by_what_they_hold() {
        let mut hints = Hints::default();
        let long = Hint { summary: "x".repeat(100_000), ..Hint::default() };
        for at in 0..1_000 {
            hints.tell(at, long.clone());
        }
        let held: usize = hints.all().map(|(_, hint)| hint.bytes()).sum();
        assert!(held <= MOST_BYTES && held == hints.bytes && hints.of(999).is_some(), "{held}");
        let all = Hint {
            authors: vec!["a".repeat(9_000); 90],
            picture: Some("http://a.test/".repeat(1_000)),
            section: Some("s".repeat(9_000)),
            ..Hint::default()
        };
        assert!(all.by(1).bytes() < 4_000);
    }

    #[test]
    fn long_summaries_end_with_a_word() {
        let text = shortened(&"word ".repeat(200));
        assert!(text.ends_with("word…") && text.chars().count() <= SUMMARY + 1);
    }
}
