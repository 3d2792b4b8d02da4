//! A store of plain maps to be followed, with text blobs on disk.

#![allow(dead_code, clippy::unwrap_used)]

use argiope_archive::{SegmentKind as Blobs, Segments, TextBlob, encode_text};
use argiope_frontier::{Place, RobotsFile};
use argiope_index::{
    Answer, Index, LinkError, LinkedAs, Links, Progress, SearchOptions, Settings, View,
};
use argiope_model::{
    CanonicalUrl, Capture, Directives, DocId, FetchOutcome, HostKey, JobId, Location, OutcomeKind,
    PayloadDigest, Role, SiteKey, Suffixes, Time, UrlKey,
};
use argiope_store::{
    Batch, Change, Committed, Ended, HostRow, JobRow, PayloadRow, SegmentKind, Store, StoreError,
    UrlHead, UrlRow, UrlState,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);

pub fn key(text: &str) -> UrlKey {
    CanonicalUrl::parse(text).unwrap().key(&SUFFIXES)
}

/// How pages are linked to, as a test says.
#[derive(Default)]
pub struct Told {
    /// What each page is called.
    pub called: BTreeMap<UrlKey, LinkedAs>,
    /// Who links to a URL.
    pub linking: BTreeMap<String, Vec<DocId>>,
    /// Where each page links to, and in which words.
    pub links: BTreeMap<UrlKey, Vec<(UrlKey, String)>>,
    /// How pages rank, where that is known.
    pub ranks: BTreeMap<DocId, f64>,
}

impl Links for Told {
    fn linked_as(&self, pages: &[(DocId, UrlKey)]) -> Result<Vec<LinkedAs>, LinkError> {
        Ok(pages.iter().map(|(_, key)| self.called.get(key).cloned().unwrap_or_default()).collect())
    }

    fn links_of(
        &self,
        pages: &[UrlKey],
        each: &mut dyn FnMut(usize, UrlKey, &str),
    ) -> Result<(), LinkError> {
        for (n, page) in pages.iter().enumerate() {
            for (target, words) in self.links.get(page).into_iter().flatten() {
                each(n, *target, words);
            }
        }
        Ok(())
    }

    fn linking_to(&self, url: &str) -> Result<Vec<DocId>, LinkError> {
        Ok(self.linking.get(url).cloned().unwrap_or_default())
    }

    fn ranks(&self, pages: &[DocId]) -> Vec<Option<f64>> {
        pages.iter().map(|page| self.ranks.get(page).copied()).collect()
    }
}

pub struct Scene {
    pub texts: PathBuf,
    blobs: Segments,
    pub urls: BTreeMap<UrlKey, UrlRow>,
    docs: BTreeMap<DocId, UrlKey>,
    captures: BTreeMap<(UrlKey, Time), Capture>,
    pub log: BTreeMap<(u16, u64), Change>,
    pub now: i64,
    pub told: Told,
}

impl Scene {
    /// Texts are written below a directory.
    pub fn new(dir: &Path) -> Self {
        let texts = dir.join("text");
        Scene {
            blobs: Segments::open(&texts, Blobs::Text, &[], 1 << 30).unwrap(),
            texts,
            urls: BTreeMap::new(),
            docs: BTreeMap::new(),
            captures: BTreeMap::new(),
            log: BTreeMap::new(),
            now: 0,
            told: Told::default(),
        }
    }

    pub fn doc(&self, text: &str) -> DocId {
        self.urls[&key(text)].doc
    }

    fn meet(&mut self, text: &str) -> UrlKey {
        let url = CanonicalUrl::parse(text).unwrap();
        let key = url.key(&SUFFIXES);
        if self.urls.contains_key(&key) {
            return key;
        }
        let running = 1 + self.docs.keys().filter(|d| d.part() == key.host.part).count() as u64;
        let doc = DocId::new(running, key.host.part);
        self.docs.insert(doc, key);
        let head = UrlHead {
            doc,
            state: UrlState::Fetched,
            depth: 0,
            jobs: vec![JobId(1)],
            first_seen: Time(self.now),
            fetched_at: None,
            visits: 0,
            changes: 0,
            changed_at: None,
            attempts: 0,
            place: None,
            due: None,
            expand: false,
            wishes: Vec::new(),
            role: Role::Page,
            hops: 0,
            plan: None,
        };
        self.urls.insert(key, UrlRow { head, url });
        key
    }

    /// A visit as a commit would leave it.
    pub fn visit(
        &mut self,
        url: &str,
        ended: Ended,
        kind: OutcomeKind,
        text: Option<Location>,
        changed: bool,
        directives: Directives,
    ) {
        let key = self.meet(url);
        self.now += 1_000;
        let time = Time(self.now);
        let row = self.urls.get_mut(&key).unwrap();
        if changed {
            row.head.changed_at = Some(time);
        }
        row.head.state = match (ended, kind) {
            (Ended::WithPage, OutcomeKind::Redirect) => UrlState::Redirected,
            (Ended::WithPage, _) => UrlState::Fetched,
            (Ended::Open, _) => row.head.state,
            _ => UrlState::Failed,
        };
        let doc = row.doc;
        let capture = Capture {
            doc,
            job: JobId(1),
            time,
            outcome: FetchOutcome::new(kind, 200),
            record: None,
            revisit: false,
            text,
            mime: "text/html".into(),
            bytes: 1,
            payload_digest: [0; 20],
            body_digest: [0; 32],
            last_modified: None,
            etag: None,
            elapsed_ms: 1,
            directives,
            verdict: None,
        };
        self.captures.insert((key, time), capture);
        let part = key.host.part;
        let n = self.next_row(part);
        self.log.insert((part, n), Change { n, key, time, changed, doc, ended });
    }

    /// A capture that comes when later ones are there, as from an archive: it decides nothing.
    pub fn late(&mut self, url: &str, time: i64, words: &str) {
        // Nothing to read: the page was not there.
        let text = (!words.is_empty())
            .then(|| self.blob(&TextBlob { text: words.into(), ..TextBlob::default() }));
        let kind = if text.is_some() { OutcomeKind::Fetched } else { OutcomeKind::ClientError };
        let (now, changed_at) = (self.now, self.urls[&key(url)].changed_at);
        self.now = time - 1_000;
        let plain = Directives::default();
        self.visit(url, Ended::Open, kind, text, text.is_some(), plain);
        self.now = now;
        self.urls.get_mut(&key(url)).unwrap().head.changed_at = changed_at;
    }

    /// Nothing of a page is left but its row.
    pub fn forget(&mut self, url: &str) {
        let key = key(url);
        self.now += 1_000;
        self.captures.retain(|(of, _), _| *of != key);
        let (part, doc, time) = (key.host.part, self.urls[&key].doc, Time(self.now));
        let n = self.next_row(part);
        let ended = Ended::Forgotten;
        self.log.insert((part, n), Change { n, key, time, changed: true, doc, ended });
    }

    fn next_row(&self, part: u16) -> u64 {
        let last = self.log.range((part, 0)..=(part, u64::MAX)).next_back();
        last.map_or(1, |((_, n), _)| n + 1)
    }

    pub fn blob(&mut self, blob: &TextBlob) -> Location {
        let location = self.blob_later(blob);
        self.blobs.sync().unwrap();
        location
    }

    /// A text that can be read after the next one that is synced.
    pub fn blob_later(&mut self, blob: &TextBlob) -> Location {
        self.blobs.append(encode_text(blob).into()).unwrap()
    }

    pub fn page_blob(&mut self, url: &str, blob: &TextBlob) {
        let text = Some(self.blob(blob));
        let directives = Directives::default();
        self.visit(url, Ended::WithPage, OutcomeKind::Fetched, text, true, directives);
    }

    /// An English page.
    pub fn page(&mut self, url: &str, title: &str, text: &str) {
        self.page_blob(
            url,
            &TextBlob {
                title: title.into(),
                text: text.into(),
                language: Some("en".into()),
                ..TextBlob::default()
            },
        );
    }

    pub fn catch_up(&self, index: &mut Index) -> Progress {
        index.catch_up(self, &self.texts, &SUFFIXES, &self.told, usize::MAX).unwrap()
    }

    /// Everything, indexed.
    pub fn indexed(&self, dir: &Path) -> Index {
        let mut index = Index::open(&dir.join("index"), &Settings::default()).unwrap();
        index.listen(self, &self.told, u64::MAX).unwrap();
        self.catch_up(&mut index);
        index.commit().unwrap();
        index
    }

    pub fn search(&self, view: &View, query: &str) -> Answer {
        let options = SearchOptions { now: Time(self.now), ..SearchOptions::default() };
        self.search_with(view, query, &options)
    }

    pub fn search_with(&self, view: &View, query: &str, options: &SearchOptions) -> Answer {
        view.search(query, &self.texts, &self.told, options)
            .unwrap_or_else(|e| panic!("{query}: {e}"))
    }

    /// The paths of the hits, in their order.
    pub fn found(&self, view: &View, query: &str) -> String {
        paths(&self.search(view, query))
    }
}

/// The paths of the hits, in their order; those with some of the words after a bar.
pub fn paths(answer: &Answer) -> String {
    let mut out = Vec::new();
    let mut partial = false;
    for hit in &answer.hits {
        if hit.partial && !partial {
            partial = true;
            out.push("|".to_owned());
        }
        out.push(CanonicalUrl::parse(&hit.url).unwrap().path()[1..].to_owned());
    }
    out.join(" ")
}

impl Store for Scene {
    fn commit(&self, _: Batch) -> Result<Committed, StoreError> {
        unreachable!("followers do not write")
    }
    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        Ok(keys.iter().map(|k| self.urls.get(k).cloned()).collect())
    }
    fn scan_urls(&self, _: Option<UrlKey>, _: usize) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        Ok(docs.iter().map(|d| self.docs.get(d).copied()).collect())
    }
    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        let all = self.captures.range((key, Time(i64::MIN))..=(key, Time(i64::MAX)));
        Ok(all.map(|(_, c)| c.clone()).collect())
    }
    fn links(&self, _: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn payloads(
        &self,
        _: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn hosts(&self, _: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn scan_hosts(
        &self,
        _: Option<HostKey>,
        _: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn ready_before(&self, _: HostKey, _: Place, _: usize) -> Result<usize, StoreError> {
        unreachable!("not asked by the index")
    }
    fn host_urls(
        &self,
        _: HostKey,
        _: Option<u64>,
        _: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn robots(&self, _: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn exclusions(&self) -> Result<Vec<(Box<str>, Time)>, StoreError> {
        Ok(Vec::new())
    }

    fn delays(&self) -> Result<Vec<(Box<str>, u64)>, StoreError> {
        Ok(Vec::new())
    }

    fn traps(&self) -> Result<Vec<(Box<str>, argiope_frontier::Trap)>, StoreError> {
        Ok(Vec::new())
    }

    fn claims(&self) -> Result<Vec<HostKey>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn segments(&self, _: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError> {
        unreachable!("not asked by the index")
    }
    fn changes(&self, part: u16, after: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        let rows = self.log.range((part, after + 1)..=(part, u64::MAX)).take(limit);
        Ok(rows.map(|(_, c)| c.clone()).collect())
    }
    fn log_heads(&self) -> Result<Vec<(u16, u64)>, StoreError> {
        let heads: BTreeMap<u16, u64> = self.log.keys().copied().collect();
        Ok(heads.into_iter().collect())
    }
    fn next_page(&self) -> Result<u64, StoreError> {
        unreachable!("not asked by the index")
    }
}
