//! A store of plain maps to be followed, and what the graph should say of it, counted the slow
//! way.

#![allow(dead_code, clippy::unwrap_used)]

use argiope_frontier::{Place, RobotsFile, Temper};
use argiope_graph::{BrokenLink, Counts, View};
use argiope_model::{
    CanonicalUrl, Capture, Directives, DocId, FetchOutcome, HostKey, JobId, Link, LinkKind,
    OutcomeKind, PayloadDigest, Role, SiteKey, Suffixes, Time, UrlKey,
};
use argiope_store::{
    Batch, Change, Committed, Ended, HostRow, JobRow, MalformedLink, PageLinks, PayloadRow,
    SegmentKind, Store, StoreError, UrlHead, UrlRow, UrlState, decode_page_links,
    encode_page_links,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);

pub fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

pub fn key(text: &str) -> UrlKey {
    url(text).key(&SUFFIXES)
}

pub fn link(to: &str, words: &str, kind: LinkKind, nofollow: bool) -> Link {
    Link { url: url(to), words: words.into(), kind, nofollow, count: 1 }
}

pub fn a(to: &str, words: &str) -> Link {
    link(to, words, LinkKind::Anchor, false)
}

pub fn malformed(href: &str) -> MalformedLink {
    MalformedLink { href: href.into(), words: "bad".into(), reason: "not a URL: no host".into() }
}

#[derive(Clone, Default)]
pub struct Scene {
    pub urls: BTreeMap<UrlKey, UrlRow>,
    docs: BTreeMap<DocId, UrlKey>,
    hosts: BTreeMap<HostKey, HostRow>,
    captures: BTreeMap<(UrlKey, Time), Capture>,
    pub links: BTreeMap<UrlKey, Vec<u8>>,
    log: BTreeMap<(u16, u64), Change>,
    now: i64,
}

impl Scene {
    pub fn meet(&mut self, text: &str) -> UrlKey {
        let url = url(text);
        let key = url.key(&SUFFIXES);
        if self.urls.contains_key(&key) {
            return key;
        }
        let running = self.docs.keys().filter(|d| d.part() == key.host.part).count() as u64;
        let doc = DocId::new(running, key.host.part);
        let host = HostRow {
            origin: url.origin().into(),
            ready: 0,
            claimed: false,
            wake: None,
            not_before: Time(0),
            known: 1,
            fetched: 0,
            failed: 0,
            bytes: 0,
            temper: Temper::default(),
            disk: Some(0),
        };
        self.hosts.insert(key.host, host);
        self.docs.insert(doc, key);
        let head = UrlHead {
            doc,
            state: UrlState::Queued,
            depth: 0,
            jobs: vec![JobId(1)],
            first_seen: Time(0),
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

    /// A visit to a page, as a commit would leave it.
    pub fn visit(&mut self, text: &str, ended: Ended, page: Option<(&[Link], &[MalformedLink])>) {
        let key = self.meet(text);
        self.now += 1_000;
        let time = Time(self.now);
        let doc = self.urls[&key].doc;
        if let Some((links, malformed)) = page {
            self.links.insert(key, encode_page_links(links, malformed));
        }
        if ended == Ended::Forgotten {
            self.links.remove(&key);
        }
        let (kind, status) = match ended {
            Ended::WithPage => (OutcomeKind::Fetched, 200),
            Ended::Broken => (OutcomeKind::ClientError, 404),
            Ended::LeftAlone => (OutcomeKind::UnwantedType, 200),
            Ended::Open | Ended::Forgotten => (OutcomeKind::TimedOut, 0),
        };
        let digest = self.links.get(&key).map_or([0; 32], |blob| [blob.len() as u8; 32]);
        let capture = Capture {
            doc,
            job: JobId(1),
            time,
            outcome: FetchOutcome::new(kind, status),
            record: None,
            revisit: false,
            text: None,
            mime: "text/html".into(),
            bytes: 1,
            payload_digest: [0; 20],
            body_digest: digest,
            last_modified: None,
            etag: None,
            elapsed_ms: 1,
            directives: Directives::default(),
            verdict: None,
        };
        self.captures.insert((key, time), capture);
        let part = key.host.part;
        let n = 1 + self.log.range((part, 0)..=(part, u64::MAX)).count() as u64;
        self.log.insert((part, n), Change { n, key, time, changed: true, doc, ended });
    }

    pub fn page(&mut self, text: &str, links: &[Link]) {
        self.visit(text, Ended::WithPage, Some((links, &[])));
    }

    /// How each page's last visit that decided something ended.
    fn ends(&self) -> BTreeMap<UrlKey, Ended> {
        let decided = self.log.values().filter(|change| change.ended != Ended::Open);
        decided.map(|change| (change.key, change.ended)).collect()
    }

    /// The links of each page that has any, as they count now.
    pub fn valid(&self) -> BTreeMap<UrlKey, PageLinks> {
        let with_page = self.ends().into_iter().filter(|(_, ended)| *ended == Ended::WithPage);
        with_page
            .filter_map(|(key, _)| Some((key, decode_page_links(self.links.get(&key)?).unwrap())))
            .collect()
    }

    fn site(&self, page: UrlKey) -> String {
        SUFFIXES.site_of(self.urls[&page].url.host()).to_owned()
    }
}

fn counts(kind: LinkKind) -> bool {
    matches!(kind, LinkKind::Anchor | LinkKind::Area | LinkKind::Frame | LinkKind::Iframe)
}

/// What the graph should know.
pub struct Slow {
    pub counts: BTreeMap<UrlKey, Counts>,
    /// Target, source, kind, words, nofollow.
    pub rows: BTreeSet<(UrlKey, String, &'static str, String, bool)>,
    /// Target, source, whether it counts, nofollow.
    pub edges: BTreeSet<(UrlKey, DocId, bool, bool)>,
    /// What, outcome, source, words.
    pub broken: BTreeSet<(String, String, Option<String>, String)>,
}

impl Slow {
    pub fn of(scene: &Scene) -> Self {
        let mut from: BTreeMap<UrlKey, (BTreeSet<UrlKey>, BTreeSet<String>)> = BTreeMap::new();
        let mut rows: BTreeSet<(UrlKey, String, &str, String, bool)> = BTreeSet::new();
        let mut edges: BTreeMap<(UrlKey, DocId), (bool, bool)> = BTreeMap::new();
        let mut broken = BTreeSet::new();
        for (page, links) in scene.valid() {
            let row = &scene.urls[&page];
            for link in links.links {
                let target = link.url.key(&SUFFIXES);
                let source = row.url.to_string();
                rows.insert((target, source, link.kind.name(), link.words.into(), link.nofollow));
                let counts = counts(link.kind);
                if counts {
                    let (pages, sites) = from.entry(target).or_default();
                    pages.insert(page);
                    sites.insert(scene.site(page));
                }
                let edge = edges.entry((target, row.doc)).or_insert((counts, link.nofollow));
                *edge = match (edge.0, counts) {
                    (false, true) => (true, link.nofollow),
                    (true, false) => *edge,
                    (both, _) => (both, edge.1 && link.nofollow),
                };
            }
            for m in links.malformed {
                let source = Some(row.url.to_string());
                broken.insert((m.href.into(), m.reason.into(), source, m.words.into()));
            }
        }
        for (key, ended) in scene.ends() {
            if ended != Ended::Broken {
                continue;
            }
            let captures = scene.captures(key).unwrap();
            let outcome = captures.last().unwrap().outcome.to_string();
            let url = scene.urls[&key].url.to_string();
            let mut leading = vec![(key, url.clone(), outcome.clone())];
            let mut at = 0;
            while let Some((key, leads, said)) = leading.get(at).cloned() {
                at += 1;
                let mut any = false;
                for (_, source, kind, words, _) in rows.iter().filter(|row| row.0 == key) {
                    any = true;
                    let from = self::key(source);
                    if *kind == "redirect" && leading.iter().all(|(key, ..)| *key != from) {
                        let said = format!("{outcome} (redirects to {url})");
                        leading.push((from, source.clone(), said));
                    }
                    let source = Some(source.clone());
                    broken.insert((leads.clone(), said.clone(), source, words.clone()));
                }
                if !any {
                    broken.insert((leads, said, None, String::new()));
                }
            }
        }
        let counts = from.into_iter().map(|(key, (pages, sites))| {
            (key, Counts { backlinks: pages.len() as u64, sites: sites.len() as u64 })
        });
        let edges = edges.into_iter().map(|((t, s), (c, n))| (t, s, c, n)).collect();
        Slow { counts: counts.collect(), rows, edges, broken }
    }

    pub fn top(&self, n: impl Fn(&Counts) -> (u64, u64), limit: usize) -> Vec<(UrlKey, Counts)> {
        let mut all: Vec<(UrlKey, Counts)> = self.counts.iter().map(|(k, c)| (*k, *c)).collect();
        all.sort_by_key(|(key, counts)| (std::cmp::Reverse(n(counts)), *key));
        all.truncate(limit);
        all
    }
}

pub fn broken_rows(rows: Vec<BrokenLink>) -> BTreeSet<(String, String, Option<String>, String)> {
    let row = |b: BrokenLink| (b.url, b.outcome, b.source.map(|s| s.to_string()), b.words);
    rows.into_iter().map(row).collect()
}

/// Compares everything that can be asked.
pub fn check(view: &View, scene: &Scene, others: &[&str]) {
    use argiope_graph::By;
    let slow = Slow::of(scene);
    let mut keys: BTreeSet<UrlKey> = scene.urls.keys().copied().collect();
    keys.extend(slow.rows.iter().map(|row| row.0));
    keys.extend(others.iter().map(|text| key(text)));
    let keys: Vec<UrlKey> = keys.into_iter().collect();
    let want: Vec<Counts> =
        keys.iter().map(|k| slow.counts.get(k).copied().unwrap_or_default()).collect();
    assert_eq!(view.counts(&keys).unwrap(), want, "counts");
    let mut rows = BTreeSet::new();
    for (target, want) in keys.iter().zip(&want) {
        let incoming = view.incoming(scene, &SUFFIXES, *target, None, 999).unwrap();
        assert_eq!(incoming.counts, *want);
        assert_eq!(incoming.next, None);
        let (mut pieces, mut after) = (Vec::new(), None);
        loop {
            let piece = view.incoming(scene, &SUFFIXES, *target, after, 2).unwrap();
            assert_eq!((piece.counts, piece.others), (*want, incoming.others));
            pieces.extend(piece.rows);
            after = piece.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(pieces, incoming.rows, "in pieces as in one");
        let mut words: BTreeMap<String, u64> = BTreeMap::new();
        for row in incoming.rows {
            assert!(row.first_seen <= row.last_seen && row.last_seen > Time(0));
            if counts(row.kind) {
                *words.entry(row.words.clone()).or_default() += 1;
            }
            let source = row.source.to_string();
            let new = rows.insert((*target, source, row.kind.name(), row.words, row.nofollow));
            assert!(new, "each link once");
        }
        assert_eq!(incoming.words.iter().cloned().collect::<BTreeMap<_, _>>(), words);
        assert!(incoming.words.is_sorted_by_key(|(_, n)| std::cmp::Reverse(*n)));
    }
    assert_eq!(rows, slow.rows, "incoming links");
    for limit in [1, 3, 99] {
        let want = slow.top(|c| (c.backlinks, c.sites), limit);
        assert_eq!(view.top(By::Backlinks, limit).unwrap(), want, "top {limit} by pages");
        let want = slow.top(|c| (c.sites, c.backlinks), limit);
        assert_eq!(view.top(By::Sites, limit).unwrap(), want, "by sites");
        // Knowing how many there can be changes nothing.
        let most = slow.counts.values().map(|c| c.sites).max().unwrap_or(0);
        for most in [most, most + 1] {
            assert_eq!(view.top_at_most(By::Sites, limit, most).unwrap(), want, "at most {most}");
        }
    }
    let mut edges = BTreeSet::new();
    view.edges::<argiope_graph::GraphError>(|e| {
        assert!(edges.insert((e.target, e.source, e.counts, e.nofollow)), "each edge once");
        Ok(())
    })
    .unwrap();
    assert_eq!(edges, slow.edges, "edges");
    let all = view.broken(scene, &SUFFIXES, None, 999).unwrap();
    assert_eq!(all.next, None);
    assert_eq!(broken_rows(all.rows), slow.broken, "broken");
    let (mut after, mut paged) = (None, Vec::new());
    loop {
        let some = view.broken(scene, &SUFFIXES, after, 2).unwrap();
        paged.extend(some.rows);
        after = some.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(broken_rows(paged), slow.broken, "broken, page by page");
    let texts = view.texts(scene, &SUFFIXES, &keys).unwrap();
    for (key, text) in keys.iter().zip(texts) {
        let linked = slow.edges.iter().any(|(target, ..)| target == key);
        assert_eq!(text.is_some(), linked || scene.urls.contains_key(key));
        assert!(text.is_none_or(|text| self::key(&text) == *key));
    }
}

impl Store for Scene {
    fn commit(&self, _: Batch) -> Result<Committed, StoreError> {
        unreachable!("followers do not write")
    }
    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        Ok(keys.iter().map(|k| self.urls.get(k).cloned()).collect())
    }
    fn scan_urls(
        &self,
        after: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let rest = self.urls.iter().filter(|(key, _)| after.is_none_or(|after| **key > after));
        Ok(rest.take(limit).map(|(key, row)| (*key, row.clone())).collect())
    }
    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        Ok(docs.iter().map(|d| self.docs.get(d).copied()).collect())
    }
    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        let all = self.captures.range((key, Time(i64::MIN))..=(key, Time(i64::MAX)));
        Ok(all.map(|(_, c)| c.clone()).collect())
    }
    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        Ok(keys.iter().map(|k| self.links.get(k).cloned()).collect())
    }
    fn payloads(
        &self,
        _: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        unreachable!("not asked by the graph")
    }
    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        Ok(keys.iter().map(|k| self.hosts.get(k).cloned()).collect())
    }
    fn scan_hosts(
        &self,
        after: Option<HostKey>,
        limit: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        let rest = self.hosts.iter().filter(|(key, _)| after.is_none_or(|after| **key > after));
        Ok(rest.take(limit).map(|(key, row)| (*key, row.clone())).collect())
    }
    fn ready_before(&self, _: HostKey, _: Place, _: usize) -> Result<usize, StoreError> {
        unreachable!("not asked by the graph")
    }
    fn host_urls(
        &self,
        _: HostKey,
        _: Option<u64>,
        _: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        unreachable!("not asked by the graph")
    }
    fn robots(&self, _: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError> {
        unreachable!("not asked by the graph")
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
        unreachable!("not asked by the graph")
    }
    fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        unreachable!("not asked by the graph")
    }
    fn segments(&self, _: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError> {
        unreachable!("not asked by the graph")
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
        unreachable!("not asked by the graph")
    }
}
