//! The follower: reads the change log, takes in articles of followed sites, holds rules against them.
//!
//! ```text
//!  sites.toml ── a new site ──▶ its pages of before, oldest first ─┐
//!  change log ── partition by partition, oldest first ─────────────┼─▶ article? ──▶ batch ──▶ mark
//!  rules ─────── a new rule ──▶ texts of all articles ─────────────┘
//! ```
//!
//! * Its place: a thread of its own beside the crawl ([`Follower`]); who asks without one has it brought up to date first.
//! * Invariants: what was read of the log and what came of it are written together, so a kill loses nothing and doubles
//!   nothing. The file of articles can be thrown away; what the reader has is in a file of its own and cannot.
//! * Where no site is followed, nothing is read and no file is made.

mod named;
mod newcomers;

pub(super) use named::is_nameless;
pub(super) use newcomers::nameless;

use super::hint::Hints;
use super::intake::{Known, Looked, Pages, Unread, unpacked};
use super::log::Log;
use super::reader::Reader;
use super::row::{Body, Head, Hint, Record};
use super::table::Table;
use super::{NewsError, NewsSource};
use crate::backlinks::chain;
use crate::data_dir::DataDir;
use crate::follow::{Failure, Follower};
use crate::fronts::{feeds, fronts, guessed};
use crate::settings::EngineSettings;
use crate::world::Clock;
use argiope_model::{HostKey, Role, Suffixes, Time, UrlKey};
use argiope_news::{Placed, Recipe, Sites, Stories};
use argiope_store::{Change, Store, UrlState};
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The file of articles.
pub(super) const FILE: &str = "articles.log";
/// Pages read before somebody else may ask.
const PIECE: usize = 32;
/// Rows of the change log looked at meanwhile.
const ROWS: usize = 4_096;
/// Rows of the change log of a partition read at once.
const AHEAD: usize = 64;
/// Articles that rules are held against before somebody else may ask.
const RULED: usize = 2_000;
/// Names that are counted of a site.
const NAMES: usize = 50;
/// What is said of so many articles stands in one record.
const TOLD: usize = 256;
/// A mark is written after so many rows of the change log that came to nothing; a page that was read counts as a hundred.
const IDLE: usize = 20_000;
/// The newest articles, with which new ones are compared.
const COMPARED: usize = 40_000;
/// Rows looked at in one step for feeds.
const FEED_ROWS: usize = 1_024;
/// Who asks waits so long for what was not read yet.
const PATIENCE: Duration = Duration::from_secs(20);

/// The news of a data directory.
pub struct NewsState {
    pub(super) dir: PathBuf,
    warc: PathBuf,
    text: PathBuf,
    pinned: Arc<Suffixes>,
    store: Arc<dyn Store>,
    pub(super) source: NewsSource,
    pub(super) cycle: Duration,
    followed: AtomicBool,
    unread: Mutex<Option<Unread>>,
    open: Mutex<Option<Open>>,
}

/// What is open of them.
pub(super) struct Open {
    path: PathBuf,
    log: Option<Log>,
    pub table: Table,
    pub stories: Stories,
    pub reader: Reader,
    /// What pages and feeds say of articles.
    pub hints: Hints,
    /// What sites call themselves on the pages of their articles, and how often.
    called: HashMap<String, HashMap<String, u32>>,
    /// What the front pages of others call them.
    titles: named::Titles,
    /// When articles and their versions were taken in, of those that came since the news were opened, by their numbers.
    pub came: HashMap<u64, i64>,
    /// How far each partition's log is read.
    read: BTreeMap<u16, u64>,
    /// How long it was when the first sites began to be taken in: all before is among their earlier pages.
    begun: Option<BTreeMap<u16, u64>>,
    /// Sites whose earlier pages were taken in.
    taken: BTreeSet<String>,
    /// Rules that were held against all articles.
    ruled: BTreeSet<u32>,
    /// Where holding rules against articles is, and what they fit so far.
    ruling: Option<Ruling>,
    /// Bytes of the file that are of no more use, apart from hints.
    pub dead: u64,
    /// The hints that stand in the file, and their bytes; some of them are of use still.
    told: (u64, u64),
    /// Whether something came that no mark stands behind.
    is_changed: bool,
    /// Rows of the change log and pages that came to nothing since the last mark.
    idle: usize,
    /// The sites as they were looked at last.
    sites: Arc<Sites>,
    /// Those of them that are taken in though they are no longer followed: their articles are to be made again.
    former: BTreeSet<String>,
    /// The site of each host, where it is followed.
    hosts: HashMap<HostKey, Option<String>>,
    /// Rows of the change log that were read ahead.
    ahead: BTreeMap<u16, VecDeque<Change>>,
    /// Earlier captures of sites that are new, oldest first.
    before: VecDeque<(Time, UrlKey)>,
    /// Those sites.
    newcomers: Vec<String>,
}

/// What a site has gained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gained {
    /// Articles that were not there before.
    pub new: u64,
    /// Of which there is another version, these or others.
    pub changed: u64,
}

struct Ruling {
    rules: Vec<u32>,
    next: usize,
    fitting: BTreeMap<u32, Vec<u64>>,
}

impl Open {
    pub fn new(dir: &Path, now: Time) -> Result<Self, NewsError> {
        let path = dir.join(FILE);
        match Open::read(&path, Reader::open(dir, now)?) {
            Err(NewsError::Damaged(path)) => {
                tracing::warn!(
                    "{} is damaged or of an older form; it is being made again from the pages",
                    path.display()
                );
                remove(&path)?;
                Open::read(&path, Reader::open(dir, now)?)
            }
            other => other,
        }
    }

    fn read(path: &Path, reader: Reader) -> Result<Self, NewsError> {
        let mut open = Open {
            path: path.to_owned(),
            log: None,
            table: Table::default(),
            stories: Stories::default(),
            reader,
            hints: Hints::default(),
            called: HashMap::new(),
            titles: HashMap::new(),
            came: HashMap::new(),
            read: BTreeMap::new(),
            begun: None,
            taken: BTreeSet::new(),
            ruled: BTreeSet::new(),
            ruling: None,
            dead: 0,
            told: (0, 0),
            is_changed: false,
            idle: 0,
            sites: Arc::new(Sites::default()),
            former: BTreeSet::new(),
            hosts: HashMap::new(),
            ahead: BTreeMap::new(),
            before: VecDeque::new(),
            newcomers: Vec::new(),
        };
        open.replay()?;
        Ok(open)
    }

    fn replay(&mut self) -> Result<(), NewsError> {
        let path = self.path.clone();
        let log = Log::open(&path, |record, at| {
            match record {
                Record::Article(head) => self.dead += self.table.put(&head, at),
                Record::Gone(doc) => self.dead += self.table.remove(doc),
                Record::Joined(from, to) => self.table.join(from, to),
                Record::Moved(moved) => {
                    self.dead += at.bytes();
                    moved.into_iter().for_each(|(doc, story)| self.table.place(doc, story));
                }
                Record::Rule { id, docs } => {
                    self.table.rule(id, &docs);
                    self.ruled.insert(id);
                }
                Record::Told(told) => {
                    self.told = (self.told.0 + told.len() as u64, self.told.1 + at.bytes());
                    for (address, hint) in told {
                        self.hints.tell(address, hint);
                    }
                }
                Record::Lost(doc, since) => {
                    self.dead += at.bytes();
                    self.table.lose(doc, since);
                }
                Record::Mark { read, taken } => {
                    self.read = read;
                    self.taken = taken.into_iter().collect();
                }
            }
            Ok(())
        })?;
        self.log = log;
        let numbers = self.table.rules.values().flatten().chain(self.ruled.last());
        self.reader.count_above(numbers.max().copied().unwrap_or(0));
        let order = self.table.newest_first();
        let compared = order[..order.len().min(COMPARED)].to_vec();
        // The oldest first, as they came.
        for n in compared.into_iter().rev() {
            let row = self.table.rows[n as usize].clone();
            let body = self.log()?.body(row.at)?;
            let site = self.table.sites.name(row.site).unwrap_or_default();
            self.stories.restore(row.doc, site, Time(row.time), body.gist, row.story);
            let site = site.to_owned();
            self.hear(&site, body.source);
        }
        Ok(())
    }

    /// The file, made where there is none.
    pub fn log(&mut self) -> Result<&mut Log, NewsError> {
        if self.log.is_none() {
            self.log = Some(Log::create(&self.path)?);
        }
        self.log.as_mut().ok_or_else(|| NewsError::Damaged(self.path.clone()))
    }

    /// What is shown of an article.
    pub fn body(&mut self, n: u32) -> Result<(Head, Body), NewsError> {
        let at = self.table.rows[n as usize].at;
        Ok((self.log()?.head(at)?, self.log()?.body(at)?))
    }

    /// An article belongs to a story, which may have brought others together, or parted them.
    pub fn placed(&mut self, mut placed: Placed, head: &mut Head) -> Result<(), NewsError> {
        head.story = placed.story;
        for (from, to) in placed.joined {
            self.log()?.append(&Record::Joined(from, to), None)?;
            self.table.join(from, to);
        }
        if self.table.story_now(placed.story) != placed.story {
            // Its number was another story's for a while.
            placed.moved.push((head.doc, placed.story));
        }
        if !placed.moved.is_empty() {
            let at = self.log()?.append(&Record::Moved(placed.moved.clone()), None)?;
            self.dead += at.bytes();
            placed.moved.into_iter().for_each(|(doc, story)| self.table.place(doc, story));
        }
        Ok(())
    }

    /// A page of a site says what the site is called.
    fn hear(&mut self, site: &str, name: Option<String>) {
        let Some(name) = name.filter(|name| !name.trim().is_empty()) else { return };
        let names = self.called.entry(site.to_owned()).or_default();
        if names.len() < NAMES || names.contains_key(&name) {
            *names.entry(name).or_default() += 1;
        }
    }

    /// Keeps an article, new or again.
    pub fn keep(&mut self, head: Head, body: Body) -> Result<(), NewsError> {
        let record = Record::Article(Box::new(head));
        let at = self.log()?.append(&record, Some(&body))?;
        if let Record::Article(head) = record {
            let before = self.table.of_doc(head.doc);
            let before = before.map(|n| &self.table.rows[n as usize]);
            let before = before.filter(|row| row.doc == head.doc).map(|row| row.updated);
            if before != Some(head.updated.unwrap_or(i64::MIN)) {
                self.came.insert(head.doc, Clock::System.now().0);
            }
            self.dead += self.table.put(&head, at);
            // Each article says it once, however often it is kept.
            if before.is_none() {
                self.hear(&head.site, body.source);
            }
        }
        self.is_changed = true;
        Ok(())
    }

    /// Keeps what is said of pages that are to come. Once they are there it stands in their rows.
    pub fn keep_told(&mut self, told: &[(u64, Hint)]) -> Result<(), NewsError> {
        for some in told.chunks(TOLD) {
            let at = self.log()?.append(&Record::Told(some.to_vec()), None)?;
            self.told = (self.told.0 + some.len() as u64, self.told.1 + at.bytes());
            self.is_changed = true;
        }
        Ok(())
    }

    fn mark_record(&self) -> Record {
        Record::Mark { read: self.read.clone(), taken: self.taken.iter().cloned().collect() }
    }

    /// Ends a batch.
    pub fn mark(&mut self) -> Result<(), NewsError> {
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        self.idle = 0;
        let mark = self.mark_record();
        // The mark before is of no more use.
        self.dead += self.log()?.mark(&mark)?;
        let most = self.dead + self.told.1;
        if !self.log()?.is_wasteful(most) {
            return Ok(());
        }
        let dead = self.dead + self.told_in_vain();
        if self.log()?.is_wasteful(dead) { self.compact() } else { Ok(()) }
    }

    /// The hints that wait for their articles.
    fn waiting(&self) -> impl Iterator<Item = (u64, &Hint)> {
        self.hints.all().filter(|(at, _)| self.table.of_address(*at).is_none())
    }

    /// Bytes of hints in the file that nobody waits for any more, as far as one can tell without reading them.
    fn told_in_vain(&self) -> u64 {
        let (count, bytes) = self.told;
        let waiting = (self.waiting().count() as u64).min(count);
        bytes - (bytes as u128 * u128::from(waiting) / u128::from(count.max(1))) as u64
    }

    /// Ends a batch, even where nothing came of what was read.
    fn keep_place(&mut self) -> Result<(), NewsError> {
        self.is_changed |= self.idle > 0;
        self.mark()
    }

    /// Writes the file anew without what is of no more use, and reads it again.
    fn compact(&mut self) -> Result<(), NewsError> {
        let rows = self.table.rows.iter().filter(|row| !row.is_gone);
        let articles: Vec<_> = rows.map(|row| row.at).collect();
        let mut joined: Vec<_> = self.table.joins().collect();
        joined.sort_unstable();
        // Whom stories were joined to is to be known before the articles, the rest can only be said of those that are there.
        let joined: Vec<_> =
            joined.into_iter().map(|(from, to)| Record::Joined(from, to)).collect();
        let mut lost: Vec<_> = self.table.lost.iter().map(|(doc, at)| (*doc, *at)).collect();
        lost.sort_unstable();
        let mut after: Vec<Record> =
            lost.into_iter().map(|(doc, since)| Record::Lost(doc, Some(since))).collect();
        after.extend(self.ruled.iter().map(|id| Record::Rule { id: *id, docs: Vec::new() }));
        let waiting: Vec<_> = self.waiting().map(|(at, hint)| (at, hint.clone())).collect();
        after.extend(waiting.chunks(TOLD).map(|some| Record::Told(some.to_vec())));
        let mark = self.mark_record();
        let table = std::mem::take(&mut self.table);
        let with_rules = |mut head: Head| {
            head.story = table.story_of(&head);
            let n = table.of_doc(head.doc);
            head.rules = n.and_then(|n| table.rules.get(&n).cloned()).unwrap_or_default();
            head
        };
        self.log()?.rewritten(&joined, &articles, with_rules, &after, &mark)?;
        (self.log, self.stories, self.dead, self.told) = (None, Stories::default(), 0, (0, 0));
        self.hints = Hints::default();
        self.called.clear();
        self.ruling = None;
        self.replay()
    }

    /// Takes out articles that a forgotten page shows or tells of, and what is said by one of them. Sites whose other pages
    /// have more to say of them are taken in again. The file is written anew, so that no word stays where it was replaced.
    pub fn forget(
        &mut self,
        docs: &BTreeSet<u64>,
        urls: &BTreeSet<&str>,
        addresses: &BTreeSet<u64>,
    ) -> Result<(), NewsError> {
        for n in 0..self.table.rows.len() as u32 {
            if self.table.rows[n as usize].is_gone {
                continue;
            }
            let (head, body) = self.body(n)?;
            let named = std::iter::once(&body.url).chain(&body.urls).chain(&body.picture);
            let mut named = named.chain(&body.hint.picture);
            let is_gone = head.pages.iter().any(|page| docs.contains(&page.doc))
                || body.hint.is_by(docs)
                || named.any(|url| urls.contains(url.as_str()));
            if !is_gone {
                continue;
            }
            if head.pages.iter().any(|page| !docs.contains(&page.doc)) {
                self.taken.remove(&head.site);
            }
            self.table.remove(head.doc);
            for page in &head.pages {
                self.table.lost.remove(&page.doc);
            }
        }
        self.hints.forget(docs, addresses);
        self.mark()?;
        self.compact()
    }

    /// A page of an article is no more, or is there again.
    pub fn lost(&mut self, doc: u64, since: Option<i64>) -> Result<(), NewsError> {
        if self.table.lose(doc, since) {
            self.dead += self.log()?.append(&Record::Lost(doc, since), None)?.bytes();
            self.is_changed = true;
        }
        Ok(())
    }

    /// Takes in one capture; says whether a page was read.
    fn capture(&mut self, pages: &Pages<'_>, key: UrlKey, time: Time) -> Result<bool, NewsError> {
        let Some(recipe) = self.site_of(key.host, pages.store)? else { return Ok(false) };
        let Open { table, hints, sites, .. } = &*self;
        let known = Known { table, hints, sites, recipe: &recipe };
        let (fate, looked) = pages.look(key, time, &known)?;
        if let Some((doc, since)) = fate {
            self.lost(doc, since)?;
        }
        match looked {
            Looked::Article(seen) => self.take(&seen, &recipe)?,
            Looked::Told(told) => self.told(told)?,
            Looked::Nothing => {}
        }
        Ok(true)
    }

    /// The oldest row of the change log that was not read yet.
    fn next_change(&mut self, store: &dyn Store) -> Result<Option<Change>, NewsError> {
        let oldest = self.ahead.iter().filter_map(|(part, rows)| Some((rows.front()?.time, *part)));
        let Some((_, part)) = oldest.min() else { return Ok(None) };
        let Some(rows) = self.ahead.get_mut(&part) else { return Ok(None) };
        let change = rows.pop_front();
        if let Some(change) = &change
            && rows.is_empty()
        {
            rows.extend(store.changes(part, change.n, AHEAD)?);
            if rows.is_empty() {
                self.ahead.remove(&part);
            }
        }
        Ok(change.inspect(|change| {
            self.read.insert(part, change.n);
        }))
    }

    /// Looks which partitions have more.
    fn look_ahead(&mut self, store: &dyn Store) -> Result<(), NewsError> {
        let heads: BTreeMap<u16, u64> = store.log_heads()?.into_iter().collect();
        let is_ahead = |(part, n): (&u16, &u64)| heads.get(part).copied().unwrap_or(0) < *n;
        if self.read.iter().any(is_ahead) {
            // It is of another, newer copy of the directory.
            return Err(NewsError::Damaged(self.path.clone()));
        }
        for (part, head) in heads {
            let read = self.read.get(&part).copied().unwrap_or(0);
            if read < head && !self.ahead.contains_key(&part) {
                let rows: VecDeque<Change> = store.changes(part, read, AHEAD)?.into();
                if !rows.is_empty() {
                    self.ahead.insert(part, rows);
                }
            }
        }
        Ok(())
    }

    /// Does a piece of what is to be done; says whether there is more.
    fn step(&mut self, pages: &Pages<'_>, sites: &Arc<Sites>) -> Result<bool, NewsError> {
        let none = sites.is_empty() && self.taken.is_empty() && self.reader.former().is_empty();
        if none || sites.is_unknown() {
            return Ok(false);
        }
        self.newcomers(sites, pages.store)?;
        let mut read = 0;
        while read < PIECE
            && let Some((time, key)) = self.before.pop_front()
        {
            read += usize::from(self.capture(pages, key, time)?);
        }
        if self.before.is_empty() && !self.newcomers.is_empty() {
            if let Some(heads) = self.begun.take() {
                // All there was is taken in; the log goes on from there.
                self.read = heads;
            }
            self.taken.extend(self.newcomers.drain(..));
            self.is_changed = true;
            if !std::mem::take(&mut self.former).is_empty() {
                self.hosts.clear();
            }
        }
        if !self.before.is_empty() {
            // What was taken in is written; the site is taken in when all of it is.
            self.mark()?;
            return Ok(true);
        }
        let mut rows = 0;
        self.look_ahead(pages.store)?;
        while read < PIECE && rows < ROWS {
            let Some(change) = self.next_change(pages.store)? else { break };
            rows += 1;
            read += usize::from(self.capture(pages, change.key, change.time)?);
        }
        // A mark costs room; what came to nothing may be looked at again.
        self.idle += rows + 100 * read;
        self.is_changed |= self.idle >= IDLE;
        let ruling = self.rule()?;
        self.mark()?;
        Ok(ruling || !self.ahead.is_empty())
    }

    /// Holds new rules against some articles; says whether there are more.
    pub fn rule(&mut self) -> Result<bool, NewsError> {
        if self.ruling.is_none() {
            let ids = self.reader.rules().iter().map(|rule| rule.id);
            let rules: Vec<u32> = ids.filter(|id| !self.ruled.contains(id)).collect();
            if rules.is_empty() {
                return Ok(false);
            }
            self.ruling = Some(Ruling { rules, next: 0, fitting: BTreeMap::new() });
        }
        let Some(mut ruling) = self.ruling.take() else { return Ok(false) };
        let end = self.table.rows.len().min(ruling.next + RULED);
        for n in ruling.next..end {
            let row = self.table.rows[n].clone();
            if row.is_gone {
                continue;
            }
            let body = self.log()?.body(row.at)?;
            let text = unpacked(&body.text);
            let site = self.table.sites.name(row.site).unwrap_or_default();
            let host = self.table.hosts.name(row.host).unwrap_or_default();
            let fitting = self.reader.fitting([site, host], &[&body.title, &body.summary, &text]);
            for id in fitting.into_iter().filter(|id| ruling.rules.contains(id)) {
                ruling.fitting.entry(id).or_default().push(row.doc);
            }
        }
        ruling.next = end;
        if end < self.table.rows.len() {
            self.ruling = Some(ruling);
            return Ok(true);
        }
        for id in &ruling.rules {
            let docs = ruling.fitting.remove(id).unwrap_or_default();
            self.table.rule(*id, &docs);
            self.ruled.insert(*id);
            if self.table.live > 0 {
                self.log()?.append(&Record::Rule { id: *id, docs }, None)?;
                self.is_changed = true;
            }
        }
        Ok(false)
    }
}

pub(super) fn remove(path: &Path) -> Result<(), NewsError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            Err(NewsError::Io { action: "remove", path: path.to_owned(), source: e })
        }
        _ => Ok(()),
    }
}

impl NewsState {
    /// The feeds that were read of sites, a row each.
    pub(super) fn feeds(&self, sites: &Sites) -> Result<Vec<Value>, NewsError> {
        let mut rows = Vec::new();
        for recipe in sites.recipes() {
            let part = self.pinned.site_key(argiope_news::host_of(&recipe.site)).part;
            let mut after = Some(UrlKey { host: HostKey { part, host: [0; 6] }, url: 0 });
            while let Some(from) = after.take() {
                let found = self.store.scan_urls(Some(from), FEED_ROWS)?;
                let full = found.len() == FEED_ROWS;
                for (key, row) in found {
                    if key.host.part != part {
                        after = None;
                        break;
                    }
                    after = full.then_some(key);
                    let is_feed = row.role == Role::Sitemap
                        && row.state == UrlState::Fetched
                        && !row.url.path().to_ascii_lowercase().contains("sitemap");
                    if is_feed && recipe.is_for(&row.url) {
                        rows.push(json!({ "site": recipe.site, "url": row.url.as_str() }));
                    }
                }
            }
        }
        Ok(rows)
    }

    /// When sites were looked at last: when one of their front pages or named feeds was asked for.
    pub(super) fn looked(&self, sites: &Sites) -> Result<HashMap<String, Time>, NewsError> {
        let pages = |recipe: &Recipe| {
            let plain = guessed(recipe).map(|guessed| guessed.plain).unwrap_or_default();
            let of_site = fronts(recipe).into_iter().chain(plain).chain(feeds(recipe));
            let keys = of_site.map(|url| (recipe.site.clone(), url.key(&self.pinned)));
            keys.collect::<Vec<_>>()
        };
        let (names, keys): (Vec<_>, Vec<_>) = sites.recipes().iter().flat_map(pages).unzip();
        let mut looked = HashMap::new();
        for (site, row) in names.into_iter().zip(self.store.urls(&keys)?) {
            if let Some(at) = row.and_then(|row| row.fetched_at) {
                let last = looked.entry(site).or_insert(at);
                *last = at.max(*last);
            }
        }
        Ok(looked)
    }

    pub(crate) fn new(dir: &DataDir, store: Arc<dyn Store>, settings: &EngineSettings) -> Self {
        NewsState {
            dir: dir.news(),
            warc: dir.warc(),
            text: dir.text(),
            pinned: dir.suffixes().clone(),
            store,
            source: settings.news.source.clone(),
            cycle: settings.news.cycle,
            followed: AtomicBool::new(false),
            unread: Mutex::new(None),
            open: Mutex::new(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the news. What is damaged is thrown away and made again.
    pub(super) fn with<T>(
        &self,
        mut work: impl FnMut(&mut Open) -> Result<T, NewsError>,
    ) -> Result<T, NewsError> {
        let mut slot = self.lock();
        let mut open = match slot.take() {
            Some(open) => open,
            None => Open::new(&self.dir, Clock::System.now())?,
        };
        match work(&mut open) {
            Err(NewsError::Damaged(path)) => {
                tracing::warn!(
                    "{} is damaged or of an older form; it is being made again from the pages",
                    path.display()
                );
                drop(open);
                remove(&self.dir.join(FILE))?;
                let mut open = Open::new(&self.dir, Clock::System.now())?;
                self.up_to_date(&mut open)?;
                let done = work(&mut open)?;
                *slot = Some(open);
                Ok(done)
            }
            done => {
                // After a failure the file is read again: what was not written is not known.
                if done.is_ok() {
                    *slot = Some(open);
                }
                done
            }
        }
    }

    fn pages(&self) -> Pages<'_> {
        Pages {
            store: &*self.store,
            warc: &self.warc,
            text: &self.text,
            pinned: &self.pinned,
            news_jobs: OnceCell::new(),
            unread: &self.unread,
        }
    }

    fn up_to_date(&self, open: &mut Open) -> Result<(), NewsError> {
        let begun = Instant::now();
        let sites = self.source.sites();
        while open.step(&self.pages(), &sites)? && begun.elapsed() < PATIENCE {}
        Ok(())
    }

    fn piece(&self) -> Result<bool, NewsError> {
        let sites = self.source.sites();
        self.with(|open| open.step(&self.pages(), &sites))
    }

    /// Reads all that the store has committed.
    pub fn catch_up(&self) -> Result<(), NewsError> {
        while self.piece()? {}
        self.keep_place()
    }

    /// Writes down how far the change log was read.
    fn keep_place(&self) -> Result<(), NewsError> {
        self.with(|open| {
            open.keep_place()?;
            open.log.as_ref().map_or(Ok(()), Log::sync)
        })
    }

    /// Reads what was not read yet, where no thread does; whoever asks does not wait for ever.
    pub(super) fn bring_up(&self) -> Result<(), NewsError> {
        let begun = Instant::now();
        if self.followed.load(Relaxed) {
            return Ok(());
        }
        while begun.elapsed() < PATIENCE {
            match self.piece() {
                Ok(true) => {}
                Ok(false) => break,
                // What is there can be shown without it.
                Err(e @ NewsError::Page { .. }) => {
                    tracing::warn!("news fall behind: {}", chain(&e));
                    break;
                }
                Err(e) => return Err(e),
            }
        }
        self.with(Open::keep_place)
    }

    /// Articles first seen at or after a time, and those that got a version since, by site.
    pub fn gained(&self, since: Time) -> Result<BTreeMap<String, Gained>, NewsError> {
        self.with(|open| {
            let mut out: BTreeMap<String, Gained> = BTreeMap::new();
            for row in open.table.rows.iter().filter(|row| !row.is_gone) {
                let (new, changed) = (row.seen >= since.0, row.updated >= since.0);
                if new || changed {
                    let site = open.table.sites.name(row.site).unwrap_or_default();
                    let gained = out.entry(site.to_owned()).or_default();
                    gained.new += u64::from(new);
                    gained.changed += u64::from(changed);
                }
            }
            Ok(out)
        })
    }

    /// Throws the file of articles away and makes it again from the pages. What the reader has stays.
    pub fn rebuild(&self) -> Result<(), NewsError> {
        let sites = self.source.sites();
        match self.with(|open| open.part_with(&sites)) {
            Err(e @ NewsError::Newer { .. }) => return Err(e),
            parted => parted?,
        }
        {
            let mut slot = self.lock();
            *slot = None;
            remove(&self.dir.join(FILE))?;
        }
        self.catch_up()
    }

    /// Which of the rules are held against everything: a change of the rules is to be seen at once.
    pub(super) fn rule_again(&self) -> Result<(), NewsError> {
        let begun = Instant::now();
        while self.with(Open::rule)? && begun.elapsed() < PATIENCE {}
        self.with(Open::mark)
    }
}

impl Follower for NewsState {
    fn name(&self) -> &'static str {
        "news"
    }

    fn begin(&self) {
        self.followed.store(true, Relaxed);
    }

    fn step(&self) -> Result<bool, Failure> {
        Ok(self.piece()?)
    }

    fn finish(&self, all: bool) -> Result<(), Failure> {
        self.followed.store(false, Relaxed);
        match all {
            true => Ok(self.catch_up()?),
            false => Ok(self.keep_place()?),
        }
    }
}
