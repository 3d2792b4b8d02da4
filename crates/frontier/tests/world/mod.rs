//! A made-up world for the frontier: a disk of rows, a committer that answers late, a clock.
//!
//! It follows the engine's protocol: results are settled by a commit, a commit carries what
//! [`Frontier::wants`] asked for, one commit is under way at a time, and its answer (rows
//! queued, rows read, hosts claimed) arrives some time after it was performed.

#![allow(dead_code)] // Each test program uses a part of it.

use argiope_frontier::{
    Answered, Entry, Frontier, Heard, HostWindow, Place, Politeness, Refill, Task, Temper,
};
use argiope_model::{CanonicalUrl, DocId, HostKey, JobId, Role, Time, UrlKey};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub const DELAY_MS: i64 = 1_000;

pub fn rules(per_host: usize) -> Politeness {
    Politeness {
        delay: Duration::from_millis(DELAY_MS as u64),
        per_host,
        connections: 4,
        max_hosts: 4,
        rows: 64,
        ..Politeness::default()
    }
}

pub fn host(n: u8) -> HostKey {
    HostKey { part: u16::from(n), host: [n; 6] }
}

pub fn place(order: u64) -> Place {
    Place { order, seq: 0 }
}

pub fn entry(host_number: u8, order: u64, job: u32) -> Entry {
    let text = format!("http://h{host_number}.test/{order}");
    Entry {
        key: UrlKey { host: host(host_number), url: order },
        place: place(order),
        url: CanonicalUrl::parse(&text).expect("a plain URL"),
        doc: DocId(order),
        job: JobId(job),
        depth: 0,
        attempts: 0,
        expand: false,
        role: Role::Page,
        hops: 0,
        again: false,
    }
}

/// A host's rows of job 1 at these places, all there are.
pub fn window(n: u8, orders: std::ops::Range<u64>) -> HostWindow {
    let entries: Vec<_> = orders.map(|o| entry(n, o, 1)).collect();
    let cursor = entries.last().map(|e| e.place);
    HostWindow {
        host: host(n),
        entries,
        cursor,
        more: false,
        not_before: Time(0),
        temper: Temper::default(),
        robots: None,
    }
}

/// Links come after everything: nothing an open row leads to holds others up.
pub fn leads_last(_: &Entry) -> Place {
    Place { order: u64::MAX, seq: u64::MAX }
}

/// One request as the host saw it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub host: HostKey,
    pub start: i64,
    pub end: i64,
}

/// Whether a host was never asked on more connections than allowed, nor on any sooner than a
/// delay after its last answer ended.
pub fn polite(log: &[Request], delay: i64, per_host: usize) -> Result<(), String> {
    for r in log {
        let busy = |o: &&Request| o.host == r.host && o.start <= r.start && r.start < o.end + delay;
        // Those that start in the same instant are each counted with the others.
        let taken = log.iter().filter(busy).count();
        if taken > per_host {
            return Err(format!("{taken} connections taken at {} of {:?}", r.start, r.host));
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Answer {
    settled: Vec<(HostKey, Place)>,
    queued: Vec<Entry>,
    refills: Vec<HostWindow>,
    claimed: Vec<HostWindow>,
}

pub struct World {
    pub frontier: Frontier,
    pub now: i64,
    pub disk: BTreeMap<(HostKey, Place), Entry>,
    pub claimed: BTreeSet<HostKey>,
    pub not_before: BTreeMap<HostKey, i64>,
    /// Out, with the time its request was sent.
    pub out: Vec<(Entry, i64)>,
    /// Ended, and to be committed.
    ended: Vec<Entry>,
    found: Vec<Entry>,
    under_way: Option<Answer>,
    pub log: Vec<Request>,
    /// Rows in the order they were handed out.
    pub handed: Vec<(HostKey, Place)>,
    /// Commits that brought more rows of a loaded host.
    pub refills: usize,
    pub max_hosts: usize,
}

impl World {
    pub fn new(rules: Politeness) -> Self {
        World {
            max_hosts: rules.max_hosts,
            frontier: Frontier::new(rules),
            now: 1,
            disk: BTreeMap::new(),
            claimed: BTreeSet::new(),
            not_before: BTreeMap::new(),
            out: Vec::new(),
            ended: Vec::new(),
            found: Vec::new(),
            under_way: None,
            log: Vec::new(),
            handed: Vec::new(),
            refills: 0,
        }
    }

    /// A URL that the next commit queues.
    pub fn find(&mut self, entry: Entry) {
        self.found.push(entry);
    }

    /// Rows queued before the run.
    pub fn store(&mut self, rows: impl IntoIterator<Item = Entry>) {
        self.disk.extend(rows.into_iter().map(|e| ((e.key.host, e.place), e)));
    }

    pub fn hand_out(&mut self) -> Option<Entry> {
        let entry = match self.frontier.next(Time(self.now), leads_last, |_| None)? {
            Task::Visit(entry) => entry,
            other => panic!("nothing but visits is due here: {other:?}"),
        };
        let key = (entry.key.host, entry.place);
        assert!(self.disk.contains_key(&key), "{:?} is no longer queued", entry.url);
        let elsewhere = self.out.iter().map(|(e, _)| e).chain(&self.ended);
        assert!(elsewhere.into_iter().all(|e| *e != entry), "{:?} is out already", entry.url);
        self.handed.push(key);
        self.out.push((entry.clone(), self.now));
        assert!(self.out.len() <= 4 && self.out.len() == self.frontier.out());
        Some(entry)
    }

    /// The answer of something that is out ends now.
    pub fn answer(&mut self, pick: usize) {
        if let Some(entry) = self.take_back(pick) {
            self.ended.push(entry);
        }
    }

    /// Its answer ends, and its result does not count.
    pub fn give_back(&mut self, pick: usize) {
        if let Some(entry) = self.take_back(pick) {
            self.handed.retain(|key| *key != (entry.key.host, entry.place));
            self.frontier.give_back(entry, Time(self.now));
        }
    }

    fn take_back(&mut self, pick: usize) -> Option<Entry> {
        if self.out.is_empty() {
            return None;
        }
        let (entry, start) = self.out.remove(pick % self.out.len());
        let (host, end) = (entry.key.host, self.now);
        self.log.push(Request { host, start, end });
        let answer = Answered { end: Some(Time(end)), redirect: false, heard: Heard::default() };
        self.frontier.answered(host, Some(entry.place), answer, Time(self.now));
        Some(entry)
    }

    /// Performs a commit; its answer arrives with `deliver`.
    pub fn commit(&mut self) {
        if self.under_way.is_some() {
            return;
        }
        let wants = self.frontier.wants(Time(self.now));
        let mut answer = Answer::default();
        // A commit takes only so many; the others follow.
        let group = self.ended.len().min(3);
        for entry in self.ended.drain(..group) {
            let key = (entry.key.host, entry.place);
            self.disk.remove(&key).expect("a result of a queued row");
            answer.settled.push(key);
        }
        for release in &wants.releases {
            assert!(self.claimed.remove(&release.host));
            self.not_before.insert(release.host, release.not_before.0);
            // The store would let it sleep: nobody may be left in it.
            let mut left = self.disk.keys().filter(|(host, _)| *host == release.host);
            assert!(!release.asleep || left.next().is_none(), "put to sleep with rows");
        }
        let rows = std::mem::take(&mut self.found);
        answer.queued =
            rows.iter().filter(|e| self.claimed.contains(&e.key.host)).cloned().collect();
        self.store(rows);
        answer.refills = wants.refills.iter().map(|refill| self.read(refill)).collect();
        self.refills += answer.refills.len();
        let waking = |key: &HostKey| self.not_before.get(key).is_none_or(|t| *t <= self.now);
        let keys: BTreeSet<HostKey> = self.disk.keys().map(|(host, _)| *host).collect();
        let due = keys.into_iter().filter(|k| !self.claimed.contains(k) && waking(k));
        let due: Vec<HostKey> = due.take(wants.hosts).collect();
        for host in due {
            self.claimed.insert(host);
            let limit = self.frontier.window();
            answer.claimed.push(self.read(&Refill { host, after: None, limit }));
        }
        self.under_way = Some(answer);
    }

    /// The answer of the commit under way arrives.
    pub fn deliver(&mut self) {
        let now = Time(self.now);
        let Some(answer) = self.under_way.take() else { return };
        answer.queued.into_iter().for_each(|entry| self.frontier.offer(entry, now));
        for (host, place) in answer.settled {
            self.frontier.settled(host, place, now);
        }
        for window in answer.refills.into_iter().chain(answer.claimed) {
            self.frontier.load(window, now);
        }
        assert!(self.frontier.counts().loaded <= self.max_hosts);
    }

    /// Gives back every host that can be: they are scheduled again with the next commit.
    pub fn release_all(&mut self) {
        for release in self.frontier.release_all() {
            assert!(self.claimed.remove(&release.host));
            self.not_before.insert(release.host, release.not_before.0);
        }
    }

    fn read(&self, refill: &Refill) -> HostWindow {
        let rows = self.disk.range((refill.host, place(0))..);
        let rows = rows.take_while(|((host, _), _)| *host == refill.host);
        let mut rows = rows.filter(|((_, at), _)| refill.after.is_none_or(|after| *at > after));
        let entries: Vec<Entry> =
            rows.by_ref().take(refill.limit).map(|(_, e)| e.clone()).collect();
        let not_before = self.not_before.get(&refill.host).copied().unwrap_or(0);
        HostWindow {
            host: refill.host,
            cursor: entries.last().map(|e| e.place).or(refill.after),
            more: rows.next().is_some(),
            entries,
            not_before: Time(not_before),
            temper: Temper::default(),
            robots: None,
        }
    }

    /// Works everything off; how many rounds are enough is known from the number of rows.
    pub fn drain(&mut self) {
        let rows = self.disk.len() + self.found.len() + self.out.len();
        for _ in 0..4 * rows + 40 {
            self.deliver();
            self.commit();
            self.deliver();
            while self.hand_out().is_some() {}
            self.now += DELAY_MS;
            while !self.out.is_empty() {
                self.answer(0);
            }
            let over = self.disk.is_empty() && self.frontier.counts().loaded == 0;
            if over && self.found.is_empty() && self.ended.is_empty() {
                return;
            }
        }
        panic!("rows are left that nobody hands out: {:?}, {:?}", self.disk, self.frontier);
    }
}
