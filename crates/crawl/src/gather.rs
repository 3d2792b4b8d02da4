//! Gathering news: which links of a page of a news job are followed, and how often its pages are seen.
//!
//! * What this is: of front pages the headlines, what their recipe says are articles, feeds and the fronts
//!   of sections; of feeds and sitemaps the newest entries; of articles nothing.
//! * Its place: a visit of a news job asks it with the page it has read ([`Gather::page`],
//!   [`Gather::listed`]); `links` judges what it gives by scope, filter and robots.txt as ever; the director
//!   asks it for the cadence of rows ([`Gather::cadence`]).
//! * Depths of a news job: 0 are front pages, 1 fronts of sections, feeds and sitemaps, 2 articles. They
//!   tell what a row is, and breadth-first they are its order: of a host what leads to news first, then
//!   articles that are new, and behind these the ones that are known, to see whether they have changed.
//! * What was learned of a site's URLs is kept in memory, told by pages and feeds as they come in.
//! * Invariants: whatever a page or a file holds, what is gathered from it is bounded and of its own site;
//!   an article has one address, without what only says where a click came from.
//! * What is not here: what is stored of a page (its links are stored whole), and what is an article in the
//!   end (`news`).

#[cfg(test)]
mod tests;

use crate::fronts::{fronts, guessed, leads_away};
use crate::settings::NewsSettings;
use argiope_frontier::Entry;
use argiope_model::{
    CanonicalUrl, FetchOutcome, Link, LinkKind, OutcomeKind, Role, Suffixes, Time,
};
use argiope_news::{
    FeedLink, Headline, Learned, PageKind, Recipe, Sites, common_recipe, dates_in_url, feed_links,
    headlines, is_article_url, is_section_url, is_service, page_kind, section_in_query, subject_of,
    without_tracking,
};
use argiope_parse::{
    Feed, Outline, Sitemap, SitemapKind, is_sitemap, parse_feed, parse_outline, parse_sitemap,
};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// The depth of front pages, …
pub(crate) const FRONT: u16 = 0;
/// … of fronts of sections, feeds and sitemaps, …
pub(crate) const SECTION: u16 = 1;
/// … and of articles.
pub(crate) const ARTICLE: u16 = 2;
/// In the queue articles that are known come behind all of these.
const KNOWN: u16 = 3;

/// Articles taken of one page or file.
const MOST_ARTICLES: usize = 200;
/// Fronts of sections whose headlines are read as well.
const MOST_SECTIONS: usize = 8;
/// Of them those of which nothing tells that they are sections.
const OTHER_SECTIONS: usize = 4;
/// A site whose recipe names more front pages has no other sections.
const NAMED_FRONTS: usize = 2;
/// Feeds of a page that are read.
const MOST_FEEDS: usize = 6;
/// Sitemaps of one robots.txt or one index that are read.
const MOST_SITEMAPS: usize = 4;
/// A front page with fewer headlines is made by a program in the browser: its feeds are looked for.
const FEW_HEADLINES: usize = 3;
/// Where feeds are often found.
const GUESSES: [&str; 3] = ["/feed", "/rss.xml", "/atom.xml"];
const DAY_MS: i64 = 86_400_000;
/// What a feed, a news sitemap or the day in a URL says is older is no news.
const OLDEST_MS: i64 = 30 * DAY_MS;
/// The same of a year alone.
const LONG_AGO_MS: i64 = 365 * DAY_MS;
/// The same of a sitemap that lists all pages, by when they changed.
const CHANGED_MS: i64 = 4 * DAY_MS;
/// A sitemap of all pages, and what cannot be had, is asked for no oftener.
pub(crate) const SLOW: Duration = Duration::from_secs(86_400);

/// A URL to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gathered {
    pub url: CanonicalUrl,
    pub depth: u16,
    pub role: Role,
}

impl Gathered {
    fn new(url: CanonicalUrl, depth: u16, role: Role) -> Self {
        Gathered { url, depth, role }
    }
}

/// What a row of a news job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Front,
    Feed,
    Article,
}

impl Kind {
    pub(crate) fn of(role: Role, depth: u16) -> Self {
        match role {
            Role::Sitemap => Kind::Feed,
            Role::Page if depth >= ARTICLE => Kind::Article,
            Role::Page => Kind::Front,
        }
    }
}

/// The level in the queue of a page of a news job that is visited again.
pub(crate) fn level_again(role: Role, depth: u16) -> u16 {
    match Kind::of(role, depth) {
        Kind::Article => KNOWN,
        Kind::Front | Kind::Feed => depth.min(SECTION),
    }
}

/// How often a page of a news job is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cadence {
    /// After so long, and once in each round for news.
    Every(Duration),
    /// After so long, also in rounds.
    Slow(Duration),
    /// As its policy has it.
    Policy,
    /// Not any more: its site is not followed, or not in this run.
    Never,
}

/// What visits share to gather news.
pub(crate) struct Gather {
    settings: NewsSettings,
    sites: RwLock<Arc<Sites>>,
    learned: Mutex<HashMap<String, Learned>>,
    /// Since when these news are wanted of all sites; others were before.
    since: Option<Time>,
    /// The same of single sites, whose recipes were changed during the run.
    changed: Mutex<HashMap<String, Time>>,
    /// The fronts of sites that answer without TLS only: these are asked in place of those that were guessed.
    plain: Mutex<HashMap<String, Vec<CanonicalUrl>>>,
}

impl Gather {
    pub(crate) fn new(settings: &NewsSettings) -> Self {
        Gather {
            sites: RwLock::new(settings.source.sites()),
            settings: settings.clone(),
            learned: Mutex::default(),
            since: settings.since,
            changed: Mutex::default(),
            plain: Mutex::default(),
        }
    }

    /// The sites that are followed.
    pub(crate) fn sites(&self) -> Arc<Sites> {
        self.sites.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks whether other sites are followed now.
    pub(crate) fn look_again(&self, now: Time) -> bool {
        let sites = self.settings.source.sites();
        let mut known = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = !Arc::ptr_eq(&sites, &known) && *sites != **known;
        // How often a site is looked at and what it is called says nothing of what is read there.
        let bare = |recipe: &Recipe| Recipe { cycle: None, name: String::new(), ..recipe.clone() };
        let before = std::mem::replace(&mut *known, sites.clone());
        drop(known);
        for recipe in sites.recipes().iter().filter(|_| is_new) {
            let old = before.recipes().iter().find(|old| old.site == recipe.site);
            if old.is_none_or(|old| bare(old) != bare(recipe)) {
                self.changed().insert(recipe.site.clone(), now);
            }
        }
        is_new
    }

    fn changed(&self) -> std::sync::MutexGuard<'_, HashMap<String, Time>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a front page or a feed is to be read though it may be as it was when it was last read: other
    /// news are wanted of its site since then.
    pub(crate) fn is_wanted_anew(&self, url: &CanonicalUrl, last: Option<Time>) -> bool {
        let of_site = || self.changed().get(&self.site_of(url)?).copied();
        let since = self.since.max(of_site());
        since.is_some_and(|since| last.is_none_or(|last| last < since))
    }

    /// Of a site whose fronts are guessed these are asked, without TLS; where there are none, those with.
    pub(crate) fn ask_plainly(&self, site: &str, fronts: Vec<CanonicalUrl>) {
        match fronts.is_empty() {
            true => self.plain().remove(site),
            false => self.plain().insert(site.to_owned(), fronts),
        };
    }

    fn plain(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<CanonicalUrl>>> {
        self.plain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a page is a front that is asked without TLS; or one that was guessed, and another is asked in its place.
    fn stands_for(&self, recipe: &Recipe, url: &CanonicalUrl) -> Option<bool> {
        let plain = self.plain();
        let asked = plain.get(&recipe.site).filter(|_| url.path() == "/")?;
        let is_guessed = || guessed(recipe).is_some_and(|guessed| guessed.https.contains(url));
        if asked.contains(url) { Some(true) } else { is_guessed().then_some(false) }
    }

    /// Whether a site is meant in this run.
    pub(crate) fn means(&self, recipe: &Recipe) -> bool {
        let only = &self.settings.sites;
        only.is_empty() || only.contains(&recipe.site)
    }

    /// The site that a page or a file is read for.
    pub(crate) fn site_of(&self, url: &CanonicalUrl) -> Option<String> {
        recipe_for(&self.sites(), url).map(|recipe| recipe.site.clone())
    }

    /// How often a row is looked at.
    pub(crate) fn cadence(
        &self,
        url: &CanonicalUrl,
        kind: Kind,
        is_seed: bool,
        first_seen: Time,
        failures: u8,
        now: Time,
    ) -> Cadence {
        let sites = self.sites();
        let Some(recipe) = recipe_for(&sites, url).filter(|recipe| self.means(recipe)) else {
            return Cadence::Never;
        };
        let cycle = recipe.cycle.unwrap_or(self.settings.cycle);
        let slow = cycle.max(SLOW);
        let stands = self.stands_for(recipe, url).filter(|_| kind == Kind::Front);
        let is_seed = is_seed || stands == Some(true);
        match kind {
            _ if stands == Some(false) => Cadence::Never,
            Kind::Article if now.since(first_seen) >= self.settings.recent => Cadence::Policy,
            Kind::Feed if is_general_sitemap(url) => Cadence::Slow(slow),
            _ if failures == 0 || is_seed => Cadence::Every(cycle),
            // What cannot be had is asked for ever more rarely.
            _ => Cadence::Slow((cycle * (1 << failures.min(10))).min(slow)),
        }
    }

    /// What is to be asked for next, by a page.
    pub(crate) fn page(
        &self,
        entry: &Entry,
        html: &[u8],
        charset: Option<&str>,
        links: &[Link],
        suffixes: &Suffixes,
        now: Time,
    ) -> Vec<Gathered> {
        let sites = self.sites();
        let url = &entry.url;
        let Some(recipe) = sites.of(url) else { return Vec::new() };
        let outline = parse_outline(html, charset);
        let kind = page_kind(&outline, url);
        if Kind::of(entry.role, entry.depth) == Kind::Article {
            if kind != PageKind::Unknown {
                self.tell(recipe, url, kind == PageKind::Article);
            }
            return Vec::new();
        }
        // What was taken for the front of a section may be an article.
        if entry.depth > FRONT && kind == PageKind::Article {
            return Vec::new();
        }
        let reading = Reading::new(recipe, self.settings.subject.as_deref());
        let mut out = Vec::new();
        let articles = self.articles(&reading, &outline, url, links, suffixes, now);
        let feeds: Vec<FeedLink> = feed_links(&outline, url)
            .into_iter()
            .filter(|feed| reading.is_own(&feed.url) && !feed.is_of_comments())
            .collect();
        let few = articles.len() < FEW_HEADLINES;
        if entry.depth == FRONT {
            let sections = reading.sections(links, url);
            out.extend(sections.map(|to| Gathered::new(to, SECTION, Role::Page)));
            if feeds.is_empty() && few {
                let at = |path: &&str| url.join(path).ok();
                let guesses = GUESSES.iter().filter_map(at);
                out.extend(guesses.map(|to| Gathered::new(to, SECTION, Role::Sitemap)));
            }
            if few {
                let onward = links.iter().filter(|link| link.kind == LinkKind::Refresh);
                let onward = onward.filter(|link| reading.is_own(&link.url)).take(1);
                out.extend(onward.map(|to| Gathered::new(to.url.clone(), FRONT, Role::Page)));
            }
        }
        let most = if entry.depth == FRONT { MOST_FEEDS } else { 1 };
        let feeds = feeds.into_iter().take(most);
        out.extend(feeds.map(|feed| Gathered::new(feed.url, SECTION, Role::Sitemap)));
        out.extend(articles.into_iter().map(|to| Gathered::new(to, ARTICLE, Role::Page)));
        out
    }

    /// The articles that a front page leads to, as it shows them. What is old by its URL is none, unless the
    /// page has nothing else.
    fn articles(
        &self,
        reading: &Reading<'_>,
        outline: &Outline,
        url: &CanonicalUrl,
        links: &[Link],
        suffixes: &Suffixes,
        now: Time,
    ) -> Vec<CanonicalUrl> {
        let learned = self.learned().get(reading.site()).cloned().unwrap_or_default();
        let here = reading.subjects(url, &[]);
        let mut seen: HashSet<CanonicalUrl> = HashSet::new();
        let (mut out, mut old) = (Vec::new(), Vec::new());
        let mut take = |to: CanonicalUrl, words: &[&str], out: &mut Vec<CanonicalUrl>| {
            let out = if is_old(&to, now) { &mut old } else { out };
            let wanted = reading.is_own(&to)
                && !reading.is_front(&to)
                && reading.is_on_subject(&to, words, &here)
                && !reading.is_left_out(&to);
            if wanted && out.len() < MOST_ARTICLES && seen.insert(to.clone()) {
                out.push(to);
            }
        };
        let shown = headlines(outline, url, suffixes, &learned, now);
        let again = also_at(&shown, links);
        for headline in shown {
            take(headline.url, &[&headline.section], &mut out);
        }
        for to in again.into_iter().filter(|to| reading.is_article(to)) {
            take(to, &[], &mut out);
        }
        // What a person has written down holds wherever it stands on the page.
        if !reading.recipe.patterns.is_empty() {
            for to in links.iter().filter(|link| is_anchor(link)).map(|link| &link.url) {
                let to = without_tracking(to);
                if reading.recipe.is_article(&to) {
                    take(to, &[], &mut out);
                }
            }
        }
        if out.is_empty() {
            out = old;
        }
        // A link that is not to be followed is not, unless another leads there.
        let bare = |to: &Link| without_tracking(&to.url);
        let (no, yes): (Vec<&Link>, Vec<&Link>) = links.iter().partition(|link| link.nofollow);
        if !no.is_empty() {
            let yes: HashSet<CanonicalUrl> = yes.into_iter().map(bare).collect();
            let no: HashSet<CanonicalUrl> = no.into_iter().map(bare).collect();
            out.retain(|to| !no.contains(to) || yes.contains(to));
        }
        out
    }

    /// What is to be asked for next by a feed or a sitemap, and which pages have changed when, as it says.
    pub(crate) fn listed(
        &self,
        entry: &Entry,
        bytes: &[u8],
        content_type: Option<&str>,
        now: Time,
    ) -> (Vec<Gathered>, Vec<(CanonicalUrl, Time)>) {
        let sites = self.sites();
        let Some(recipe) = recipe_for(&sites, &entry.url) else { return Default::default() };
        let reading = Reading::new(recipe, self.settings.subject.as_deref());
        if let Some(feed) = parse_feed(bytes, content_type, Some(&entry.url)) {
            let items = self.items(&reading, feed, &entry.url, now);
            let modified = items.iter().filter_map(|item| Some((item.0.clone(), item.1?)));
            let modified = modified.collect();
            let articles = items.into_iter().map(|(to, _)| Gathered::new(to, ARTICLE, Role::Page));
            return (articles.collect(), modified);
        }
        if !is_sitemap(bytes) {
            return Default::default();
        }
        let Sitemap { kind, urls, .. } = parse_sitemap(bytes, &entry.url);
        if kind == SitemapKind::Index {
            let listed = urls.into_iter().map(|listed| (listed.url, listed.last_modified));
            let own = listed.filter(|(to, _)| reading.is_own(to));
            let chosen = sitemaps_worth_reading(own.collect(), now);
            let chosen = chosen.into_iter().map(|to| Gathered::new(to, SECTION, Role::Sitemap));
            return (chosen.collect(), Vec::new());
        }
        let mut recent: Vec<(Time, CanonicalUrl)> = Vec::new();
        for listed in urls {
            let (to, is_news) = (without_tracking(&listed.url), listed.news.is_some());
            let said = listed.news.and_then(|news| Some(news.published?.time));
            let time = said.or(listed.last_modified).or_else(|| day_in(&to));
            let oldest = if is_news { OLDEST_MS } else { CHANGED_MS };
            let Some(time) = time.filter(|time| now.0 - time.0 < oldest) else { continue };
            let is_article = is_news || reading.is_article(&to);
            if is_article && reading.is_own(&to) && !reading.is_front(&to) {
                recent.push((time, to));
            }
        }
        recent.retain(|(_, to)| reading.is_on_subject(to, &[], &[]) && !reading.is_left_out(to));
        recent.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        let mut seen = HashSet::new();
        recent.retain(|(_, to)| seen.insert(to.clone()));
        recent.truncate(MOST_ARTICLES);
        let modified = recent.iter().map(|(time, to)| (to.clone(), *time)).collect();
        let articles = recent.into_iter().map(|(_, to)| Gathered::new(to, ARTICLE, Role::Page));
        (articles.collect(), modified)
    }

    /// The pages of a feed's entries, the newest first, and when each has changed, as it says.
    fn items(
        &self,
        reading: &Reading<'_>,
        feed: Feed,
        url: &CanonicalUrl,
        now: Time,
    ) -> Vec<(CanonicalUrl, Option<Time>)> {
        let here = reading.subjects(url, &[&feed.title]);
        let mut items = Vec::new();
        let mut seen = HashSet::new();
        for entry in feed.entries {
            let time = entry.published.or(entry.updated).map(|said| said.time);
            let Some(to) = entry.link.map(|link| without_tracking(&link)) else { continue };
            let too_old = match time {
                Some(time) => now.0 - time.0 >= OLDEST_MS,
                None => is_old(&to, now),
            };
            let words: Vec<&str> = entry.categories.iter().map(String::as_str).collect();
            if !too_old
                && reading.is_own(&to)
                && !reading.is_front(&to)
                && !reading.is_left_out(&to)
                && reading.is_on_subject(&to, &words, &here)
                && seen.insert(to.clone())
            {
                self.tell(reading.recipe, &to, true);
                items.push((to, time, entry.updated.map(|said| said.time)));
            }
        }
        // Entries without a time stay where the feed has them, in front.
        items.sort_by_key(|(_, time, _)| std::cmp::Reverse(time.unwrap_or(now)));
        items.truncate(MOST_ARTICLES);
        items.into_iter().map(|(to, _, updated)| (to, updated)).collect()
    }

    fn learned(&self) -> std::sync::MutexGuard<'_, HashMap<String, Learned>> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, recipe: &Recipe, url: &CanonicalUrl, is_article: bool) {
        self.learned().entry(recipe.site.clone()).or_default().tell(url, is_article);
    }
}

/// Headlines that a page leads to in other sections, too: the same words, the same end of the address. One is shown of
/// them, and the article is there as long as one of its addresses is.
fn also_at(shown: &[Headline], links: &[Link]) -> Vec<CanonicalUrl> {
    fn last(url: &CanonicalUrl) -> Option<&str> {
        url.path().rsplit('/').next().filter(|last| !last.is_empty() && url.query().is_none())
    }
    let named: HashSet<(&str, &str)> =
        shown.iter().filter_map(|one| Some((one.title.as_str(), last(&one.url)?))).collect();
    let is_shown = |to: &CanonicalUrl| shown.iter().any(|one| one.url == *to);
    let same = |link: &&Link| {
        is_anchor(link)
            && last(&link.url).is_some_and(|last| named.contains(&(link.words.trim(), last)))
    };
    let all = links.iter().filter(same).map(|link| without_tracking(&link.url));
    all.filter(|to| !is_shown(to)).collect()
}

/// The recipe for a page or a file: because it is named as a feed, else by its place.
fn recipe_for<'s>(sites: &'s Sites, url: &CanonicalUrl) -> Option<&'s Recipe> {
    sites.naming(url).or_else(|| sites.of(url))
}

/// Whether an answer in place of an article says that there is none any more.
pub(crate) fn is_gone(recipe: Option<&Recipe>, outcome: &FetchOutcome) -> bool {
    if outcome.kind == OutcomeKind::Redirect {
        let to = outcome.detail.as_deref().and_then(|to| CanonicalUrl::parse(to).ok());
        return to.zip(recipe).is_some_and(|(to, recipe)| leads_away(recipe, &to));
    }
    // What a robots.txt answered is no answer of the page.
    matches!(outcome.status, 404 | 410) && outcome.detail.is_none()
}

/// Of sitemaps, with the times of their last change, those in which news may stand: by their names, else
/// by their age, else the first and the last.
pub(crate) fn sitemaps_worth_reading(
    mut all: Vec<(CanonicalUrl, Option<Time>)>,
    now: Time,
) -> Vec<CanonicalUrl> {
    let named: Vec<CanonicalUrl> =
        all.iter().filter(|(url, _)| is_news_sitemap(url)).map(|(url, _)| url.clone()).collect();
    if !named.is_empty() {
        return named.into_iter().take(MOST_SITEMAPS).collect();
    }
    if all.iter().any(|(_, time)| time.is_some()) {
        all.retain(|(_, time)| time.is_some_and(|time| now.0 - time.0 < CHANGED_MS));
        all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        all.truncate(MOST_SITEMAPS);
    } else if all.len() > 2 {
        all.drain(1..all.len() - 1);
    }
    all.into_iter().map(|(url, _)| url).collect()
}

fn is_news_sitemap(url: &CanonicalUrl) -> bool {
    let path = url.path_and_query().to_ascii_lowercase();
    ["news", "latest", "recent"].iter().any(|word| path.contains(word))
}

/// Whether a file lists all pages of a site, not only the newest.
fn is_general_sitemap(url: &CanonicalUrl) -> bool {
    url.path().to_ascii_lowercase().contains("sitemap") && !is_news_sitemap(url)
}

fn is_anchor(link: &Link) -> bool {
    matches!(link.kind, LinkKind::Anchor | LinkKind::Area) && !link.nofollow
}

/// Whether a URL tells that it is no news any more: all days in it are long ago, or, where it has none, the
/// year of its folder.
fn is_old(url: &CanonicalUrl, now: Time) -> bool {
    let ago = |time: Option<Time>| time.map_or(0, |time| now.0 - time.0);
    let dates = dates_in_url(url).into_iter().filter(|date| date.day > 0);
    if let Some((year, month, day)) = dates.map(|date| (date.year, date.month, date.day)).max() {
        return ago(Time::of_day(year.into(), month.into(), day.into())) > OLDEST_MS;
    }
    // The year of a month, too: `/2026/11/`, `/202611/`. What the last part says may be in a title.
    let folders = url.path().rsplit_once('/').map_or("", |(folders, _)| folders);
    let years = folders.split('/').filter(|folder| matches!(folder.len(), 4 | 6)).filter_map(|f| {
        let year = f.parse::<i64>().ok().and_then(|_| f.get(..4)?.parse().ok())?;
        (1990..2100).contains(&year).then_some(year)
    });
    years.max().is_some_and(|year| ago(Time::of_day(year, 12, 31)) > LONG_AGO_MS)
}

/// The day that stands in a URL.
fn day_in(url: &CanonicalUrl) -> Option<Time> {
    let date = dates_in_url(url).into_iter().find(|date| date.day > 0)?;
    Time::of_day(date.year.into(), date.month.into(), date.day.into())
}

/// A recipe, and what is wanted of its site.
struct Reading<'r> {
    recipe: &'r Recipe,
    /// By which URLs are read: the recipe itself where it has patterns, else the forms of many sites.
    forms: Cow<'r, Recipe>,
    fronts: Vec<CanonicalUrl>,
    wanted: Option<String>,
}

impl<'r> Reading<'r> {
    fn new(recipe: &'r Recipe, subject: Option<&str>) -> Self {
        let forms = match recipe.patterns.is_empty() {
            true => Cow::Owned(common_recipe(&recipe.site)),
            false => Cow::Borrowed(recipe),
        };
        let fronts = fronts(recipe);
        let mut reading = Reading { recipe, forms, fronts, wanted: None };
        reading.wanted = subject.map(|subject| reading.name_of(subject).into_owned());
        reading
    }

    fn site(&self) -> &str {
        &self.recipe.site
    }

    fn is_own(&self, url: &CanonicalUrl) -> bool {
        self.recipe.is_for(url)
    }

    fn is_front(&self, url: &CanonicalUrl) -> bool {
        self.fronts.contains(url)
    }

    /// Whether the recipe says that it is none.
    fn is_left_out(&self, url: &CanonicalUrl) -> bool {
        self.recipe.article.without.iter().any(|word| url.as_str().contains(word.as_str()))
    }

    fn is_article(&self, url: &CanonicalUrl) -> bool {
        self.forms.is_article(url) || is_article_url(url)
    }

    /// The subject that a word stands for, if it is one of those that sites use.
    fn known(&self, word: &str) -> Option<&str> {
        let mut rows = self.recipe.subjects.iter().filter(|(name, subject)| {
            name.eq_ignore_ascii_case(word) || subject.eq_ignore_ascii_case(word)
        });
        rows.next().map(|(_, subject)| subject.as_str()).or_else(|| subject_of(word))
    }

    fn name_of(&self, word: &str) -> Cow<'_, str> {
        match self.known(word) {
            Some(subject) => Cow::Borrowed(subject),
            None => Cow::Owned(word.to_lowercase()),
        }
    }

    /// The label of a host before its site: `sports` of `sports.example.org`.
    fn label<'u>(&self, url: &'u CanonicalUrl) -> Option<&'u str> {
        let before = url.host().strip_suffix(&self.recipe.site)?.strip_suffix('.')?;
        before.rsplit('.').next().filter(|label| *label != "www")
    }

    /// The subjects that a URL tells, and words that stand with it.
    fn subjects(&self, url: &CanonicalUrl, words: &[&str]) -> Vec<String> {
        let parts = self.forms.parts(url).unwrap_or_default();
        let mut names: Vec<&str> = Vec::new();
        names.extend(parts.section.as_deref().into_iter().chain(parts.subject.as_deref()));
        names.extend(self.label(url));
        let mut segments: Vec<&str> = url.path().split('/').filter(|s| !s.is_empty()).collect();
        if !is_section_url(url) {
            segments.pop();
        }
        names.extend(segments);
        let split = |text: &&'_ str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
        };
        let said: Vec<String> = words.iter().flat_map(split).collect();
        names.extend(said.iter().map(String::as_str).filter(|word| !word.is_empty()));
        let wanted = self.wanted.as_deref();
        let told = names.into_iter().filter_map(|name| {
            let subject = self.name_of(name);
            let counts = self.known(name).is_some() || wanted == Some(&*subject);
            counts.then(|| subject.into_owned())
        });
        told.collect()
    }

    /// Whether an article is on the subject that is wanted: by its URL and the words with it, else by the
    /// page it stands on.
    fn is_on_subject(&self, url: &CanonicalUrl, words: &[&str], here: &[String]) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let told = self.subjects(url, words);
        if told.is_empty() { here.contains(wanted) } else { told.contains(wanted) }
    }

    /// The fronts of sections that a front page leads to: those whose subject is known by their address or
    /// their words first, then others that a site may well have.
    fn sections(&self, links: &[Link], url: &CanonicalUrl) -> impl Iterator<Item = CanonicalUrl> {
        let (mut out, mut others): (Vec<CanonicalUrl>, Vec<CanonicalUrl>) = Default::default();
        let fits = |subject: &str| self.wanted.as_deref().is_none_or(|wanted| wanted == subject);
        let links = links.iter().filter(|_| self.recipe.front.len() <= NAMED_FRONTS);
        for link in links.filter(|link| is_anchor(link)) {
            let to = &link.url;
            let is_root = to.path() == "/" && section_in_query(to).is_none();
            let is_here = to.host() == url.host() && (is_root || to == url);
            let is_known = out.contains(to) || others.contains(to);
            // Searches and feeds of a section are named so, too.
            let is_other = to.query().is_some() && is_service(to);
            let is_section = is_section_url(to) && !is_other && self.is_own(to);
            if is_here || is_known || !is_section || self.is_front(to) {
                continue;
            }
            let last = to.path().split('/').rfind(|part| !part.is_empty());
            let last = last.map(|part| part.split('.').next().unwrap_or(part));
            let word = section_in_query(to).or(last).or_else(|| self.label(to)).unwrap_or_default();
            let subject = self.known(word).or_else(|| self.known(link.words.trim()));
            match subject {
                Some(subject) if out.len() < MOST_SECTIONS && fits(subject) => out.push(to.clone()),
                None if self.wanted.is_none() && others.len() < OTHER_SECTIONS => {
                    others.extend(may_be_section(link).then(|| to.clone()));
                }
                _ => {}
            }
        }
        others.truncate(OTHER_SECTIONS.min(MOST_SECTIONS - out.len()));
        out.into_iter().chain(others)
    }
}

/// Whether a link may lead to a section of which nothing is known: one step from the front, by one or two
/// words, and to no service.
fn may_be_section(link: &Link) -> bool {
    let words = link.words.trim();
    let steps = link.url.path().split('/').filter(|part| !part.is_empty()).count();
    let is_word = |c: char| c.is_alphabetic() || matches!(c, ' ' | '-' | '&');
    steps <= 1
        && !is_service(&link.url)
        && !words.is_empty()
        && words.chars().count() <= 24
        && words.split_whitespace().count() <= 2
        && words.chars().all(is_word)
}
