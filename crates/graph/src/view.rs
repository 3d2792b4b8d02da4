//! Questions: who links here, what is linked most, what is broken.
//!
//! A view is what the graph knew at one moment; it stays as it is while the graph goes on.
//! Counts come from the runs alone and are exact. Words come from the pages' stored links,
//! which are read for as many pages as are asked for.

use crate::error::GraphError;
use crate::keys::Keys;
use crate::merge::{Counts, Layer, Merged, MergedPages};
use crate::source::{BROKEN, MALFORMED, NOFOLLOW, Source, doc_at};
use crate::top::{By, all, popular};
use argiope_model::{CanonicalUrl, Capture, DocId, LinkKind, OutcomeKind, Suffixes, Time, UrlKey};
use argiope_store::{PageLinks, Store, decode_page_links, scan_links};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Pages whose words are read for a description.
const DESCRIBED_BY: usize = 200;

/// Origins remembered while links are looked through.
const ORIGINS: usize = 1_000;

/// Pages that are named for one broken URL, at most.
const SOURCES: usize = 1_000;

/// What the graph knew at one moment.
#[derive(Clone)]
pub struct View {
    layers: Arc<Vec<Layer>>,
    /// How far each partition's change log was read.
    read: Arc<BTreeMap<u16, u64>>,
}

/// Who links to a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    /// How often it is linked to.
    pub counts: Counts,
    /// Pages that refer to it in other ways only (canonical, redirect …): listed, not counted.
    pub others: u64,
    /// Its links, page by page, as far as was asked.
    pub rows: Vec<IncomingLink>,
    /// The words of the back-links in `rows`, most frequent first.
    pub words: Vec<(String, u64)>,
    /// After which page to go on; `None` where `rows` reach the last one.
    pub next: Option<SourcePlace>,
}

/// What a URL is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Pages that link to it.
    pub backlinks: u64,
    /// The words of their links and how many pages use them, most used first.
    pub words: Vec<(String, u64)>,
}

/// Where a page stands among those that link to a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePlace(u64, u64);

/// One link to a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingLink {
    /// The page that holds it.
    pub source: CanonicalUrl,
    /// Its number.
    pub doc: DocId,
    /// The words of the link.
    pub words: String,
    /// The element it came from.
    pub kind: LinkKind,
    /// Whether it asks not to be followed.
    pub nofollow: bool,
    /// How often it stands on the page.
    pub count: u32,
    /// Since when the page has been seen as it is now: the first of its captures with the
    /// content of the latest, without another between them. The link may be older.
    pub first_seen: Time,
    /// When the page was last seen so.
    pub last_seen: Time,
}

/// A link that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLink {
    /// Where it leads: a URL, or what is written where one should be.
    pub url: String,
    /// How the visit ended, or what is wrong with the reference.
    pub outcome: String,
    /// Whether it could not be read as a URL.
    pub malformed: bool,
    /// The page that holds it; `None` for a URL that nothing links to.
    pub source: Option<CanonicalUrl>,
    /// The words of the link.
    pub words: String,
}

/// Some of the links that lead nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Broken {
    /// The links, those to one URL together.
    pub rows: Vec<BrokenLink>,
    /// After which document to go on; `None` at the end.
    pub next: Option<DocId>,
}

/// A link as the runs know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Where it leads.
    pub target: UrlKey,
    /// The page that holds it.
    pub source: DocId,
    /// Whether it is a back-link.
    pub counts: bool,
    /// Whether it asks not to be followed.
    pub nofollow: bool,
}

impl View {
    pub(crate) fn new(layers: Vec<Layer>, read: BTreeMap<u16, u64>) -> Self {
        View { layers: Arc::new(layers), read: Arc::new(read) }
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// How far the change log of each partition was read.
    pub fn read(&self) -> &BTreeMap<u16, u64> {
        &self.read
    }

    /// How often these URLs are linked to.
    pub fn counts(&self, keys: &[UrlKey]) -> Result<Vec<Counts>, GraphError> {
        let count = |key: &UrlKey| {
            let mut merged = Merged::seek(&self.layers, *key)?;
            match merged.target() {
                Some(found) if found == *key => merged.counts(),
                _ => Ok(Counts::default()),
            }
        };
        keys.iter().map(count).collect()
    }

    /// Who links to a URL. The counts are of all pages; the words of at most `limit` pages
    /// after a place are read.
    pub fn incoming(
        &self,
        store: &dyn Store,
        pinned: &Suffixes,
        target: UrlKey,
        after: Option<SourcePlace>,
        limit: usize,
    ) -> Result<Incoming, GraphError> {
        self.incoming_as(store, pinned, target, after, limit, true)
    }

    /// Who links to a URL; `times` says whether it matters since when.
    fn incoming_as(
        &self,
        store: &dyn Store,
        pinned: &Suffixes,
        target: UrlKey,
        after: Option<SourcePlace>,
        limit: usize,
        times: bool,
    ) -> Result<Incoming, GraphError> {
        let mut out = Incoming::default();
        let mut more = false;
        let mut first: Vec<Source> = Vec::new();
        let mut merged = Merged::seek(&self.layers, target)?;
        if merged.target() == Some(target) {
            let mut last = None;
            merged.sources(|source| {
                if source.counts() {
                    out.counts.backlinks += 1;
                    out.counts.sites += u64::from(last != Some(source.site));
                    last = Some(source.site);
                } else {
                    out.others += 1;
                }
                if after.is_some_and(|after| place_of(source) <= after) {
                    return Ok(());
                }
                if first.len() < limit {
                    first.push(source);
                } else {
                    more = true;
                }
                Ok(())
            })?;
        }
        out.next = first.last().filter(|_| more).map(|source| place_of(*source));
        out.rows = links_to(store, pinned, target, &first, times)?;
        out.words = grouped(&out.rows);
        Ok(out)
    }

    /// The words that most pages use for a URL: what it is about, where it does not say so.
    pub fn description(
        &self,
        store: &dyn Store,
        pinned: &Suffixes,
        target: UrlKey,
    ) -> Result<Option<String>, GraphError> {
        let words = self.incoming_as(store, pinned, target, None, DESCRIBED_BY, false)?.words;
        Ok(words.into_iter().map(|(words, _)| words).find(|words| !words.is_empty()))
    }

    /// The most linked URLs, most first. Of those with as many pages the one with more sites comes
    /// first, and the other way round; what is equal in both stands in the order of its keys.
    pub fn top(&self, by: By, limit: usize) -> Result<Vec<(UrlKey, Counts)>, GraphError> {
        self.top_at_most(by, limit, u64::MAX)
    }

    /// The same, when it is known that there are no more than `sites` sites: then more can be told
    /// from the lists of popular targets alone.
    pub fn top_at_most(
        &self,
        by: By,
        limit: usize,
        sites: u64,
    ) -> Result<Vec<(UrlKey, Counts)>, GraphError> {
        let best = match popular(&self.layers, by, limit, sites)? {
            Some(best) => best,
            None => all(&self.layers, by, limit)?,
        };
        let counts = self.counts(&best)?;
        Ok(best.into_iter().zip(counts).collect())
    }

    /// Links that lead nowhere, after a document: at least `limit` if there are so many, those
    /// to one URL together, of at most a thousand pages each.
    pub fn broken(
        &self,
        store: &dyn Store,
        pinned: &Suffixes,
        after: Option<DocId>,
        limit: usize,
    ) -> Result<Broken, GraphError> {
        let mut out = Broken::default();
        let pages = match after {
            Some(doc) => MergedPages::from(&self.layers, doc),
            None => MergedPages::new(&self.layers),
        };
        for page in pages {
            let (order, flags) = page?;
            let doc = doc_at(order);
            let passed = after.is_some_and(|after| order <= crate::source::order_of(after));
            if passed || flags & (BROKEN | MALFORMED) == 0 {
                continue;
            }
            if out.rows.len() >= limit {
                return Ok(out);
            }
            let Some(key) = store.docs(&[doc])?.pop().flatten() else { continue };
            let Some(row) = store.urls(&[key])?.pop().flatten() else { continue };
            if flags & BROKEN != 0 {
                let outcome = last_outcome(&store.captures(key)?);
                self.holders(store, pinned, (key, row.url.clone()), &outcome, &mut out.rows)?;
            }
            if flags & MALFORMED != 0 {
                let blob = store.links(&[key])?.pop().flatten();
                let links = blob.map(|b| decode_page_links(&b)).transpose()?.unwrap_or_default();
                out.rows.extend(links.malformed.into_iter().map(|m| BrokenLink {
                    url: m.href.into(),
                    outcome: m.reason.into(),
                    malformed: true,
                    source: Some(row.url.clone()),
                    words: m.words.into(),
                }));
            }
            out.next = Some(doc);
        }
        out.next = None;
        Ok(out)
    }

    /// The pages that lead to a broken URL, those by way of redirects included.
    fn holders(
        &self,
        store: &dyn Store,
        pinned: &Suffixes,
        (key, url): (UrlKey, CanonicalUrl),
        outcome: &str,
        out: &mut Vec<BrokenLink>,
    ) -> Result<(), GraphError> {
        let mut met = vec![key];
        let mut next = vec![(key, url.clone())];
        while let Some((key, leads)) = next.pop() {
            let links = self.incoming_as(store, pinned, key, None, SOURCES, false)?;
            let outcome = match met[0] == key {
                true => outcome.to_owned(),
                false => format!("{outcome} (redirects to {url})"),
            };
            let broken = |source, words| BrokenLink {
                url: leads.to_string(),
                outcome: outcome.clone(),
                malformed: false,
                source,
                words,
            };
            if links.rows.is_empty() {
                out.push(broken(None, String::new()));
            }
            for link in links.rows {
                let from = link.source.key(pinned);
                if link.kind == LinkKind::Redirect && !met.contains(&from) && met.len() < SOURCES {
                    met.push(from);
                    next.push((from, link.source.clone()));
                }
                out.push(broken(Some(link.source), link.words));
            }
        }
        Ok(())
    }

    /// The pages whose links to a URL count.
    pub fn sources(&self, target: UrlKey) -> Result<Vec<DocId>, GraphError> {
        let mut docs = Vec::new();
        let mut merged = Merged::seek(&self.layers, target)?;
        if merged.target() == Some(target) {
            merged.sources(|source| {
                if source.counts() {
                    docs.push(source.doc());
                }
                Ok(())
            })?;
        }
        Ok(docs)
    }

    /// What many URLs are called at once: each linking page is read once, however many of them
    /// it links to, and at most `limit` pages are asked about one of them.
    pub fn called(
        &self,
        store: &dyn Store,
        pinned: &Suffixes,
        targets: &[UrlKey],
        limit: usize,
    ) -> Result<Vec<Called>, GraphError> {
        let mut out = vec![Called::default(); targets.len()];
        let mut at: HashMap<UrlKey, (usize, HashMap<String, u64>)> = HashMap::new();
        let mut docs: Vec<DocId> = Vec::new();
        for (n, target) in targets.iter().enumerate() {
            let mut asked = 0;
            let mut merged = Merged::seek(&self.layers, *target)?;
            if merged.target() != Some(*target) {
                continue;
            }
            merged.sources(|source| {
                if source.counts() {
                    out[n].backlinks += 1;
                    if asked < limit {
                        asked += 1;
                        docs.push(source.doc());
                    }
                }
                Ok(())
            })?;
            at.insert(*target, (n, HashMap::new()));
        }
        docs.sort_unstable_by_key(|doc| crate::source::order_of(*doc));
        docs.dedup();
        for docs in docs.chunks(256) {
            let pages: Vec<UrlKey> = store.docs(docs)?.into_iter().flatten().collect();
            links_of(store, pinned, &pages, &mut |_, target, said| {
                let Some((_, words)) = at.get_mut(&target) else { return };
                match words.get_mut(said) {
                    Some(count) => *count += 1,
                    None => {
                        words.insert(said.to_owned(), 1);
                    }
                }
            })?;
        }
        for (n, words) in at.into_values() {
            out[n].words = words.into_iter().collect();
            out[n].words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        }
        Ok(out)
    }

    /// Shows every link, target by target.
    pub fn edges<E: From<GraphError>>(
        &self,
        mut each: impl FnMut(Edge) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut merged = Merged::first(&self.layers)?;
        while let Some(target) = merged.target() {
            let mut stopped = None;
            merged.sources(|source| {
                if stopped.is_none() {
                    let nofollow = source.flags() & NOFOLLOW != 0;
                    let (source, counts) = (source.doc(), source.counts());
                    stopped = each(Edge { target, source, counts, nofollow }).err();
                }
                Ok(())
            })?;
            if let Some(e) = stopped {
                return Err(e);
            }
        }
        Ok(())
    }

    /// The texts of URLs, also of those that were never met but as the target of a link.
    pub fn texts(
        &self,
        store: &dyn Store,
        pinned: &Suffixes,
        keys: &[UrlKey],
    ) -> Result<Vec<Option<String>>, GraphError> {
        let known = store.urls(keys)?;
        let text = |(key, row): (&UrlKey, Option<argiope_store::UrlRow>)| {
            if let Some(row) = row {
                return Ok(Some(row.url.to_string()));
            }
            let mut found = None;
            let mut merged = Merged::seek(&self.layers, *key)?;
            if merged.target() == Some(*key) {
                // One of the first few still says it.
                let mut first = Vec::new();
                merged.sources(|source| {
                    if first.len() < 4 {
                        first.push(source);
                    }
                    Ok(())
                })?;
                each_link_to(store, pinned, *key, &first, |_, _, link| {
                    found = Some(link.url.to_owned());
                })?;
            }
            Ok(found)
        };
        keys.iter().zip(known).map(text).collect()
    }
}

fn place_of(source: Source) -> SourcePlace {
    SourcePlace(source.site, source.running())
}

/// The links of a page, as stored.
pub fn outgoing(store: &dyn Store, page: UrlKey) -> Result<PageLinks, GraphError> {
    let blob = store.links(&[page])?.pop().flatten();
    Ok(blob.map(|b| decode_page_links(&b)).transpose()?.unwrap_or_default())
}

/// Shows the links of these pages that lead to a target.
fn each_link_to(
    store: &dyn Store,
    pinned: &Suffixes,
    target: UrlKey,
    sources: &[Source],
    mut each: impl FnMut(usize, UrlKey, argiope_store::LinkRef<'_>),
) -> Result<(), GraphError> {
    let docs: Vec<DocId> = sources.iter().map(|s| s.doc()).collect();
    let (mut keys, mut plain) = (Keys::new(ORIGINS), Vec::new());
    // A few blobs in memory at a time.
    for (docs, at) in docs.chunks(64).zip((0..).step_by(64)) {
        let pages: Vec<(usize, UrlKey)> = store
            .docs(docs)?
            .into_iter()
            .enumerate()
            .filter_map(|(n, key)| Some((at + n, key?)))
            .collect();
        let wanted: Vec<UrlKey> = pages.iter().map(|(_, key)| *key).collect();
        for ((n, page), blob) in pages.into_iter().zip(store.links(&wanted)?) {
            let Some(blob) = blob else { continue };
            scan_links(&blob, &mut plain, |link| {
                if keys.of(link.url, pinned) == target {
                    each(n, page, link);
                }
            })?;
        }
    }
    Ok(())
}

fn links_to(
    store: &dyn Store,
    pinned: &Suffixes,
    target: UrlKey,
    sources: &[Source],
    times: bool,
) -> Result<Vec<IncomingLink>, GraphError> {
    let mut found: Vec<(UrlKey, DocId, String, LinkKind, bool, u32)> = Vec::new();
    each_link_to(store, pinned, target, sources, |n, page, link| {
        let (words, doc) = (link.words.to_owned(), sources[n].doc());
        found.push((page, doc, words, link.kind, link.nofollow, link.count));
    })?;
    let mut pages: Vec<UrlKey> = found.iter().map(|(page, ..)| *page).collect();
    pages.dedup();
    let mut about: HashMap<UrlKey, (CanonicalUrl, Time, Time)> = HashMap::new();
    for (page, row) in pages.iter().zip(store.urls(&pages)?) {
        let Some(row) = row else { continue };
        // Captures are the dearest to look up.
        let seen = if times { seen_so(&store.captures(*page)?) } else { None };
        let (first, last) = seen.unwrap_or((row.first_seen, row.first_seen));
        about.insert(*page, (row.url, first, last));
    }
    let row = |(page, doc, words, kind, nofollow, count)| {
        let (source, first_seen, last_seen) = about.get(&page)?.clone();
        Some(IncomingLink { source, doc, words, kind, nofollow, count, first_seen, last_seen })
    };
    Ok(found.into_iter().filter_map(row).collect())
}

/// From when to when a page was seen with the content of its latest good capture.
pub fn seen_so(captures: &[Capture]) -> Option<(Time, Time)> {
    let told = |c: &&Capture| c.outcome.is_success() || c.outcome.kind == OutcomeKind::Redirect;
    let mut good = captures.iter().rev().filter(told);
    let latest = good.next()?;
    let digest = |c: &Capture| Some(c.body_digest).filter(|digest| *digest != [0; 32]);
    let own = |c: &Capture| c.outcome.kind != OutcomeKind::NotModified;
    let mut first = latest.time;
    let mut content = if own(latest) { Some(digest(latest)) } else { None };
    for capture in good {
        if !own(capture) {
            // What it was is told by the one before it.
            if content.is_none() {
                first = capture.time;
            }
            continue;
        }
        let same = match content {
            None => true,
            Some(content) => content.is_some() && content == digest(capture),
        };
        if !same {
            break;
        }
        first = capture.time;
        content = Some(digest(capture));
    }
    Some((first, latest.time))
}

/// How the last visit that is over ended.
fn last_outcome(captures: &[Capture]) -> String {
    captures.last().map_or_else(String::new, |capture| capture.outcome.to_string())
}

/// The words of back-links, most frequent first.
fn grouped(rows: &[IncomingLink]) -> Vec<(String, u64)> {
    let mut words: HashMap<&str, u64> = HashMap::new();
    for row in rows.iter().filter(|row| crate::is_backlink(row.kind)) {
        *words.entry(&row.words).or_default() += u64::from(row.count);
    }
    let mut words: Vec<(String, u64)> = words.into_iter().map(|(w, n)| (w.to_owned(), n)).collect();
    words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    words
}

/// Shows where these pages link to and in which words, as far as links count as back-links and lead
/// to another page: the number of the page among them, the URL's key, the words.
pub fn links_of(
    store: &dyn Store,
    pinned: &Suffixes,
    pages: &[UrlKey],
    each: &mut dyn FnMut(usize, UrlKey, &str),
) -> Result<(), GraphError> {
    let (mut keys, mut plain) = (Keys::new(ORIGINS), Vec::new());
    for (n, blob) in store.links(pages)?.into_iter().enumerate() {
        let Some(blob) = blob else { continue };
        scan_links(&blob, &mut plain, |link| {
            let target = keys.of(link.url, pinned);
            if crate::is_backlink(link.kind) && target != pages[n] {
                each(n, target, link.words);
            }
        })?;
    }
    Ok(())
}
