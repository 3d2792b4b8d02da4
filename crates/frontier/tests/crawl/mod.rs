//! A crawl of a made-up web in a model of the engine: requests take time, answers wait to be parsed, pages
//! to be committed, and what they lead to is known only then.
//!
//! It follows the director: one commit at a time, in groups of 64 pages or every 200 ms or when nothing is
//! ready; nothing is handed out while 64 pages wait. Time and chance are numbers: a crawl repeats itself.

use argiope_frontier::{
    Answered, Budgets, Entry, Frontier, HostWindow, Place, Politeness, Refill, RobotsFile, Task,
    Temper, first_place_of_links, place_of_link, place_of_seed,
};
use argiope_model::{
    CanonicalUrl, DocId, FetchOutcome, HostKey, JobId, Order, OutcomeKind, Role, SiteKey, Time,
    UrlKey,
};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::time::Duration;

/// Sites from here on are the farm's.
pub const FARM: u64 = 1_000;
/// How many sites it has, and how many pages each of them.
const FARM_SITES: u64 = 1_000;
const FARM_PAGES: u64 = 1_000;
const GROUP: usize = 64;
const GROUP_MS: i64 = 200;
const JOB: JobId = JobId(1);

/// A number that looks drawn, always the same for the same one.
pub fn mixed(n: u64) -> u64 {
    let x = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 3
}

/// What there is to crawl.
#[derive(Clone)]
pub struct Web {
    /// Pages of each honest site.
    pub pages: Vec<u64>,
    /// Sites that the home of an honest site links to.
    pub links: Vec<Vec<u64>>,
    pub starts: Vec<u64>,
    /// Links of a farm page to other farm sites.
    pub farm_links: u64,
}

impl Web {
    fn is_there(&self, (site, page): (u64, u64)) -> bool {
        match self.pages.get(site as usize) {
            Some(pages) => page < *pages,
            None => site < FARM + FARM_SITES && page < FARM_PAGES,
        }
    }

    /// What a page links to.
    fn out(&self, (site, page): (u64, u64)) -> Vec<(u64, u64)> {
        let inner = (1..9).map(|k| (site, page * 8 + k)).filter(|at| self.is_there(*at));
        let mut out: Vec<(u64, u64)> = inner.collect();
        if site < FARM {
            let homes = self.links[site as usize].iter().filter(|_| page == 0);
            out.extend(homes.map(|to| (*to, 0)));
        } else {
            out.extend((0..self.farm_links).map(|k| {
                let from = site * FARM_PAGES + page;
                let drawn = mixed(from * self.farm_links + k);
                let at = if drawn & 1 << 45 == 0 { 0 } else { (drawn >> 20) % FARM_PAGES };
                (FARM + drawn % FARM_SITES, at)
            }));
        }
        out
    }
}

/// How long things take, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub delay: u64,
    /// A request: at least, and up to so much more.
    pub answer: (u64, u64),
    /// Parsing a page, one after the other on two cores.
    pub parse: i64,
    pub commit: i64,
}

/// What was asked for when the last honest page was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub honest: u64,
    pub farm: u64,
    pub pages: u64,
    pub ms: i64,
}

enum Event {
    Answered(Entry, u64, bool),
    Parsed(Entry, u64),
    Committed,
}

pub struct Crawl {
    web: Web,
    pace: Pace,
    frontier: Frontier,
    now: i64,
    events: BTreeMap<(i64, u64), Event>,
    ticks: u64,
    disk: BTreeMap<HostKey, BTreeMap<Place, Entry>>,
    /// Hosts with rows that are not loaded, by when they are due.
    due: BTreeSet<(i64, u64, HostKey)>,
    scheduled: BTreeMap<HostKey, (i64, u64, HostKey)>,
    claimed: HashSet<HostKey>,
    seen: HashSet<(u64, u64)>,
    obeyed: HashSet<HostKey>,
    pending: VecDeque<(Entry, u64)>,
    oldest: Option<i64>,
    committing: Vec<(Entry, Vec<Entry>)>,
    windows: Vec<HostWindow>,
    busy: bool,
    parsing: usize,
    parsed_until: [i64; 2],
    next_page: u64,
    told: Seen,
}

fn key_of(site: u64) -> HostKey {
    let [.., a, b, c, d, e, f] = mixed(site).to_be_bytes();
    HostKey { part: (site % 4096) as u16, host: [a, b, c, d, e, f] }
}

fn site_of(site: u64) -> SiteKey {
    let HostKey { part, host } = key_of(site);
    SiteKey { part, site: host }
}

fn at(entry: &Entry) -> (u64, u64) {
    (entry.doc.0 / FARM_PAGES, entry.doc.0 % FARM_PAGES)
}

fn row(at: (u64, u64), depth: u16, place: Place) -> Entry {
    let number = at.0 * FARM_PAGES + at.1;
    Entry {
        key: UrlKey { host: key_of(at.0), url: number },
        place,
        url: CanonicalUrl::parse(&format!("http://s{}.test/{}", at.0, at.1)).expect("a URL"),
        doc: DocId(number),
        job: JOB,
        depth,
        attempts: 0,
        expand: false,
        role: Role::Page,
        hops: 0,
        again: false,
    }
}

impl Crawl {
    pub fn new(web: Web, pace: Pace) -> Crawl {
        let mut frontier = Frontier::new(Politeness {
            delay: Duration::from_millis(pace.delay),
            per_host: 1,
            connections: 300,
            max_hosts: 4_096,
            rows: 1 << 16,
            robots: Some("argiope".to_owned()),
            ..Politeness::default()
        });
        let mut budgets = Budgets::with_bytes(8 << 20);
        budgets.begin(JOB, web.starts.iter().map(|start| site_of(*start)));
        frontier.set_budgets(budgets);
        let mut crawl = Crawl {
            frontier,
            now: 1_000,
            events: BTreeMap::new(),
            ticks: 0,
            disk: BTreeMap::new(),
            due: BTreeSet::new(),
            scheduled: BTreeMap::new(),
            claimed: HashSet::new(),
            seen: HashSet::new(),
            obeyed: HashSet::new(),
            pending: VecDeque::new(),
            oldest: None,
            committing: Vec::new(),
            windows: Vec::new(),
            busy: false,
            parsing: 0,
            parsed_until: [0; 2],
            next_page: 1,
            told: Seen::default(),
            web,
            pace,
        };
        for (index, start) in crawl.web.starts.clone().into_iter().enumerate() {
            crawl.queue(row((start, 0), 0, place_of_seed(Order::Breadth, 0, index)));
        }
        crawl
    }

    /// Crawls until so many honest pages were asked for, or that many requests were made in all.
    pub fn until(&mut self, pages: u64, requests: u64) -> Seen {
        while self.told.pages < pages && self.told.honest + self.told.farm < requests {
            self.hand_out(pages);
            self.commit();
            let event = self.events.first_key_value().map(|((at, _), _)| *at);
            let aged = self.oldest.filter(|_| !self.busy).map(|at| at + GROUP_MS);
            let wake = self.frontier.next_wake().map(|at| at.0).filter(|at| *at > self.now);
            let due = self.due.first().map(|(at, ..)| *at).filter(|at| *at > self.now);
            let Some(next) = [event, aged, wake, due].into_iter().flatten().min() else { break };
            self.now = next.max(self.now);
            while let Some(first) = self.events.first_entry().filter(|e| e.key().0 <= self.now) {
                let event = first.remove();
                self.hear(event);
            }
        }
        self.told
    }

    fn after(&mut self, ms: i64, event: Event) {
        self.ticks += 1;
        self.events.insert((self.now + ms, self.ticks), event);
    }

    fn hand_out(&mut self, pages: u64) {
        while self.parsing + self.pending.len() + self.committing.len() < GROUP {
            let number = self.next_page;
            let leads_to =
                |entry: &Entry| first_place_of_links(Order::Breadth, entry.depth + 1, number);
            let Some(task) = self.frontier.next(Time(self.now), leads_to, |_| None) else { return };
            self.next_page += 1;
            let (entry, robots) = match task {
                Task::Visit(entry) => (entry, false),
                Task::Robots(entry) => (entry, true),
                other => panic!("nothing else is due here: {other:?}"),
            };
            if at(&entry).0 >= FARM {
                self.told.farm += 1;
            } else {
                self.told.honest += 1;
                self.told.pages += u64::from(!robots);
            }
            self.told.ms = self.now - 1_000;
            if self.told.pages >= pages {
                return;
            }
            let (least, more) = self.pace.answer;
            let takes = least + mixed(number) % more.max(1);
            self.after(takes as i64, Event::Answered(entry, number, robots));
        }
    }

    fn hear(&mut self, event: Event) {
        let now = Time(self.now);
        match event {
            Event::Answered(entry, number, robots) => {
                let host = entry.key.host;
                let answer = Answered { end: Some(now), ..Answered::default() };
                self.frontier.answered(host, Some(entry.place), answer, now);
                if robots {
                    self.obeyed.insert(host);
                    self.frontier.robots_answered(host, &no_rules(), false, now);
                    self.frontier.give_back(entry, now);
                    return;
                }
                let core = self.parsed_until.iter_mut().min().expect("there are two");
                *core = (*core).max(self.now) + self.pace.parse;
                let takes = *core - self.now;
                self.parsing += 1;
                self.after(takes, Event::Parsed(entry, number));
            }
            Event::Parsed(entry, number) => {
                self.parsing -= 1;
                let (site, page) = at(&entry);
                let mut sites: BTreeMap<SiteKey, bool> = BTreeMap::new();
                for to in self.web.out((site, page)).into_iter().filter(|to| to.0 != site) {
                    *sites.entry(site_of(to.0)).or_default() |= !self.seen.contains(&to);
                }
                let sites: Vec<(SiteKey, bool)> = sites.into_iter().collect();
                if let Some(budgets) = self.frontier.budgets_mut() {
                    budgets.link(site_of(site), &sites);
                }
                self.oldest.get_or_insert(self.now);
                self.pending.push_back((entry, number));
            }
            Event::Committed => {
                self.busy = false;
                for (entry, found) in std::mem::take(&mut self.committing) {
                    found.into_iter().for_each(|found| self.frontier.offer(found, now));
                    self.frontier.settled(entry.key.host, entry.place, now);
                }
                for window in std::mem::take(&mut self.windows) {
                    let site = window.entries.first().map(|entry| site_of(at(entry).0));
                    let host = window.host;
                    self.frontier.load(window, now);
                    if let Some(site) = site {
                        self.frontier.belongs(host, site, now);
                    }
                }
            }
        }
    }

    fn commit(&mut self) {
        let now = Time(self.now);
        let aged = self.oldest.is_some_and(|at| self.now - at >= GROUP_MS);
        let starved = self.frontier.out() < 300 && !self.frontier.has_ready(now);
        if self.busy || !(aged || starved || self.pending.len() >= GROUP) {
            return;
        }
        let wants = self.frontier.wants(now);
        let nothing = self.pending.is_empty() && wants.refills.is_empty();
        let due = self.due.first().is_some_and(|(at, ..)| *at <= self.now) && wants.hosts > 0;
        if nothing && wants.releases.is_empty() && !due {
            return;
        }
        for release in wants.releases {
            self.claimed.remove(&release.host);
            self.schedule(release.host, release.not_before.0);
        }
        for _ in 0..self.pending.len().min(GROUP) {
            let Some((entry, number)) = self.pending.pop_front() else { break };
            self.disk.get_mut(&entry.key.host).and_then(|rows| rows.remove(&entry.place));
            let mut found = Vec::new();
            for (index, to) in self.web.out(at(&entry)).into_iter().enumerate() {
                let place = place_of_link(Order::Breadth, entry.depth + 1, number, index);
                let row = row(to, entry.depth + 1, place);
                if self.queue(row.clone()) && self.claimed.contains(&row.key.host) {
                    found.push(row);
                }
            }
            self.committing.push((entry, found));
        }
        self.oldest = (!self.pending.is_empty()).then_some(self.now);
        for refill in &wants.refills {
            self.windows.push(self.read(refill, 0));
        }
        for _ in 0..wants.hosts {
            let Some(next) = self.due.first().copied().filter(|(at, ..)| *at <= self.now) else {
                break;
            };
            self.due.remove(&next);
            let (not_before, _, host) = next;
            self.scheduled.remove(&host);
            self.claimed.insert(host);
            let limit = self.frontier.window();
            self.windows.push(self.read(&Refill { host, after: None, limit }, not_before));
        }
        self.busy = true;
        self.after(self.pace.commit, Event::Committed);
    }

    /// Queues a row, unless it was seen.
    fn queue(&mut self, row: Entry) -> bool {
        if !self.seen.insert(at(&row)) {
            return false;
        }
        let host = row.key.host;
        self.disk.entry(host).or_default().insert(row.place, row);
        if !self.claimed.contains(&host) && !self.scheduled.contains_key(&host) {
            self.schedule(host, 0);
        }
        true
    }

    fn schedule(&mut self, host: HostKey, due: i64) {
        if self.disk.get(&host).is_some_and(|rows| !rows.is_empty()) {
            self.ticks += 1;
            let spot = (due, self.ticks, host);
            self.due.insert(spot);
            self.scheduled.insert(host, spot);
        }
    }

    fn read(&self, refill: &Refill, not_before: i64) -> HostWindow {
        let rows = self.disk.get(&refill.host).into_iter().flatten();
        let mut rows = rows.filter(|(at, _)| refill.after.is_none_or(|after| **at > after));
        let entries: Vec<Entry> =
            rows.by_ref().take(refill.limit).map(|(_, row)| row.clone()).collect();
        HostWindow {
            host: refill.host,
            cursor: entries.last().map(|row| row.place).or(refill.after),
            more: rows.next().is_some(),
            entries,
            not_before: Time(not_before),
            temper: Temper::default(),
            robots: self.obeyed.contains(&refill.host).then(no_rules),
        }
    }
}

fn no_rules() -> RobotsFile {
    RobotsFile {
        asked: Time(0),
        until: Time(i64::MAX / 2),
        outcome: FetchOutcome::new(OutcomeKind::Fetched, 404),
        body: Vec::new(),
    }
}
