//! A page that was fetched becomes an article: read from the archive, judged, compared with those that are there.
//!
//! * Each article once per site: a page is the article whose address it has, which it names as its own address, or whose
//!   title and text it repeats. The newest capture of any of its pages counts.
//! * A version: title or text of one page are other than they were. What stands around them does not count.

use super::NewsError;
use super::hint::{self, Hints, Teller, exact, fill};
use super::judge::{address, canonical, folded_title, is_article, print, subject, word_count};
use super::row::{Body, Exact, Head, Hint, Page, Past, Record};
use super::state::Open;
use super::table::Table;
use crate::gather::{ARTICLE, is_gone};
use crate::versions::{Shelf, VersionError, Versions};
use argiope_archive::{ArchiveError, Fingerprint, TextBlob, decode_text, encode_text};
use argiope_fetch::Head as Answer;
use argiope_model::{CanonicalUrl, Capture, JobId, OutcomeKind, Role, Suffixes, Time, UrlKey};
use argiope_news::{PageKind, Recipe, Sites, gist, page_kind, place};
use argiope_parse::{self as parse, Article, parse_known_article, parse_outline};
use argiope_store::{Store, UrlRow, UrlState};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a page that are read.
const MAX_BYTES: u64 = 8 << 20;
/// The same title and text after so long is another article.
const REPEATED: i64 = 7 * 86_400_000;
/// Two pages of a site with one title are one article when they share this part of their word runs, and two of which one
/// names the other as its address when they share this one.
const SAME: f32 = 0.5;
const ALIKE: f32 = 0.1;
/// Other addresses that are kept of an article.
const MAX_URLS: usize = 20;
/// Pages of an article that are written down; some sites show one under an address for every visit.
const MAX_PAGES: usize = 50;
const MAX_ADDRESSES: usize = 2 * MAX_PAGES;
/// Earlier selves of an article that are kept.
const MAX_PAST: usize = 12;
/// A page that cannot be read is tried again for so long, then it is passed over.
const TRIED: Duration = Duration::from_secs(600);

/// Where pages are read.
pub(super) struct Pages<'a> {
    pub store: &'a dyn Store,
    pub warc: &'a Path,
    pub text: &'a Path,
    pub pinned: &'a Suffixes,
    /// The jobs that gather news, once somebody has asked.
    pub news_jobs: OnceCell<BTreeSet<JobId>>,
    /// The page that could not be read, if the last one could not.
    pub unread: &'a Mutex<Option<Unread>>,
}

/// A page that could not be read, and since when.
pub(super) struct Unread {
    url: String,
    since: Instant,
}

/// What a capture came to.
pub(super) enum Looked {
    Nothing,
    Article(Box<Seen>),
    /// What it says of others, by their addresses.
    Told(Vec<(u64, Hint)>),
}

/// What has become of a page: its number, and since when it is no more, or that it is there.
pub(super) type Fate = (u64, Option<i64>);

/// What is known before a capture is read.
pub(super) struct Known<'a> {
    pub table: &'a Table,
    pub hints: &'a Hints,
    pub sites: &'a Sites,
    pub recipe: &'a Recipe,
}

/// A page that was read.
pub(super) struct Seen {
    pub url: CanonicalUrl,
    pub doc: u64,
    pub time: Time,
    pub quotable: bool,
    pub article: Article,
}

impl Pages<'_> {
    /// Reads a capture of a followed site: an article, or a page or a feed that tells of some; and what has become
    /// of a page that was an article.
    pub fn look(
        &self,
        key: UrlKey,
        time: Time,
        known: &Known<'_>,
    ) -> Result<(Option<Fate>, Looked), NewsError> {
        let Known { table, recipe, .. } = known;
        let nothing = Ok((None, Looked::Nothing));
        let Some(row) = self.store.urls(&[key])?.pop().flatten() else { return nothing };
        let is_list = row.role == Role::Sitemap;
        if row.state == UrlState::Forgotten || !(is_list || recipe.is_for(&row.url)) {
            return nothing;
        }
        if table.looked_at(row.doc.0).is_some_and(|last| last >= time.0) {
            return nothing;
        }
        let captures = self.store.captures(key)?;
        let outcome = captures.iter().find(|c| c.time == time).map(|c| &c.outcome);
        let fate = outcome.filter(|_| table.of_doc(row.doc.0).is_some()).and_then(|outcome| {
            let is_there = matches!(outcome.kind, OutcomeKind::Fetched | OutcomeKind::NotModified);
            let gone = is_gone(Some(recipe), outcome);
            (gone || is_there).then_some((row.doc.0, gone.then_some(time.0)))
        });
        let page = Versions { url: row.url.clone(), captures };
        Ok((fate, self.look_at(&row, &page, time, known)?))
    }

    fn look_at(
        &self,
        row: &UrlRow,
        page: &Versions,
        time: Time,
        known: &Known<'_>,
    ) -> Result<Looked, NewsError> {
        let Known { table, hints, sites, recipe } = *known;
        let (is_list, last) = (row.role == Role::Sitemap, table.looked_at(row.doc.0));
        let is_read = |c: &Capture| {
            let has_text = !is_list && c.text.is_some();
            c.outcome.kind == OutcomeKind::Fetched
                && (c.record.is_some() || has_text)
                && (is_list || parse::type_group(&c.mime) == "html")
        };
        let Some(n) = page.captures.iter().position(|c| c.time == time && is_read(c)) else {
            return Ok(Looked::Nothing);
        };
        let capture = &page.captures[n];
        let before = page.captures[..n].iter().rfind(|c| last == Some(c.time.0));
        if before.is_some_and(|before| before.body_digest == capture.body_digest) {
            return Ok(Looked::Nothing);
        }
        let is_news = self.is_news_job(row.job())?;
        let read = self.read(page, n);
        let read = match read.map_err(|e| self.tried(&page.url, e)) {
            Ok(read) => {
                *self.unread.lock().unwrap_or_else(PoisonError::into_inner) = None;
                read
            }
            Err(Ok(e)) => {
                tracing::debug!("{} is not among the news: {e}", page.url);
                return Ok(Looked::Nothing);
            }
            Err(Err(e)) => return Err(e),
        };
        let url = &page.url;
        let teller = Teller { doc: row.doc.0, url, recipe, sites };
        let (kind, outline, article) = match read {
            Read::File(bytes, declared) if is_list => {
                return Ok(Looked::Told(hint::by_list(&bytes, declared.as_deref(), &teller)));
            }
            Read::File(bytes, declared) => {
                let first = &bytes[..bytes.len().min(1445)];
                let ending = url.extension();
                let media = parse::media_type(declared.as_deref(), first, ending.as_deref());
                let charset = media.charset.as_deref();
                let outline = parse_outline(&bytes, charset);
                let kind = page_kind(&outline, url);
                let article = parse_known_article(&bytes, charset, Some(url), time);
                (kind, Some(outline), article)
            }
            Read::Text(text) => (PageKind::Unknown, None, of_text(*text)),
        };
        let led_to = is_news && row.depth >= ARTICLE
            || hints.of(address(url)).is_some()
            // Hints of what is known by now are not kept.
            || table.of_doc(row.doc.0).is_some();
        if is_article(url, recipe, kind, &article, led_to) {
            let quotable = !(capture.directives.nosnippet || capture.directives.noarchive);
            let (doc, url) = (row.doc.0, url.clone());
            return Ok(Looked::Article(Box::new(Seen { doc, url, time, quotable, article })));
        }
        let is_front = is_news && row.depth < ARTICLE || kind == PageKind::Front;
        Ok(match outline.filter(|_| is_front && kind != PageKind::Article) {
            Some(page) => Looked::Told(hint::by_front(&page, &teller, self.pinned, time)),
            None => Looked::Nothing,
        })
    }

    fn is_news_job(&self, job: JobId) -> Result<bool, NewsError> {
        if let Some(jobs) = self.news_jobs.get() {
            return Ok(jobs.contains(&job));
        }
        let rows = self.store.jobs()?.into_iter();
        let jobs = rows.filter(|row| row.job.news).map(|row| row.job.id);
        Ok(self.news_jobs.get_or_init(|| jobs.collect()).contains(&job))
    }

    /// Whether a page is to be passed over that cannot be read, or tried again: what is not kept stays so, a disk or a store
    /// that fails does not.
    fn tried(&self, url: &CanonicalUrl, e: VersionError) -> Result<VersionError, NewsError> {
        if !is_passing(&e) {
            return Ok(e);
        }
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        let same = unread.take().filter(|unread| unread.url == url.as_str());
        let since = same.map_or_else(Instant::now, |unread| unread.since);
        if since.elapsed() >= TRIED {
            tracing::warn!("{url} is not among the news: it could not be read for ten minutes");
            return Ok(e);
        }
        let url = url.as_str().to_owned();
        *unread = Some(Unread { url: url.clone(), since });
        Err(NewsError::Page { url, source: e })
    }

    fn read(&self, page: &Versions, n: usize) -> Result<Read, VersionError> {
        let captures_of =
            |url: &str| -> Result<Vec<Capture>, Box<dyn std::error::Error + Send + Sync>> {
                // What is no address has no captures.
                let Ok(url) = CanonicalUrl::parse(url) else { return Ok(Vec::new()) };
                Ok(self.store.captures(url.key(self.pinned))?)
            };
        let shelf = Shelf {
            warc: self.warc.to_owned(),
            text: self.text.to_owned(),
            captures_of: &captures_of,
        };
        if page.captures[n].record.is_none() {
            // Not archived: its text tells less, but it is there.
            let none = || VersionError::NotKept("it has no text".to_owned());
            return Ok(Read::Text(Box::new(shelf.text(page, n)?.ok_or_else(none)?)));
        }
        let opened = shelf.open(page, n)?;
        let head = Answer::archived(0, opened.head.clone());
        let mut bytes = Vec::new();
        let read = opened.plain()?.take(MAX_BYTES).read_to_end(&mut bytes);
        read.map_err(|e| VersionError::Encoding(e.into()))?;
        Ok(Read::File(bytes, head.content_type().map(|declared| declared.into_owned())))
    }
}

/// Whether another time there may be no such error.
pub(super) fn is_passing(e: &VersionError) -> bool {
    let of_system =
        |e: &io::Error| e.raw_os_error().is_some() && e.kind() != io::ErrorKind::NotFound;
    match e {
        VersionError::Asking(_) => true,
        VersionError::Archive(ArchiveError::Io { source, .. }) => of_system(source),
        VersionError::Encoding(e) => e.downcast_ref::<io::Error>().is_some_and(of_system),
        _ => false,
    }
}

/// What is there of a capture.
enum Read {
    /// Its bytes, and the type they were said to be.
    File(Vec<u8>, Option<String>),
    Text(Box<TextBlob>),
}

/// What a text alone tells of an article.
fn of_text(blob: TextBlob) -> Article {
    let is_around = |n: usize| blob.around.iter().any(|range| range.contains(&(n as u32)));
    let lines = blob.text.lines().enumerate().filter(|(n, _)| !is_around(*n)).map(|(_, line)| line);
    Article {
        text: lines.collect::<Vec<_>>().join("\n"),
        title: blob.title,
        summary: blob.description,
        language: blob.language,
        ..Article::default()
    }
}

fn packed(text: &str) -> Vec<u8> {
    encode_text(&TextBlob {
        parser_version: parse::PARSER_VERSION,
        title: String::new(),
        description: String::new(),
        headings: Vec::new(),
        language: None,
        text: text.to_owned(),
        around: Vec::new(),
    })
}

/// The text of an article, as it was kept.
pub(super) fn unpacked(text: &[u8]) -> String {
    decode_text(text).map(|blob| blob.text).unwrap_or_default()
}

impl Open {
    /// Takes in an article that was seen.
    pub(super) fn take(&mut self, seen: &Seen, recipe: &Recipe) -> Result<(), NewsError> {
        let article = &seen.article;
        let (title, print) = (folded_title(&article.title), print(&article.title, &article.text));
        let own_address = address(&seen.url);
        let named = canonical(&seen.url, article, recipe).map(|url| address(&url));
        let mine = self.table.of_doc(seen.doc);
        let mut found = match named.and_then(|named| self.table.of_address(named)) {
            // Some sites name one page as the address of all.
            Some(n) if Some(n) == mine || self.resembles(n, seen, ALIKE)? => Some(n),
            _ => mine.or_else(|| self.table.of_address(own_address)),
        };
        // What has its title and its text, on another page that nobody called the same.
        let mut twin = self.table.of_title(&recipe.site, title).filter(|n| Some(*n) != found);
        if let Some(n) = twin {
            let apart = (self.table.rows[n as usize].time - self.time_of(seen)).abs();
            twin = (apart <= REPEATED && self.resembles(n, seen, SAME)?).then_some(n);
        }
        if found.is_none() {
            found = twin.take();
        }
        let mut addresses = vec![own_address];
        addresses.extend(named);
        let mut page = Page { doc: seen.doc, last: seen.time.0, print };
        let Some(n) = found else {
            return self.begin(seen, recipe, page, addresses);
        };
        let at = self.table.rows[n as usize].at;
        let (mut head, mut body) = (self.log()?.head(at)?, self.log()?.body(at)?);
        // Rules may have been held against it since it was written.
        head.rules = self.table.rules.get(&n).cloned().unwrap_or_default();
        if head.pages.len() >= MAX_PAGES && head.pages.iter().all(|other| other.doc != seen.doc) {
            self.table.shows_too(seen.doc, seen.time.0, n);
            return Ok(());
        }
        // What was found through a page of its own already is no change once more.
        let known = head.pages.iter().any(|other| other.doc != seen.doc && other.print == print);
        let mut merged: Vec<u32> = [mine, twin].into_iter().flatten().filter(|m| *m != n).collect();
        merged.dedup();
        let mut lost = Vec::new();
        for other in &merged {
            lost.extend(self.merge(*other, &mut head, &mut body)?);
        }
        let newest = head.pages.iter().all(|other| other.last <= seen.time.0);
        let before = head.pages.iter_mut().find(|other| other.doc == seen.doc);
        let changed = before.as_ref().is_some_and(|before| before.print != print);
        let as_before = before.is_some() && !changed;
        // A page that was new brought the change along without its being counted.
        let since = before.as_ref().map_or(i64::MAX, |before| before.last);
        let counted = !merged.is_empty() || head.updated.is_some_and(|at| at > since);
        match before {
            Some(before) => std::mem::swap(before, &mut page),
            None => head.pages.push(page),
        }
        addresses.retain(|address| !head.addresses.contains(address));
        addresses.truncate(MAX_ADDRESSES.saturating_sub(head.addresses.len()));
        if as_before && addresses.is_empty() && merged.is_empty() {
            self.table.touch(seen.doc, seen.time.0);
            return Ok(());
        }
        head.addresses.extend(addresses);
        body.hint.join(self.hint(&head.addresses));
        let url = seen.url.as_str();
        if body.url != url && !body.urls.iter().any(|u| u == url) && body.urls.len() < MAX_URLS {
            body.urls.push(url.to_owned());
        }
        // Captures may come in another order than they were taken in.
        head.seen = head.seen.min(seen.time.0);
        match changed {
            true if known && counted => {
                head.updated = head.updated.map(|time| time.min(seen.time.0))
            }
            true => {
                head.versions += 1;
                head.updated = Some(seen.time.0);
            }
            false => {}
        }
        if newest {
            // It may be older than those that are compared.
            let story = self.table.story_of(&head);
            self.stories.restore(head.doc, &head.site, Time(head.time), body.gist.clone(), story);
            if super::judge::print(&body.title, &unpacked(&body.text)) != print {
                let (title, text) = (body.title.clone(), std::mem::take(&mut body.text));
                body.past.push(Past { since: body.since, title, text });
                body.past.drain(..body.past.len().saturating_sub(MAX_PAST));
                body.since = seen.time.0;
            }
            self.describe(seen, recipe, &mut head, &mut body);
            let placed = self.stories.put(head.doc, &head.site, Time(head.time), body.gist.clone());
            self.placed(placed, &mut head)?;
        }
        self.keep(head, body)?;
        for (doc, since) in lost {
            self.lost(doc, Some(since))?;
        }
        Ok(())
    }

    /// Whether an article has at least a part of the word runs of a page, or all of its text.
    fn resembles(&mut self, n: u32, seen: &Seen, part: f32) -> Result<bool, NewsError> {
        let at = self.table.rows[n as usize].at;
        let body = self.log()?.body(at)?;
        let text = unpacked(&body.text);
        let same = text == seen.article.text;
        let [one, other] = [&text, &seen.article.text].map(|text| Fingerprint::of(text));
        Ok(same || one.resemblance(&other) >= part)
    }

    /// When an article appeared: as it says, else when it was seen.
    fn time_of(&self, seen: &Seen) -> i64 {
        let published = seen.article.published.map(|when| when.time.0);
        published.filter(|time| *time <= seen.time.0).unwrap_or(seen.time.0)
    }

    /// A new article.
    fn begin(
        &mut self,
        seen: &Seen,
        recipe: &Recipe,
        page: Page,
        addresses: Vec<u64>,
    ) -> Result<(), NewsError> {
        let mut head = Head {
            doc: seen.doc,
            pages: vec![page],
            site: recipe.site.clone(),
            host: place(&seen.url).to_owned(),
            time: self.time_of(seen),
            seen: seen.time.0,
            updated: None,
            versions: 1,
            subject: None,
            language: None,
            story: seen.doc,
            words: 0,
            addresses,
            title: 0,
            rules: Vec::new(),
        };
        let mut body = Body {
            url: seen.url.as_str().to_owned(),
            urls: Vec::new(),
            source: None,
            title: String::new(),
            summary: String::new(),
            authors: Vec::new(),
            published: None,
            zone: None,
            modified: None,
            picture: None,
            section: None,
            exact: Exact::Unknown,
            quotable: seen.quotable,
            hint: self.hint(&head.addresses),
            gist: gist("", "", None),
            text: Vec::new(),
            since: seen.time.0,
            past: Vec::new(),
        };
        self.describe(seen, recipe, &mut head, &mut body);
        let placed = self.stories.put(head.doc, &head.site, Time(head.time), body.gist.clone());
        self.placed(placed, &mut head)?;
        self.keep(head, body)
    }

    /// Writes down what the newest capture says.
    fn describe(&self, seen: &Seen, recipe: &Recipe, head: &mut Head, body: &mut Body) {
        let article = &seen.article;
        let named = article.section.as_deref();
        let summary = if seen.quotable { article.summary.clone() } else { String::new() };
        head.title = folded_title(&article.title);
        head.words = word_count(&article.text) as u32;
        head.subject = subject(&seen.url, recipe, named).or_else(|| head.subject.take());
        head.language.clone_from(&article.language);
        if article.published.is_some() {
            body.published = article.published.map(|when| when.time.0);
            body.zone = article.published.and_then(|when| when.offset_minutes);
            body.exact = exact(article.published);
        }
        body.modified = article.modified.map(|when| when.time.0);
        body.gist = gist(&article.title, &article.text, article.language.as_deref());
        body.text = packed(&article.text);
        body.title.clone_from(&article.title);
        body.authors.clone_from(&article.authors);
        body.picture.clone_from(&article.picture);
        body.section.clone_from(&article.section);
        body.source.clone_from(&article.site);
        body.summary = summary;
        body.quotable = seen.quotable;
        fill(head, body);
        head.rules = self
            .reader
            .fitting([&head.site, &head.host], &[&article.title, &body.summary, &article.text]);
    }

    /// What others say of an article with these addresses.
    fn hint(&self, addresses: &[u64]) -> Hint {
        let mut all = Hint::default();
        for hint in addresses.iter().filter_map(|address| self.hints.of(*address)) {
            all.join(hint.clone());
        }
        all
    }

    /// Remembers what a page or a feed says of articles, and tells it to those that are there.
    pub(super) fn told(&mut self, told: Vec<(u64, Hint)>) -> Result<(), NewsError> {
        let mut waiting = Vec::new();
        for (address, hint) in told {
            if !self.hints.tell(address, hint.clone()) {
                continue;
            }
            let Some(n) = self.table.of_address(address) else {
                waiting.push((address, hint));
                continue;
            };
            let (mut head, mut body) = self.body(n)?;
            if !body.hint.join(hint) {
                continue;
            }
            let (time, summary) = (head.time, body.summary.clone());
            fill(&mut head, &mut body);
            head.story = self.table.story_of(&head);
            head.rules = self.table.rules.get(&n).cloned().unwrap_or_default();
            if head.time != time {
                let (doc, gist, at) = (head.doc, body.gist.clone(), Time(head.time));
                self.stories.restore(doc, &head.site, at, gist, head.story);
            }
            if body.summary != summary {
                let text = unpacked(&body.text);
                let texts = [&*body.title, &*body.summary, &*text];
                head.rules = self.reader.fitting([&head.site, &head.host], &texts);
            }
            self.keep(head, body)?;
        }
        self.keep_told(&waiting)
    }

    /// An article turned out to be another one: its pages are that one's. Says of its first page, if that is no more, since
    /// when.
    fn merge(
        &mut self,
        mine: u32,
        head: &mut Head,
        body: &mut Body,
    ) -> Result<Option<(u64, i64)>, NewsError> {
        let at = self.table.rows[mine as usize].at;
        let (other, told) = (self.log()?.head(at)?, self.log()?.body(at)?);
        self.log()?.append(&Record::Gone(other.doc), None)?;
        let lost = self.table.lost.get(&other.doc).map(|since| (other.doc, *since));
        self.dead += self.table.remove(other.doc);
        self.stories.forget(other.doc);
        self.reader.read_as(other.doc, head.doc)?;
        head.seen = head.seen.min(other.seen);
        head.pages.extend(other.pages);
        head.pages.truncate(MAX_PAGES);
        head.addresses.extend(other.addresses);
        head.addresses.truncate(MAX_ADDRESSES);
        body.hint.join(told.hint);
        body.urls.extend([told.url].into_iter().chain(told.urls));
        body.urls.truncate(MAX_URLS);
        Ok(lost)
    }
}
