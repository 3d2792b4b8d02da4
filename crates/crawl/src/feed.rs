//! Feeds: what is new and what has changed, newest first, as Atom or as rows.
//!
//! * What this is: [`news`] finds the entries, [`atom`] writes them down (RFC 4287), [`write_feed`]
//!   keeps such a file up to date: whoever reads it meanwhile sees the old one or the new one.
//! * Its place: `argiope feed` asks for it; whoever watches pages may refresh files with it.
//! * How it reads: the change log from its end, partition by partition, only as far as there can be
//!   entries among the newest; then the captures of the pages it names. Nothing is read twice over
//!   all pages. The log is in the order in which visits were taken in: what lies behind a long import
//!   of old archives may not be looked at.
//! * Invariants: an entry's id depends on the URL and the time of the capture alone, so a reader knows
//!   it again; a page that asks not to be shown or quoted is named and not quoted.
//! * What is not here: what counts as a change (`archive`, `versions`).

use crate::ask::find;
use crate::data_dir::DataDir;
use crate::forget::PrunedPages;
use crate::sites::named;
use crate::versions::{Shelf, VersionError, Versions, history};
use argiope_archive::{Piece, payload_digest, warc_date, word_diff};
use argiope_model::{CanonicalUrl, Capture, HostKey, OutcomeKind, Role, Time, UrlKey};
use argiope_store::{Ended, Store, StoreError, UrlRow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Rows of the change log of a partition that are read first, and at most at a time.
const PIECE: u64 = 16;
const MOST_ROWS: u64 = 1024;
/// Characters quoted of what came, and of what went.
const QUOTED: usize = 400;

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedOrder {
    /// URLs, or names of sites and hosts; none is everything.
    pub targets: Vec<String>,
    /// Entries wanted.
    pub limit: usize,
}

/// What has become of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum News {
    /// It was seen for the first time.
    New,
    /// It says something else.
    Changed,
    /// It is no longer there.
    Gone,
    /// It leads elsewhere.
    Moved,
    /// It is there again, as it was.
    Back,
}

impl News {
    /// The name in feeds and tables.
    pub fn name(self) -> &'static str {
        match self {
            News::New => "new",
            News::Changed => "changed",
            News::Gone => "gone",
            News::Moved => "moved",
            News::Back => "back",
        }
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedEntry {
    /// The same for the same version, always.
    pub id: String,
    /// What has become of the page.
    pub news: News,
    /// The page.
    pub url: String,
    /// Its title; that of the last version where it is gone.
    pub title: String,
    /// When it was seen.
    pub time: String,
    /// The status of the answer.
    pub status: u16,
    /// The share of words that went and came.
    pub change: f64,
    /// Why it counts as changed.
    pub reason: String,
    /// Words that came; of a new page the first ones.
    pub added: String,
    /// Words that went.
    pub removed: String,
    /// Where it leads now.
    pub moved_to: Option<String>,
}

/// What a feed says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedHead {
    /// The same for the same feed, always.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it will be found.
    pub address: Option<String>,
    /// The page or site it is about, where it is one.
    pub about: Option<String>,
    /// When it was made, should it have no entry.
    pub now: Time,
}

/// Why there is no feed.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// There is no such page.
    #[error("{0} is not known here; no job has met it")]
    UnknownUrl(String),
    /// There is no such site.
    #[error("no host of {0} is known here; `argiope sites` lists those that are")]
    UnknownSite(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A stable name made of anything: a UUID of our own making (version 8).
pub fn feed_id(parts: &[&str]) -> String {
    let mut id: [u8; 16] = [0; 16];
    id.copy_from_slice(&payload_digest(parts.join("\n").as_bytes())[..16]);
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    let hex: String = id.iter().map(|b| format!("{b:02x}")).collect();
    let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    format!("urn:uuid:{a}-{b}-{c}-{d}-{e}")
}

/// The newest entries, newest first.
pub fn news(
    dir: &DataDir,
    store: &dyn Store,
    order: &FeedOrder,
) -> Result<Vec<FeedEntry>, FeedError> {
    let captures_of =
        |url: &str| -> Result<Vec<Capture>, Box<dyn std::error::Error + Send + Sync>> {
            let found = find(url, dir.suffixes(), store)?;
            Ok(found.map(|(key, _)| store.captures(key)).transpose()?.unwrap_or_default())
        };
    let shelf = Shelf { warc: dir.warc(), text: dir.text(), captures_of: &captures_of };
    let pruned = PrunedPages::of(dir.path());
    let mut log = Log::of(dir, store, order)?;
    let mut events: Vec<Event> = Vec::new();
    let mut done: HashSet<UrlKey> = HashSet::new();
    // Pages that were never there, and changes that turn out to be none, are among them.
    let mut wanted = 2 * order.limit + 100;
    loop {
        log.read_back(store, wanted)?;
        for (latest, key) in log.newest_first() {
            // What comes now is older than everything that is wanted.
            let enough = events.len() >= order.limit;
            if enough && events.last().is_some_and(|last| last.time > latest) {
                break;
            }
            if !done.insert(key) {
                continue;
            }
            let Some(row) = store.urls(&[key])?.pop().flatten() else { continue };
            events.extend(events_of(&shelf, store, key, &row, &pruned)?);
            events.sort_by(|a, b| (b.time, &a.url).cmp(&(a.time, &b.url)));
            events.truncate(order.limit);
        }
        if events.len() >= order.limit || log.is_read() {
            break;
        }
        wanted *= 4;
    }
    events.into_iter().map(|event| Ok(event.entry(&shelf, store)?)).collect()
}

/// The change log, read from its end.
struct Log {
    parts: Vec<Part>,
    /// The hosts that are asked for; none is all of them.
    hosts: BTreeSet<HostKey>,
    /// Pages that may have news, with the times of their last ones.
    latest: HashMap<UrlKey, Time>,
}

/// The log of a partition, from its end.
struct Part {
    part: u16,
    /// Rows up to this one are not read yet.
    until: u64,
    /// Rows to read next.
    piece: u64,
    /// The oldest of the rows read last.
    oldest: Time,
}

impl Log {
    fn of(dir: &DataDir, store: &dyn Store, order: &FeedOrder) -> Result<Self, FeedError> {
        let mut hosts: BTreeSet<HostKey> = BTreeSet::new();
        let mut latest: HashMap<UrlKey, Time> = HashMap::new();
        for target in &order.targets {
            let url = target.contains("://").then(|| CanonicalUrl::parse(target).ok()).flatten();
            if let Some(url) = url {
                let key = url.key(dir.suffixes());
                let row = store.urls(&[key])?.pop().flatten();
                let row = row.ok_or_else(|| FeedError::UnknownUrl(target.clone()))?;
                latest.extend(row.fetched_at.map(|time| (key, time)));
                continue;
            }
            let found = named(store, dir.suffixes(), target)?;
            if found.is_empty() {
                return Err(FeedError::UnknownSite(target.clone()));
            }
            hosts.extend(found);
        }
        let parts: BTreeSet<u16> = hosts.iter().map(|host| host.part).collect();
        let is_meant = |part: &u16| order.targets.is_empty() || parts.contains(part);
        let heads = store.log_heads()?.into_iter().filter(|(part, _)| is_meant(part));
        let from_the_end =
            |(part, head)| Part { part, until: head, piece: PIECE, oldest: Time(i64::MAX) };
        Ok(Log { parts: heads.map(from_the_end).collect(), hosts, latest })
    }

    fn is_read(&self) -> bool {
        self.parts.iter().all(|part| part.until == 0)
    }

    /// Pages that may have news, those with the newest first.
    fn newest_first(&self) -> Vec<(Time, UrlKey)> {
        let mut all: Vec<(Time, UrlKey)> =
            self.latest.iter().map(|(key, time)| (*time, *key)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all
    }

    /// Reads on, in each partition, as long as there may be one of the so many newest pages.
    fn read_back(&mut self, store: &dyn Store, wanted: usize) -> Result<(), StoreError> {
        loop {
            let mut times: Vec<Time> = self.latest.values().copied().collect();
            times.sort_unstable_by(|a, b| b.cmp(a));
            let floor = times.get(wanted).copied().unwrap_or(Time(i64::MIN));
            let mut is_over = true;
            for part in self.parts.iter_mut().filter(|p| p.until > 0 && p.oldest > floor) {
                is_over = false;
                let after = part.until.saturating_sub(part.piece);
                let rows = store.changes(part.part, after, (part.until - after) as usize)?;
                part.oldest = rows.iter().map(|row| row.time).min().unwrap_or(part.oldest);
                (part.until, part.piece) = (after, MOST_ROWS.min(part.piece * 4));
                for change in rows {
                    let told = match change.ended {
                        Ended::Forgotten | Ended::Open => false,
                        Ended::Broken => true,
                        Ended::WithPage | Ended::LeftAlone => change.changed,
                    };
                    if told && (self.hosts.is_empty() || self.hosts.contains(&change.key.host)) {
                        let time = self.latest.entry(change.key).or_insert(change.time);
                        *time = change.time.max(*time);
                    }
                }
            }
            if is_over {
                return Ok(());
            }
        }
    }
}

/// An entry before its words are looked for.
struct Event {
    time: Time,
    key: UrlKey,
    url: String,
    news: News,
    title: String,
    change: f64,
    reason: String,
    /// The version, and the one it is compared with.
    now: usize,
    before: Option<usize>,
}

/// What has become of a page, visit by visit; nothing where that cannot be read.
fn events_of(
    shelf: &Shelf<'_>,
    store: &dyn Store,
    key: UrlKey,
    row: &UrlRow,
    pruned: &PrunedPages,
) -> Result<Vec<Event>, StoreError> {
    let mut out = Vec::new();
    if row.role != Role::Page {
        return Ok(out);
    }
    let captures = store.captures(key)?;
    if !captures.iter().any(|c| c.outcome.is_success()) {
        return Ok(out);
    }
    // Of a page that was always the same no text need be read: what it is told by is its answers.
    let mut bodies = captures.iter().filter(|c| c.outcome.kind == OutcomeKind::Fetched);
    let first = bodies.next().map(|c| c.body_digest);
    let page = Versions { url: row.url.clone(), captures: captures.clone() };
    let rows = if bodies.all(|c| Some(c.body_digest) == first) {
        let bare = captures.into_iter().map(|c| Capture { text: None, ..c }).collect();
        history(shelf, &Versions { url: row.url.clone(), captures: bare })
    } else {
        history(shelf, &page)
    };
    let rows = match rows {
        Ok(rows) => rows,
        Err(e) => {
            tracing::warn!(url = %row.url, "left out of the feed: {e}");
            return Ok(out);
        }
    };
    let (mut last, mut away, mut title) = (None, false, String::new());
    for (now, told) in rows.iter().enumerate() {
        let reason = told["reason"].as_str().unwrap_or_default();
        let was_away = std::mem::take(&mut away);
        let news = match (told["changed"] == true, reason) {
            (true, _) => Some(News::Changed),
            // Of a page that has lost versions nobody knows which was the first.
            (_, "new") => Some(News::New).filter(|_| !pruned.contains(page.url.as_str())),
            (_, "back") if was_away => Some(News::Back),
            (_, "gone" | "moved") => {
                away = true;
                let news = if reason == "gone" { News::Gone } else { News::Moved };
                Some(news).filter(|_| last.is_some() && !was_away)
            }
            (_, "failed" | "error") => {
                away = was_away;
                None
            }
            _ => None,
        };
        if let Some(own) = told["title"].as_str().filter(|t| !t.trim().is_empty()) {
            own.clone_into(&mut title);
        }
        if let Some(news) = news {
            out.push(Event {
                time: page.captures[now].time,
                key,
                url: page.url.as_str().to_owned(),
                news,
                title: title.clone(),
                change: told["change"].as_f64().unwrap_or(0.0),
                reason: reason.to_owned(),
                now,
                before: last,
            });
        }
        if page.captures[now].outcome.is_success() && reason != "error-page" {
            last = Some(now);
        }
    }
    Ok(out)
}

impl Event {
    fn entry(self, shelf: &Shelf<'_>, store: &dyn Store) -> Result<FeedEntry, StoreError> {
        let captures = store.captures(self.key)?;
        let time = self.time.to_string();
        let mut entry = FeedEntry {
            id: feed_id(&["version", &self.url, &time]),
            news: self.news,
            title: self.title,
            time,
            status: 0,
            change: self.change,
            reason: self.reason,
            added: String::new(),
            removed: String::new(),
            moved_to: None,
            url: self.url,
        };
        let Some(capture) = captures.get(self.now).filter(|c| c.time == self.time) else {
            return Ok(entry);
        };
        entry.status = capture.outcome.status;
        let shown = if capture.outcome.is_success() { Some(self.now) } else { self.before };
        if self.news == News::Moved {
            entry.moved_to = capture.outcome.detail.as_deref().map(str::to_owned);
        }
        let page = CanonicalUrl::parse(&entry.url).ok();
        let page = page.map(|url| Versions { url, captures: captures.clone() });
        if let (true, Some(page), Some(n)) = (entry.title.is_empty(), &page, shown)
            && let Ok(Some(text)) = shelf.text(page, n)
        {
            entry.title = text.title;
        }
        let silent = |c: &Capture| c.directives.noarchive || c.directives.nosnippet;
        let is_told = matches!(self.news, News::New | News::Changed);
        let (Some(page), false, true) = (page, silent(capture), is_told) else {
            return Ok(entry);
        };
        let hidden = self.before.is_some_and(|n| captures.get(n).is_none_or(silent));
        // Without its words an entry still tells that there is something.
        if !hidden && let Ok((added, removed)) = words(shelf, &page, self.now, self.before) {
            (entry.added, entry.removed) = (added, removed);
        }
        Ok(entry)
    }
}

/// The words that came and went with a version, each cut where there are many.
fn words(
    shelf: &Shelf<'_>,
    page: &Versions,
    now: usize,
    before: Option<usize>,
) -> Result<(String, String), VersionError> {
    let new = shelf.text(page, now)?.unwrap_or_default();
    let old = match before {
        Some(before) => shelf.text(page, before)?.unwrap_or_default(),
        None => return Ok((cut([new.text.as_str()]), String::new())),
    };
    let mut pieces = Vec::new();
    if old.title != new.title {
        pieces.extend(word_diff(&old.title, &new.title));
    }
    pieces.extend(word_diff(&old.text, &new.text));
    let come = pieces.iter().filter_map(|p| if let Piece::Come(t) = p { Some(*t) } else { None });
    let gone = pieces.iter().filter_map(|p| if let Piece::Gone(t) = p { Some(*t) } else { None });
    Ok((cut(come), cut(gone)))
}

/// Pieces of text in one line, cut behind a word.
fn cut<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::new();
    // What came in many places is told once.
    let mut seen = HashSet::new();
    let pieces = pieces.into_iter().filter(|piece| seen.insert(piece.trim()));
    for (n, piece) in pieces.enumerate() {
        for (m, word) in piece.split_whitespace().enumerate() {
            if out.len() + word.len() > QUOTED {
                out.push_str(" …");
                return out;
            }
            if !out.is_empty() {
                out.push_str(if n > 0 && m == 0 { " … " } else { " " });
            }
            out.push_str(word);
        }
    }
    out
}

impl FeedEntry {
    /// What has become of the page, in a sentence or two.
    pub fn summary(&self) -> String {
        let mut out = match (self.news, self.reason.as_str()) {
            (News::New, _) => "New page.".to_owned(),
            (News::Changed, "type") => "Changed: another type of content.".to_owned(),
            (News::Changed, "bytes") => "Changed: other bytes.".to_owned(),
            (News::Changed, _) => format!("Changed by {:.1} %.", self.change * 100.0),
            (News::Gone, _) => format!("Gone (status {}).", self.status),
            (News::Moved, _) => match &self.moved_to {
                Some(to) => format!("Moved to {to}"),
                None => "Moved.".to_owned(),
            },
            (News::Back, _) => "Back, as it was.".to_owned(),
        };
        for (name, words) in [("Removed", &self.removed), ("Added", &self.added)] {
            match (self.news, words.is_empty()) {
                (_, true) => {}
                (News::New, _) => out += &format!(" {words}"),
                _ => out += &format!(" {name}: {words}."),
            }
        }
        out
    }
}

/// An entry as Atom has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtomEntry {
    /// The same for the same thing, always.
    pub id: String,
    /// Its title; the URL where it is empty.
    pub title: String,
    /// When it came to be so, in ISO 8601.
    pub updated: String,
    /// The page.
    pub url: String,
    /// What kind of entry it is.
    pub category: String,
    /// A sentence or two.
    pub summary: String,
}

/// A feed as Atom 1.0.
pub fn atom(head: &FeedHead, entries: &[FeedEntry]) -> String {
    let entry = |entry: &FeedEntry| AtomEntry {
        id: entry.id.clone(),
        title: entry.title.clone(),
        updated: entry.time.clone(),
        url: entry.url.clone(),
        category: entry.news.name().to_owned(),
        summary: entry.summary(),
    };
    atom_of(head, &entries.iter().map(entry).collect::<Vec<_>>())
}

/// Entries of any kind as Atom 1.0.
pub fn atom_of(head: &FeedHead, entries: &[AtomEntry]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    out.push_str("<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    let times = entries.iter().filter_map(|entry| warc_date(&entry.updated));
    let updated = times.max().unwrap_or(head.now);
    element(&mut out, 2, "id", &head.id);
    element(&mut out, 2, "title", &head.title);
    element(&mut out, 2, "updated", &updated.to_string());
    out.push_str("  <author><name>Argiope</name></author>\n");
    let _ =
        writeln!(out, "  <generator version=\"{}\">Argiope</generator>", env!("CARGO_PKG_VERSION"));
    for (rel, href) in [("self", &head.address), ("alternate", &head.about)] {
        if let Some(href) = href {
            let _ = writeln!(out, "  <link rel=\"{rel}\" href=\"{}\"/>", xml_escaped(href));
        }
    }
    for entry in entries {
        out.push_str("  <entry>\n");
        let title = if entry.title.trim().is_empty() { &entry.url } else { &entry.title };
        element(&mut out, 4, "id", &entry.id);
        element(&mut out, 4, "title", title);
        element(&mut out, 4, "updated", &entry.updated);
        let _ = writeln!(out, "    <link rel=\"alternate\" href=\"{}\"/>", xml_escaped(&entry.url));
        let category = xml_escaped(&entry.category);
        let _ = writeln!(out, "    <category term=\"{category}\"/>");
        element(&mut out, 4, "summary", &entry.summary);
        out.push_str("  </entry>\n");
    }
    out.push_str("</feed>\n");
    out
}

fn element(out: &mut String, indent: usize, name: &str, text: &str) {
    let _ = writeln!(out, "{:indent$}<{name}>{}</{name}>", "", xml_escaped(text));
}

/// Text as XML takes it: some characters have no place in it at all.
pub fn xml_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => out.push(' '),
        }
    }
    out
}

/// Writes a feed into a file, whole or not at all.
pub fn write_feed(path: &Path, head: &FeedHead, entries: &[FeedEntry]) -> io::Result<()> {
    write_whole(path, atom(head, entries).as_bytes())
}

/// Writes a file beside its place and moves it there.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let write = || {
        let mut file = File::create(&part)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&part)))
}

/// The entries as rows.
pub(crate) fn rows(entries: &[FeedEntry]) -> Vec<Value> {
    entries.iter().map(|entry| serde_json::to_value(entry).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(news: News) -> FeedEntry {
        FeedEntry {
            id: feed_id(&["version", "http://a.test/?a&b", "1"]),
            news,
            url: "http://a.test/?a&b".to_owned(),
            title: "Knives <forks> & \"spoons\" \u{1}\u{ffff}".to_owned(),
            time: "2026-01-01T06:00:00.000Z".to_owned(),
            status: 200,
            change: 0.125,
            reason: "text".to_owned(),
            added: "<b>morning</b>".to_owned(),
            removed: "evening".to_owned(),
            moved_to: None,
        }
    }

    #[test]
    fn an_id_is_a_uuid_and_the_same_for_the_same() {
        let id = feed_id(&["version", "http://a.test/", "2026-01-01T06:00:00.000Z"]);
        assert_eq!(id.len(), "urn:uuid:00000000-0000-0000-0000-000000000000".len());
        assert_eq!((&id[23..24], &id[..9]), ("8", "urn:uuid:"));
        assert_eq!(id, feed_id(&["version", "http://a.test/", "2026-01-01T06:00:00.000Z"]));
        assert_ne!(id, feed_id(&["version", "http://a.test/", "2026-01-01T06:00:00.001Z"]));
    }

    #[test]
    fn what_a_page_says_is_no_markup_of_the_feed() {
        let head = FeedHead { title: "a & b".to_owned(), ..FeedHead::default() };
        let text = atom(&head, &[entry(News::Changed)]);
        assert!(text.contains("<title>a &amp; b</title>"), "{text}");
        assert!(text.contains("Knives &lt;forks&gt; &amp; &quot;spoons&quot;"), "{text}");
        assert!(text.contains("href=\"http://a.test/?a&amp;b\""), "{text}");
        assert!(text.contains("Removed: evening. Added: &lt;b&gt;morning&lt;/b&gt;."), "{text}");
        assert!(!text.contains(['\u{1}', '\u{ffff}']), "{text}");
        assert!(text.contains("<updated>2026-01-01T06:00:00.000Z</updated>"), "{text}");
    }

    #[test]
    fn a_summary_says_what_has_become_of_the_page() {
        assert_eq!(
            entry(News::Changed).summary(),
            "Changed by 12.5 %. Removed: evening. Added: <b>morning</b>."
        );
        let quiet =
            |news| FeedEntry { added: String::new(), removed: String::new(), ..entry(news) };
        assert_eq!(quiet(News::Gone).summary(), "Gone (status 200).");
        assert_eq!(quiet(News::Back).summary(), "Back, as it was.");
        let new = FeedEntry { removed: String::new(), ..entry(News::New) };
        assert_eq!(new.summary(), "New page. <b>morning</b>");
    }

    #[test]
    fn much_is_cut_behind_a_word() {
        let long = "word ".repeat(400);
        let short = cut([long.as_str()]);
        assert!(short.len() < QUOTED + 10 && short.ends_with("word …"), "{short}");
        assert_eq!(cut(["one two", "three", "one two"]), "one two … three");
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("feed.xml");
        fs::write(&path, "old").expect("a file");
        write_feed(&path, &FeedHead::default(), &[]).expect("writes");
        let held = fs::read_to_string(&path).expect("a file");
        assert!(held.starts_with("<?xml") && held.ends_with("</feed>\n"), "{held}");
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
        assert!(write_feed(&dir.path().join("none/feed.xml"), &FeedHead::default(), &[]).is_err());
    }
}
