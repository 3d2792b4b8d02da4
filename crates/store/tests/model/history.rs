//! Random histories: steps drawn blindly, made valid by what has been handed out so far.

use crate::scene::{self, *};
use argiope_frontier::revisit::PageState;
use argiope_frontier::{Entry, HostNote, Place, Refill, Release, Score, SkipReason, place_of_link};
use argiope_model::{HostKey, JobState, Location, Order, Role, SiteKey, Time, UrlKey};
use argiope_store::{
    Batch, Claims, Committed, Discovery, Forget, JobChange, Move, Next, PageResult, Payload,
    SegmentKind, UrlState,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub const URLS: [&str; 6] = [
    "http://a.test/1",
    "http://a.test/2",
    "http://a.test/3",
    "http://www.a.test/1",
    "http://www.a.test/2",
    "http://b.test/1",
];

pub fn hosts() -> [HostKey; 3] {
    [host(URLS[0]), host(URLS[3]), host(URLS[5])]
}

/// Job 1 stops at this depth; job 2 goes on for ever.
const DEPTH: u16 = 2;

/// One batch, before it is known what it can be about.
#[derive(Clone, Debug)]
pub struct Step {
    pub later_ms: i64,
    pub job: Option<(u32, JobState)>,
    pub found: Vec<Found>,
    pub results: Vec<(usize, Ending)>,
    pub releases: Vec<(usize, i64, bool)>,
    pub claim: Option<usize>,
    pub about: Vec<About>,
    pub refill: Option<(usize, usize)>,
    pub reopen: bool,
    pub forget: Option<usize>,
    pub again: Vec<usize>,
    /// URLs, whose, how many steps below the best, whether they may fall.
    pub moves: Vec<(usize, u32, u16, bool)>,
}

#[derive(Clone, Debug)]
pub struct Found {
    url: usize,
    job: u32,
    depth: u16,
    skip: Option<SkipReason>,
    role: Role,
    again: bool,
}

/// Something about a host itself.
#[derive(Clone, Copy, Debug)]
pub enum About {
    /// A note: no request for so long, so many failures.
    Note(usize, i64, u32),
    Robots(usize, usize),
    Forgive(usize),
    Exclude(usize),
    Named(usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Ending {
    Fetched,
    Changed,
    Redirected,
    Failed,
    Skipped,
    LeftAlone(SkipReason),
    Retry(i64),
}

pub fn step() -> impl Strategy<Value = Step> {
    let state = prop_oneof![
        4 => Just(JobState::Open),
        2 => Just(JobState::Paused),
        1 => Just(JobState::Limited),
        1 => Just(JobState::Dropped),
    ];
    let skip = prop_oneof![
        Just(SkipReason::Extension),
        Just(SkipReason::Robots),
        Just(SkipReason::Excluded)
    ];
    let role = prop_oneof![3 => Just(Role::Page), 1 => Just(Role::Sitemap)];
    let skip = prop::option::weighted(0.1, skip);
    let found = (0..URLS.len(), 1..=2u32, 0..4u16, skip, role, prop::bool::weighted(0.3)).prop_map(
        |(url, job, depth, skip, role, again)| Found { url, job, depth, skip, role, again },
    );
    let ending = prop_oneof![
        4 => Just(Ending::Fetched),
        1 => Just(Ending::Changed),
        1 => Just(Ending::Redirected),
        1 => Just(Ending::Failed),
        1 => Just(Ending::Skipped),
        1 => Just(Ending::LeftAlone(SkipReason::Robots)),
        1 => Just(Ending::LeftAlone(SkipReason::GivenUp)),
        1 => Just(Ending::LeftAlone(SkipReason::Excluded)),
        2 => (-500..4_000i64).prop_map(Ending::Retry),
    ];
    let result = (0..8usize, ending);
    let release = (0..3usize, 0..4_000i64, any::<bool>());
    let about = prop_oneof![
        (0..3usize, 0..4_000i64, 0..3u32).prop_map(|(h, wait, n)| About::Note(h, wait, n)),
        (0..3usize, 0..600usize).prop_map(|(h, length)| About::Robots(h, length)),
        (0..3usize).prop_map(About::Forgive),
        (0..3usize).prop_map(About::Exclude),
        (0..3usize).prop_map(About::Named),
    ];
    (
        prop_oneof![0..50i64, 900..3_000i64],
        prop::option::weighted(0.2, (1..=2u32, state)),
        prop::collection::vec(found, 0..4),
        prop::collection::vec(result, 0..3),
        prop::collection::vec(release, 0..2),
        prop::option::weighted(0.6, 1..4usize),
        prop::collection::vec(about, 0..3),
        prop::option::weighted(0.3, (0..3usize, 1..3usize)),
        (
            prop::bool::weighted(0.05),
            prop::option::weighted(0.1, 0..URLS.len()),
            prop::collection::vec(0..URLS.len(), 0..3),
            prop::collection::vec((0..URLS.len(), 1..=2u32, 0..4u16, any::<bool>()), 0..3),
        ),
    )
        .prop_map(|(later_ms, job, found, results, releases, claim, about, refill, last)| {
            let (reopen, forget, again, moves) = last;
            Step {
                later_ms,
                job,
                found,
                results,
                releases,
                claim,
                about,
                refill,
                reopen,
                forget,
                again,
                moves,
            }
        })
}

/// What the engine would know: rows told and not yet settled, hosts claimed.
pub struct History {
    now: i64,
    pages: u64,
    jobs: BTreeSet<u32>,
    claimed: BTreeSet<HostKey>,
    known: BTreeSet<UrlKey>,
    /// Captures that were made.
    captured: BTreeSet<(UrlKey, Time)>,
    /// Every form in which a row was handed out: a visit may hold an older one.
    out: BTreeMap<(HostKey, Place), Vec<Entry>>,
}

impl History {
    pub fn new() -> Self {
        let (jobs, claimed, known) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (captured, out) = (BTreeSet::new(), BTreeMap::new());
        History { now: 1_000, pages: 0, jobs, claimed, known, captured, out }
    }

    pub fn advance(&mut self, step: &Step) -> Time {
        self.now += step.later_ms;
        self.pages += 1;
        Time(self.now)
    }

    pub fn batch(&self, step: &Step) -> Batch {
        let pages = self.results(step);
        let settled: Vec<(HostKey, Place)> =
            pages.iter().map(|p| (p.entry.key.host, p.entry.place)).collect();
        let mut batch = Batch {
            now: Time(self.now),
            jobs: self.job_changes(step),
            discoveries: self.discoveries(step),
            segments: vec![(SegmentKind::Text, self.pages as u32 % 3, self.pages)],
            next_page: self.pages * u64::from(step.later_ms % 2 == 0),
            releases: self.releases(step),
            refills: self.refills(step, &settled),
            claims: Claims {
                named: Vec::new(),
                hosts: 9 * step.claim.iter().len(),
                window: step.claim.unwrap_or(1),
            },
            forget: self.forget(step),
            again: self.again(step).collect(),
            moves: self.moves(step),
            plans: self.again(step).map(|(key, at)| (key, plan(at.order))).collect(),
            pages,
            ..Batch::default()
        };
        step.about.iter().for_each(|about| self.tell(&mut batch, *about));
        batch
    }

    /// URLs that may be known are to be visited again.
    fn again<'a>(&self, step: &'a Step) -> impl Iterator<Item = (UrlKey, Place)> + 'a {
        let pages = self.pages;
        let at = move |index| place_of_link(Order::Breadth, 0, pages, 1_000 + index);
        step.again.iter().enumerate().map(move |(index, n)| (scene::key(URLS[*n]), at(index)))
    }

    /// URLs that are worth more or less now; none whose result comes with the same batch.
    fn moves(&self, step: &Step) -> Vec<Move> {
        let settled: Vec<UrlKey> = self.results(step).iter().map(|p| p.entry.key).collect();
        let moves = step.moves.iter().map(|(url, job, level, may_fall)| Move {
            key: scene::key(URLS[*url]),
            job: argiope_model::JobId(*job),
            score: Score::at_level(*level),
            may_fall: *may_fall,
        });
        moves.filter(|to| !settled.contains(&to.key)).collect()
    }

    /// A URL that is known is forgotten, with its payload; its host's robots file now and then.
    fn forget(&self, step: &Step) -> Forget {
        let Some(k) = step.forget.map(|n| scene::key(URLS[n])).filter(|k| self.known.contains(k))
        else {
            return Forget::default();
        };
        let site = SiteKey { part: k.host.part, site: [1; 6] };
        let payload = Payload { site, digest: [k.url as u8; 20] };
        let hosts = if step.later_ms % 3 == 0 { vec![k.host] } else { Vec::new() };
        // Now and then its oldest capture alone, in the batch that brings another one perhaps.
        let oldest = self.captured.iter().find(|(of, _)| *of == k).copied();
        if let Some(capture) = oldest.filter(|_| step.later_ms % 2 == 1) {
            return Forget { captures: vec![capture], ..Forget::default() };
        }
        Forget { urls: vec![k], hosts, payloads: vec![payload], ..Forget::default() }
    }

    fn tell(&self, batch: &mut Batch, about: About) {
        match about {
            About::Note(h, wait, failures) => batch.notes.push(HostNote {
                host: hosts()[h],
                not_before: Time(self.now + wait),
                temper: temper(failures),
            }),
            About::Robots(h, length) => batch.robots.push((hosts()[h], robots(self.now, length))),
            About::Forgive(h) => batch.forgive.push(hosts()[h]),
            About::Exclude(h) => {
                batch.exclude.push(hosts()[h]);
                batch.exclusions.push((format!("h{h}.test").into(), h > 0));
            }
            About::Named(h) => batch.claims.named.push(named(URLS[[0, 3, 5][h]])),
        }
    }

    /// Takes in what the stores answered, as the engine does.
    pub fn heard(&mut self, step: &Step, told: &Committed) {
        let Forget { urls: forgotten, captures, .. } = self.forget(step);
        let moved: Vec<UrlKey> = self.moves(step).iter().map(|to| to.key).collect();
        let made = self.results(step).into_iter();
        let made: Vec<_> = made.filter_map(|p| Some((p.entry.key, p.capture?.time))).collect();
        self.captured.extend(made);
        self.captured.retain(|at| !captures.contains(at) && !forgotten.contains(&at.0));
        self.jobs.extend([1]);
        self.jobs.extend(step.job.map(|(id, _)| id));
        for page in self.results(step) {
            self.out.remove(&(page.entry.key.host, page.entry.place));
        }
        // Whoever has rows moved puts them aside until they are told again.
        self.out.retain(|_, forms| forms.iter().all(|e| !moved.contains(&e.key)));
        for release in self.releases(step) {
            self.claimed.remove(&release.host);
            self.out.retain(|(host, _), _| *host != release.host);
        }
        // Nobody is out for it: the directory has no other owner while something is forgotten.
        self.out.retain(|_, forms| forms.iter().all(|e| !forgotten.contains(&e.key)));
        self.known.extend(self.discoveries(step).iter().map(|found| found.key));
        self.claimed.extend(told.claimed.iter().map(|w| w.host));
        let windows = told.refills.iter().chain(&told.claimed).flat_map(|w| &w.entries);
        for entry in told.queued.iter().chain(windows) {
            let forms = self.out.entry((entry.key.host, entry.place)).or_default();
            if !forms.contains(entry) {
                forms.push(entry.clone());
            }
        }
    }

    fn job_changes(&self, step: &Step) -> Vec<JobChange> {
        let fresh = |id: u32| {
            let order = if id == 1 { Order::Breadth } else { Order::Depth };
            let job = if id == 1 { shallow_job(1, DEPTH) } else { job(id) };
            Box::new(argiope_model::Job { order, ..job })
        };
        let mut out = Vec::new();
        if self.jobs.is_empty() {
            out.push(JobChange::New(fresh(1)));
        }
        if let Some((id, state)) = step.job {
            out.push(match (self.jobs.contains(&id) || id == 1, state) {
                (false, _) => JobChange::New(fresh(id)),
                (true, JobState::Limited) => JobChange::Renew(fresh(id)),
                (true, state) => set(id, state),
            });
        }
        out
    }

    fn discoveries(&self, step: &Step) -> Vec<Discovery> {
        let known = |id: u32| {
            id == 1 || self.jobs.contains(&id) || step.job.is_some_and(|(new, _)| new == id)
        };
        let found = step.found.iter().enumerate().filter(|(_, f)| known(f.job));
        let found = found.map(|(index, f)| {
            let order = if f.job == 1 { Order::Breadth } else { Order::Depth };
            let at = place_of_link(order, f.depth, self.pages, index);
            let deep = f.job == 1 && f.depth > DEPTH;
            let skip = f.skip.or(deep.then_some(SkipReason::Depth));
            let (role, again, hops) = (f.role, f.again, f.depth as u8);
            let found = scene::found(URLS[f.url], f.job, f.depth, at);
            Discovery { skip, role, again, hops, ..found }
        });
        found.collect()
    }

    fn results(&self, step: &Step) -> Vec<PageResult> {
        let mut rows: Vec<&Vec<Entry>> = self.out.values().collect();
        let mut out = Vec::new();
        for (pick, ending) in &step.results {
            if rows.is_empty() {
                break;
            }
            let forms = rows.remove(pick % rows.len());
            out.push(self.result(forms[pick % forms.len()].clone(), *ending));
        }
        out
    }

    fn result(&self, entry: Entry, ending: Ending) -> PageResult {
        if entry.expand {
            return expanded(entry);
        }
        let state = match ending {
            Ending::LeftAlone(reason) => return left_alone(entry, reason),
            Ending::Retry(wait) => return retried(entry, self.now, (self.now + wait).max(1)),
            Ending::Fetched | Ending::Changed => UrlState::Fetched,
            Ending::Redirected => UrlState::Redirected,
            Ending::Failed => UrlState::Failed,
            Ending::Skipped => UrlState::Skipped(SkipReason::Type),
        };
        let site = SiteKey { part: entry.key.host.part, site: [1; 6] };
        let digest = [entry.key.url as u8; 20];
        let mut page = ended(entry, self.now, state);
        page.changed = matches!(ending, Ending::Changed);
        page.links = page.changed.then(|| self.now.to_be_bytes().to_vec());
        page.payload = Some(Payload { site, digest });
        if let Some(c) = &mut page.capture {
            c.text = Some(Location { segment: 1, offset: self.now as u64, length: 1 });
        }
        debug_assert!(matches!(page.next, Next::Done(_)));
        page
    }

    fn releases(&self, step: &Step) -> Vec<Release> {
        let mut out: Vec<Release> = Vec::new();
        for (pick, wait, asleep) in &step.releases {
            let host = hosts()[*pick];
            if self.claimed.contains(&host) && out.iter().all(|r| r.host != host) {
                let (not_before, temper) = (self.now + wait, temper(*wait as u32 % 3));
                out.push(Release { temper, asleep: *asleep, ..release(host, not_before) });
            }
        }
        out
    }

    /// A refill of a claimed host, after some row that was handed out.
    fn refills(&self, step: &Step, settled: &[(HostKey, Place)]) -> Vec<Refill> {
        let released = self.releases(step);
        let Some((pick, limit)) = step.refill else { return Vec::new() };
        let host = hosts()[pick];
        if !self.claimed.contains(&host) || released.iter().any(|r| r.host == host) {
            return Vec::new();
        }
        let places = self.out.keys().filter(|k| k.0 == host && !settled.contains(k));
        let after = places.map(|k| k.1).nth(limit);
        vec![Refill { host, after, limit }]
    }
}

fn plan(number: u64) -> PageState {
    PageState { due: Time(number as i64 % 1_000 * 1_000), records: 2, ..PageState::default() }
}
