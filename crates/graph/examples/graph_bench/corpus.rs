//! A made-up web behind the store's interface: pages made from their numbers.

use argiope_frontier::{Place, RobotsFile, Temper};
use argiope_model::{
    CanonicalUrl, Capture, DocId, HostKey, JobId, Link, LinkKind, PayloadDigest, Role, SiteKey,
    Suffixes, Time, UrlKey,
};
use argiope_store::{
    Batch, Change, Committed, Ended, HostRow, JobRow, PayloadRow, SegmentKind, Store, StoreError,
    UrlHead, UrlRow, UrlState, encode_links,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Front pages of a site, linked from all of its pages.
const FRONT: u32 = 20;

#[derive(Clone, Copy)]
struct Page {
    site: u32,
    index: u32,
    known: u32,
    doc: DocId,
    version: u32,
}

pub struct Corpus {
    pub suffixes: Suffixes,
    sites: u32,
    /// URLs known and visited, by site.
    known: Vec<(u32, u32)>,
    parts: BTreeMap<u16, u64>,
    pages: Vec<Page>,
    by_key: HashMap<UrlKey, u32>,
    by_doc: HashMap<DocId, u32>,
    /// All keys in their order, once somebody asks for that; no page is made after.
    in_order: OnceLock<Vec<UrlKey>>,
    heads: BTreeMap<u16, u64>,
    /// The rows made last.
    log: HashMap<u16, Vec<Change>>,
    blobs: HashMap<UrlKey, Vec<u8>>,
    origins: HashMap<HostKey, Box<str>>,
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n.max(1))) as u32
    }

    /// Small numbers more often than large ones.
    fn low(&mut self, n: u32) -> u32 {
        let a = f64::from(self.roll(1 << 20)) / f64::from(1 << 20);
        (a * a * a * f64::from(n)) as u32
    }
}

fn text(site: u32, index: u32) -> String {
    const SECTIONS: [&str; 6] = ["news", "about", "products", "archive/2026", "blog", "team"];
    let section = SECTIONS[index as usize % SECTIONS.len()];
    format!("https://www.site-{site}.example/{section}/an-article-about-{index}.html")
}

fn words(index: u32) -> String {
    const WORDS: [&str; 8] = [
        "home",
        "read more",
        "contact us",
        "latest news",
        "the whole story",
        "next",
        "",
        "archive",
    ];
    format!("{} {}", WORDS[index as usize % 8], index % 100)
}

impl Corpus {
    pub fn new(pages: u32) -> Self {
        let sites = (pages / 50).max(10);
        let room = pages as usize;
        Corpus {
            suffixes: Suffixes::built_in(),
            sites,
            known: vec![(FRONT, 0); sites as usize],
            parts: BTreeMap::new(),
            pages: Vec::with_capacity(room),
            by_key: HashMap::with_capacity(room),
            by_doc: HashMap::with_capacity(room),
            in_order: OnceLock::new(),
            heads: BTreeMap::new(),
            log: HashMap::new(),
            blobs: HashMap::new(),
            origins: HashMap::with_capacity(sites as usize),
        }
    }

    fn key(&self, site: u32, index: u32) -> UrlKey {
        url(&text(site, index)).key(&self.suffixes)
    }

    /// Makes the next pages.
    pub fn make(&mut self, number: u32) {
        self.log.clear();
        self.blobs.clear();
        for _ in 0..number {
            let n = self.pages.len() as u32;
            let mut dice = Dice(u64::from(n) * 7919 + 1);
            let mut site = dice.low(self.sites);
            while self.known[site as usize].1 >= self.known[site as usize].0 {
                site = (site + 1) % self.sites;
            }
            let (known, visited) = &mut self.known[site as usize];
            let index = *visited;
            *visited += 1;
            let before = *known;
            *known += 6 + n % 2;
            let key = self.key(site, index);
            let running = self.parts.entry(key.host.part).or_default();
            let doc = DocId::new(*running, key.host.part);
            *running += 7;
            let page = Page { site, index, known: before, doc, version: 0 };
            self.pages.push(page);
            self.by_key.insert(key, n);
            self.by_doc.insert(doc, n);
            let origin = format!("https://www.site-{site}.example");
            self.origins.entry(key.host).or_insert_with(|| origin.into());
            self.tell(key, n);
        }
    }

    /// The pages made last: URL, key, links.
    pub fn made(&self) -> Vec<(CanonicalUrl, UrlKey, Option<Vec<u8>>)> {
        let mut rows: Vec<&Change> = self.log.values().flatten().collect();
        rows.sort_by_key(|row| row.time);
        let made = rows.into_iter().map(|row| {
            let page = self.pages[self.by_key[&row.key] as usize];
            let url = url(&text(page.site, page.index));
            (url, row.key, self.blobs.get(&row.key).cloned())
        });
        made.collect()
    }

    /// Some pages are read again and have changed.
    pub fn change(&mut self, number: u32) {
        self.log.clear();
        self.blobs.clear();
        let mut dice = Dice(42);
        for _ in 0..number {
            let n = dice.roll(self.pages.len() as u32);
            self.pages[n as usize].version += 1;
            let page = self.pages[n as usize];
            self.tell(self.key(page.site, page.index), n);
        }
    }

    fn tell(&mut self, key: UrlKey, n: u32) {
        let page = self.pages[n as usize];
        let part = key.host.part;
        let head = self.heads.entry(part).or_default();
        *head += 1;
        let ended = if broken(n) { Ended::Broken } else { Ended::WithPage };
        let row =
            Change { n: *head, key, time: Time(i64::from(n)), changed: true, doc: page.doc, ended };
        self.log.entry(part).or_default().push(row);
        if ended == Ended::WithPage {
            self.blobs.insert(key, self.blob(n));
        }
    }

    fn blob(&self, n: u32) -> Vec<u8> {
        let page = self.pages[n as usize];
        let mut dice = Dice(u64::from(n) << 8 | u64::from(page.version));
        let mut links: Vec<(u32, u32)> = (0..FRONT).map(|i| (page.site, i)).collect();
        links.extend((0..6 + n % 2).map(|i| (page.site, page.known + i)));
        while links.len() < 50 {
            links.push((page.site, dice.roll(page.known)));
        }
        while links.len() < 56 {
            links.push((dice.low(self.sites.min(1000)), 0));
        }
        while links.len() < 62 {
            links.push((dice.roll(self.sites), dice.roll(50)));
        }
        let links: Vec<Link> = links
            .into_iter()
            .map(|(site, index)| Link {
                url: url(&text(site, index)),
                words: words(index).into(),
                kind: LinkKind::Anchor,
                nofollow: index % 16 == 9,
                count: 1,
            })
            .collect();
        encode_links(&links)
    }

    /// Keys of pages here and there.
    pub fn some_keys(&self, number: u32) -> Vec<UrlKey> {
        let mut dice = Dice(7);
        let mut key = || {
            let page = self.pages[dice.roll(self.pages.len() as u32) as usize];
            self.key(page.site, page.index)
        };
        (0..number).map(|_| key()).collect()
    }
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).expect("made up as it should be")
}

fn broken(n: u32) -> bool {
    n % 40 == 39
}

impl Store for Corpus {
    fn commit(&self, _: Batch) -> Result<Committed, StoreError> {
        Ok(Committed::default())
    }
    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        let row = |key: &UrlKey| {
            let page = self.pages[*self.by_key.get(key)? as usize];
            let head = UrlHead {
                doc: page.doc,
                state: UrlState::Fetched,
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
            Some(UrlRow { head, url: url(&text(page.site, page.index)) })
        };
        Ok(keys.iter().map(row).collect())
    }
    fn scan_urls(
        &self,
        after: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let keys = self.in_order.get_or_init(|| {
            let mut keys: Vec<UrlKey> = self.by_key.keys().copied().collect();
            keys.sort_unstable();
            keys
        });
        let start = after.map_or(0, |after| keys.partition_point(|key| *key <= after));
        let keys = &keys[start..(start + limit).min(keys.len())];
        let rows = self.urls(keys)?.into_iter();
        Ok(keys.iter().zip(rows).filter_map(|(key, row)| Some((*key, row?))).collect())
    }
    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        let key = |doc: &DocId| {
            let page = self.pages[*self.by_doc.get(doc)? as usize];
            Some(self.key(page.site, page.index))
        };
        Ok(docs.iter().map(key).collect())
    }
    fn captures(&self, _: UrlKey) -> Result<Vec<Capture>, StoreError> {
        Ok(Vec::new())
    }
    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let blob = |key: &UrlKey| match self.blobs.get(key) {
            Some(blob) => Some(blob.clone()),
            None => self.by_key.get(key).filter(|n| !broken(**n)).map(|n| self.blob(*n)),
        };
        Ok(keys.iter().map(blob).collect())
    }
    fn payloads(
        &self,
        _: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        Ok(Vec::new())
    }
    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        let row = |key: &HostKey| {
            let origin = self.origins.get(key)?.clone();
            Some(HostRow {
                origin,
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
            })
        };
        Ok(keys.iter().map(row).collect())
    }
    fn scan_hosts(
        &self,
        _: Option<HostKey>,
        _: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        Ok(Vec::new())
    }
    fn ready_before(&self, _: HostKey, _: Place, _: usize) -> Result<usize, StoreError> {
        Ok(0)
    }
    fn host_urls(
        &self,
        _: HostKey,
        _: Option<u64>,
        _: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        Ok(Vec::new())
    }
    fn robots(&self, _: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError> {
        Ok(Vec::new())
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
        Ok(Vec::new())
    }
    fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        Ok(Vec::new())
    }
    fn segments(&self, _: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError> {
        Ok(Vec::new())
    }
    fn changes(&self, part: u16, after: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        let rows = self.log.get(&part).map_or(&[][..], |rows| rows);
        let start = rows.partition_point(|row| row.n <= after);
        Ok(rows[start..].iter().take(limit).cloned().collect())
    }
    fn log_heads(&self) -> Result<Vec<(u16, u64)>, StoreError> {
        Ok(self.heads.iter().map(|(part, n)| (*part, *n)).collect())
    }
    fn next_page(&self) -> Result<u64, StoreError> {
        Ok(1)
    }
}
