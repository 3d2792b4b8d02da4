//! Coming back: which pages are visited again, and when.
//!
//! * What this is: a *round* visits once what is due (or everything) and ends; a *watch* goes on until
//!   it is stopped, within its budget. Both go through the rows of the store for what may be due; a
//!   watch keeps the nearest of them in memory, a bounded number, and goes through the rows again when
//!   those are used up.
//! * A page that is due is put to its policy (its *turn*); what is to be visited is queued with the
//!   next batch and goes the way of every URL: robots.txt, pauses, limits, kills.
//! * What a visit found is told to the policy as the page comes back; the plan is committed with the
//!   page. A crawl that keeps nothing fresh notes its first visits the same way.
//! * Invariants: nothing is visited beyond the budget; what is queued already is not queued again.

mod outcome;
mod policies;

use self::policies::Policies;
use super::Director;
use super::rechecks::Rechecks;
use crate::gather::{Cadence, Kind, level_again};
use crate::run::EngineError;
use crate::settings::RevisitSettings;
use argiope_frontier::revisit::{
    Allowance, Event, Page, PageState, PolicyName, Said, Spending, Step, said,
};
use argiope_frontier::{page_of, place_of_link, place_of_seed};
use argiope_model::{CanonicalUrl, JobState, SiteKey, Time, UrlKey};
use argiope_store::{JobChange, JobRow, UrlHead, UrlState};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a run comes back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Return {
    /// To nothing: what was fetched is fetched.
    #[default]
    Never,
    /// To what is due, once.
    Due,
    /// To everything, once.
    All,
    /// To what is due, until it is stopped.
    Watch,
}

/// What visits to known pages came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Pages visited again.
    pub visited: u64,
    /// Of them changed.
    pub changed: u64,
    /// As they were.
    pub unchanged: u64,
    /// Gone, or leading elsewhere now.
    pub gone: u64,
    /// Could not be had this time.
    pub failed: u64,
}

/// Rows looked at in one step.
const ROWS: usize = 512;
/// Visits that wait to be queued with the next batch, at most.
const MOST_TO_QUEUE: usize = 4_096;
/// Pages whose times are kept in memory.
const MOST_NEAR: usize = 200_000;
/// Turns decided in one step.
const TURNS: usize = 64;
/// With budget left, no page is visited sooner after a visit.
const SOONEST: Duration = Duration::from_secs(600);
/// What was not asked for comes again after this long.
const LATER: Duration = Duration::from_secs(3_600);
/// The unit of cycles that are kept with a page.
const QUARTER: Duration = Duration::from_secs(900);
/// What was learned is written down this often.
const NOTE_MS: i64 = 600_000;

pub(super) struct Again {
    pub(super) keep: Return,
    policies: Policies,
    /// Where the rows are looked at: `None` when all were.
    scan: Option<Option<UrlKey>>,
    counted: u64,
    /// When pages are to be thought of, the earliest first.
    near: BinaryHeap<Reverse<(Time, UrlKey)>>,
    /// Pages due later than this are not in memory.
    horizon: Time,
    allowance: Option<Allowance>,
    /// Cycles that were set by hand in this run.
    cycles: HashMap<UrlKey, u16>,
    rules: HashMap<usize, Spending>,
    sites: HashMap<SiteKey, Spending>,
    /// Of a watch: articles that are to be asked for changes.
    rechecks: Rechecks,
    /// News pages that another job has fetched: they are to be visited for their news.
    taken_over: Vec<UrlKey>,
    /// Visits queued and not yet back.
    out: u64,
    /// The number of the first page of this run: what was queued before has smaller ones.
    first_page: u64,
    /// When there is something to do next.
    wake: Option<Time>,
    /// When the budget allows new pages again.
    budget_at: Option<Time>,
    noted: Time,
    notes: PathBuf,
    pub(super) tally: Tally,
}

impl Again {
    pub(super) fn new(settings: &RevisitSettings, data: &Path, first_page: u64) -> Self {
        let notes = data.join("revisit.json");
        let known = std::fs::read(&notes).ok();
        let known = known.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Again {
            keep: Return::Never,
            policies: Policies {
                settings: settings.clone(),
                pages: 0.0,
                known,
                made: Vec::new(),
                fresh: None,
            },
            scan: None,
            counted: 0,
            near: BinaryHeap::new(),
            horizon: Time(i64::MAX),
            allowance: None,
            cycles: HashMap::new(),
            rules: HashMap::new(),
            sites: HashMap::new(),
            rechecks: Rechecks::default(),
            taken_over: Vec::new(),
            out: 0,
            first_page,
            wake: None,
            budget_at: None,
            noted: Time(0),
            notes,
            tally: Tally::default(),
        }
    }

    /// When the next step is to be made.
    pub(super) fn next(&self, now: Time) -> Option<Time> {
        match self.scan {
            Some(_) => Some(now),
            None => {
                let later = [self.budget_at, self.rechecks.wake()].into_iter().flatten();
                self.wake.into_iter().chain(later.filter(|at| *at > now)).min()
            }
        }
    }

    /// Whether there is nothing more to come back to in this run.
    pub(super) fn is_over(&self) -> bool {
        match self.keep {
            Return::Never => true,
            Return::Due | Return::All => {
                self.scan.is_none() && self.out == 0 && self.taken_over.is_empty()
            }
            Return::Watch => false,
        }
    }

    /// Whether all rows were looked at for what is visited in this run.
    pub(super) fn is_read(&self) -> bool {
        self.scan.is_none() && self.taken_over.is_empty()
    }

    /// Other pages than before may be visited again: all rows are looked at anew.
    pub(super) fn look_anew(&mut self) {
        if self.keep == Return::Watch {
            self.near.clear();
            self.rechecks.look_anew();
            (self.horizon, self.counted, self.wake) = (Time(i64::MAX), 0, None);
            self.scan = Some(None);
        }
    }

    /// URLs were queued, of those that were asked for.
    pub(super) fn queued(&mut self, taken: u64) {
        self.out += taken;
    }

    fn said(&self, url: &CanonicalUrl) -> Said {
        said(&self.policies.settings.rules, url)
    }

    fn policy_of(&self, said: &Said) -> PolicyName {
        said.by.unwrap_or(self.policies.settings.policy)
    }

    /// Tells a policy of an event. What a rule says of the cycle holds where nobody has set one for
    /// the page itself.
    fn step(
        &mut self,
        page: &Page,
        url: &CanonicalUrl,
        state: PageState,
        event: Event,
        now: Time,
    ) -> Step {
        let said = self.said(url);
        let own = state.cycle;
        let ruled = said.every.map_or(0, quarters);
        let state = PageState { cycle: if own > 0 { own } else { ruled }, ..state };
        let name = match self.keep {
            // Nothing is learned from first visits, and a crawl should not pay for it.
            Return::Never => PolicyName::Fixed,
            _ => self.policy_of(&said),
        };
        let mut step = self.policies.get(name).step(page, state, event, now);
        step.state.cycle = own;
        // Policies count in quarters of an hour; what a rule says may be shorter.
        let short = said.every.filter(|every| own == 0 && *every < QUARTER);
        if let (Some(every), Event::Visited(_) | Event::Failed) = (short, event) {
            step.state.due = step.state.due.min(now.plus(every));
        }
        step
    }

    /// What is planned for a page. What was planned before anything was known of it, or under other
    /// settings, waits no longer than these have it.
    fn planned(
        &self,
        plan: Option<PageState>,
        url: &CanonicalUrl,
        cadence: Option<Cadence>,
    ) -> PageState {
        let mut plan = plan.unwrap_or_default();
        let said = self.said(url);
        let settings = &self.policies.settings;
        if let (Some(every), Some(last)) = (cycle_of(&plan, &said, cadence), plan.last) {
            // What could not be had has its own time.
            let due = last.plus(every);
            plan.due = if plan.failures == 0 { due } else { plan.due };
            return plan;
        }
        let fixed = plan.records <= 1 || self.policy_of(&said) == PolicyName::Fixed;
        let longest = match (plan.cycle, said.every) {
            (0, Some(every)) => Some(every),
            (0, None) if fixed => Some(settings.round),
            _ => None,
        };
        if let (Some(longest), Some(last)) = (longest, plan.last) {
            plan.due = plan.due.min(last.plus(longest));
        }
        plan
    }

    fn near(&mut self, due: Time, key: UrlKey) {
        if self.keep != Return::Watch || due > self.horizon {
            return;
        }
        self.near.push(Reverse((due, key)));
        self.wake = self.wake.filter(|wake| *wake <= due);
        if self.near.len() > 2 * MOST_NEAR {
            let mut all = std::mem::take(&mut self.near).into_sorted_vec();
            // Smallest times last.
            all.drain(..all.len() - MOST_NEAR);
            self.horizon = all.first().map_or(Time(i64::MAX), |Reverse((due, _))| *due);
            self.near = all.into();
        }
    }

    /// From when on the budget for everything allows a visit; `None` where it never does. What is due is
    /// visited: a budget that nobody has set holds for what is not.
    fn allowed(&mut self, is_due: bool, now: Time) -> Option<Time> {
        let bound = !is_due || self.policies.settings.per_day.is_some();
        let allowance = self.allowance.as_mut().filter(|_| bound);
        allowance.map_or(Some(now), |allowance| allowance.next(now))
    }

    /// The budget that a page of a site has with others, where it has one.
    fn spending(&mut self, said: &Said, site: SiteKey, now: Time) -> Option<&mut Spending> {
        if let Some((rule, most)) = said.at_most {
            return Some(self.rules.entry(rule).or_insert_with(|| Spending::new(most, now)));
        }
        let most = self.policies.settings.per_site_day?;
        Some(self.sites.entry(site).or_insert_with(|| Spending::new(most, now)))
    }

    /// Writes down what was learned of all pages together.
    pub(super) fn note(&mut self, now: Time, last: bool) {
        if self.keep == Return::Never || (!last && now.0 - self.noted.0 < NOTE_MS) {
            return;
        }
        self.noted = now;
        let Some(fresh) = &self.policies.fresh else { return };
        let new = self.notes.with_extension("new");
        let written = serde_json::to_vec(&fresh.knowledge()).map_err(std::io::Error::from);
        let written = written.and_then(|bytes| std::fs::write(&new, bytes));
        if let Err(e) = written.and_then(|()| std::fs::rename(&new, &self.notes)) {
            tracing::debug!("what was learned of changes could not be written down: {e}");
        }
    }
}

/// How often a page is looked at for its news, where nobody has said otherwise of it.
fn cycle_of(plan: &PageState, said: &Said, cadence: Option<Cadence>) -> Option<Duration> {
    match cadence? {
        _ if plan.cycle > 0 || said.every.is_some() => None,
        Cadence::Every(every) | Cadence::Slow(every) => Some(every),
        Cadence::Policy | Cadence::Never => None,
    }
}

fn quarters(every: Duration) -> u16 {
    u16::try_from((every.as_secs() / 900).max(1)).unwrap_or(u16::MAX)
}

impl Director {
    /// Opens every job whose pages are to be kept fresh.
    pub(super) fn keep(&mut self, keep: Return, jobs: &[JobRow]) {
        self.again.keep = keep;
        if keep == Return::Never {
            return;
        }
        let kept = |row: &&JobRow| {
            matches!(row.state, JobState::Done | JobState::Limited)
                && !self.jobs.contains_key(&row.job.id)
                && (row.job.news || !self.settings.news.only)
        };
        let rows: Vec<JobRow> = jobs.iter().filter(kept).cloned().collect();
        for mut row in rows {
            let id = row.job.id;
            row.state = JobState::Open;
            self.batch.jobs.push(JobChange::State(id, JobState::Open));
            self.jobs.insert(id, super::Active::new(row));
        }
        for active in self.jobs.values_mut() {
            // The time of a crawl is not that of coming back.
            let job = Arc::make_mut(&mut active.job);
            job.limits.time_ms = None;
        }
        let known: u64 = self.jobs.values().map(|a| a.row.counters.fetched).sum();
        self.again.policies.count(known as f64);
        let now = self.begun;
        if let (Return::Watch, Some(per_day)) = (keep, self.settings.revisit.per_day) {
            self.again.allowance = Some(Allowance::new(per_day, now));
        } else if keep == Return::Watch {
            self.again.allowance = Some(Allowance::new(self.again.policies.budget(), now));
        }
        self.again.scan = Some(None);
    }

    /// Looks for what is due.
    pub(super) fn come_back(&mut self, now: Time) -> Result<(), EngineError> {
        if self.again.keep == Return::Never || self.stopping || !self.given {
            return Ok(());
        }
        self.again.note(now, false);
        let failed = |e: argiope_store::StoreError| EngineError::Failed(Arc::new(e));
        let to_queue = self.batch.again.len() + self.batch.discoveries.len();
        if let Some(after) = self.again.scan.filter(|_| to_queue < MOST_TO_QUEUE) {
            let store = self.shared.store.clone();
            let rows = self.shared.blocking(|| store.scan_urls(after, ROWS)).map_err(failed)?;
            self.again.scan = match rows.last() {
                Some((last, _)) if rows.len() == ROWS => Some(Some(*last)),
                _ => None,
            };
            for (key, row) in rows {
                self.note_news(key, row.job());
                match self.is_left_behind(&row.head, &row.url) {
                    true => self.ask_after_all(key, row),
                    false => self.consider(key, &row.head, &row.url, now),
                }
            }
            if self.again.scan.is_none() {
                let pages = self.again.counted as f64;
                self.again.policies.count(pages);
                if let Some(allowance) = &mut self.again.allowance {
                    allowance.set(self.again.policies.budget(), now);
                }
            }
        }
        self.visit_taken_over(now)?;
        self.hold_new_pages(now);
        let asleep = self.again.wake.is_some_and(|wake| wake > now);
        if self.again.keep == Return::Watch && self.again.scan.is_none() && !asleep {
            self.take_turns(now)?;
        }
        self.recheck(now)
    }

    /// News pages that another job has fetched are visited, once their rows are the news job's.
    fn visit_taken_over(&mut self, now: Time) -> Result<(), EngineError> {
        if self.again.taken_over.is_empty() || self.busy || !self.pending.is_empty() {
            return Ok(());
        }
        let keys = std::mem::take(&mut self.again.taken_over);
        let rows = self.shared.blocking(|| self.shared.store.urls(&keys));
        let rows = rows.map_err(|e| EngineError::Failed(Arc::new(e)))?;
        for (key, row) in keys.into_iter().zip(rows) {
            let unseen = |row: &UrlHead| row.fetched_at.is_none_or(|at| at < self.begun);
            let Some(row) = row.filter(|row| !row.in_queue() && unseen(row)) else { continue };
            // In a watch articles have their lines.
            let is_article = Kind::of(row.role, row.depth) == Kind::Article;
            if is_article && self.again.keep == Return::Watch {
                let cadence = self.cadence(&row.head, &row.url, now);
                self.again.near(self.again.planned(row.plan, &row.url, cadence).due, key);
            } else {
                self.visit_again(key, &row.head);
            }
        }
        Ok(())
    }

    /// New pages wait for the budget too, where somebody has set one.
    fn hold_new_pages(&mut self, now: Time) {
        if self.again.keep != Return::Watch || self.settings.revisit.per_day.is_none() {
            return;
        }
        let next = self.again.allowance.as_mut().and_then(|allowance| allowance.next(now));
        let held = next.is_none_or(|next| next > now);
        if self.jobs.values().any(|active| active.held != held) {
            self.jobs.values_mut().for_each(|active| active.held = held);
            self.regate(now);
        }
        if held {
            self.again.budget_at = next;
        }
    }

    /// Whether a page may be visited again in this run.
    fn is_kept(&self, head: &UrlHead, url: &CanonicalUrl) -> bool {
        matches!(head.state, UrlState::Fetched | UrlState::Redirected | UrlState::Failed)
            && self.is_wanted(head, url)
    }

    /// Whether a URL is one of those that this run is about.
    pub(super) fn is_wanted(&self, head: &UrlHead, url: &CanonicalUrl) -> bool {
        let only = &self.settings.revisit.only;
        let job = self.jobs.get(&head.job());
        let followed = || self.cadence(head, url, self.now()) != Some(Cadence::Never);
        job.is_some_and(|active| !active.rests)
            && (only.is_empty() || only.iter().any(|pattern| pattern.fits(url)))
            && !self.is_excluded(url)
            && !self.again.said(url).never
            && followed()
    }

    fn consider(&mut self, key: UrlKey, head: &UrlHead, url: &CanonicalUrl, now: Time) {
        if !self.is_kept(head, url) {
            return;
        }
        self.again.counted += u64::from(head.state == UrlState::Fetched);
        if head.in_queue() {
            // Left by a run before.
            let order = self.jobs.get(&head.job()).map(|a| a.job.order);
            let number = order.zip(head.place).map(|(order, place)| page_of(order, place));
            if head.is_again() && number.is_some_and(|number| number < self.again.first_page) {
                self.again.out += 1;
            }
            return;
        }
        let cadence = self.cadence(head, url, now);
        let plan = self.again.planned(head.plan, url, cadence);
        let in_round = self.settings.news.only.then_some(cadence).flatten();
        match self.again.keep {
            Return::Never => {}
            // A round for news looks at all that may have some, and at nothing else.
            Return::Due if matches!(in_round, Some(Cadence::Every(_))) => {
                if head.fetched_at.is_none_or(|at| at < self.begun) {
                    self.visit_again(key, head);
                }
            }
            Return::Due if in_round == Some(Cadence::Policy) => {}
            // What this run has fetched is not fetched again.
            Return::All if head.fetched_at.is_some_and(|at| at >= self.begun) => {}
            Return::All => self.visit_again(key, head),
            Return::Due if plan.due > now => {}
            Return::Due => {
                let page = Page::new(key.url);
                let turn = self.again.step(&page, url, plan, Event::Turn, now);
                let said = self.again.said(url);
                match turn.visit || cycle_of(&plan, &said, cadence).is_some() {
                    true => self.visit_again(key, head),
                    false => self.batch.plans.push((key, turn.state)),
                }
            }
            Return::Watch => {
                let said = self.again.said(url);
                if self.again.policy_of(&said) == PolicyName::Fresh {
                    self.again.policies.fresh().introduce(&Page::new(key.url), &plan);
                }
                self.again.near(plan.due, key);
            }
        }
    }

    fn visit_again(&mut self, key: UrlKey, head: &UrlHead) {
        let Some(active) = self.jobs.get(&head.job()) else { return };
        let order = active.job.order;
        let place = match active.job.news {
            true => place_of_link(order, level_again(head.role, head.depth), self.next_page, 0),
            false => place_of_seed(order, self.next_page, 0),
        };
        if active.job.news && self.again.keep == Return::Watch {
            self.again.rechecks.queued(key);
        }
        self.next_page += 1;
        self.batch.again.push((key, place));
    }

    /// Of a watch: decides what is visited now.
    fn take_turns(&mut self, now: Time) -> Result<(), EngineError> {
        let most = (2 * self.settings.connections as u64).max(64);
        self.again.wake = None;
        for _ in 0..TURNS {
            // News have bounds of their own: what many articles wait for must not make fronts late.
            let out = self.again.out + self.batch.again.len() as u64;
            if out.saturating_sub(self.again.rechecks.out()) >= most {
                // Whoever comes back wakes us.
                return Ok(());
            }
            let Some(Reverse((when, key))) = self.again.near.peek().copied() else {
                if self.again.horizon < Time(i64::MAX) {
                    self.again.look_anew();
                }
                return Ok(());
            };
            let eager = self.again.policies.settings.policy == PolicyName::Fresh;
            if when > now && !eager {
                self.again.wake = Some(when);
                return Ok(());
            }
            let Some(allowed) = self.again.allowed(when <= now, now) else { return Ok(()) };
            if allowed > now {
                let due = self.settings.revisit.per_day.is_none().then_some(when);
                self.again.wake = Some(due.map_or(allowed, |due| due.min(allowed)));
                return Ok(());
            }
            if !self.take_turn(when, key, now)? {
                return Ok(());
            }
        }
        self.again.wake = Some(now);
        Ok(())
    }

    /// The turn of the nearest page; `false` where nothing can be done before `wake`.
    fn take_turn(&mut self, when: Time, key: UrlKey, now: Time) -> Result<bool, EngineError> {
        let rows = self.shared.blocking(|| self.shared.store.urls(&[key]));
        let rows = rows.map_err(|e| EngineError::Failed(Arc::new(e)))?;
        let row = rows.into_iter().flatten().next();
        let Some(row) = row.filter(|row| self.is_kept(&row.head, &row.url) && !row.in_queue())
        else {
            self.again.near.pop();
            return Ok(true);
        };
        let cadence = self.cadence(&row.head, &row.url, now);
        let plan = self.again.planned(row.plan, &row.url, cadence);
        let said = self.again.said(&row.url);
        let for_news = cycle_of(&plan, &said, cadence).is_some();
        if plan.due > when {
            // It was thought of since.
            self.again.near.pop();
            self.again.near(plan.due, key);
            return Ok(true);
        }
        if when > now {
            // There is budget left: earlier than its time, but not at once again.
            let soonest = plan.last.map_or(now, |last| last.plus(SOONEST)).min(when);
            let by_hand = plan.cycle > 0 || said.every.is_some() || for_news;
            let soonest = if by_hand { when } else { soonest };
            if soonest > now {
                self.again.wake = Some(soonest);
                return Ok(false);
            }
        }
        self.again.near.pop();
        // Budgets are asked when it leaves the line.
        if for_news && Kind::of(row.role, row.depth) == Kind::Article {
            let last = plan.last.unwrap_or(row.first_seen);
            let rule = said.at_most.map(|(rule, _)| rule);
            if !self.again.rechecks.wait(key, rule, last, row.first_seen) {
                self.again.near(now.plus(Duration::from_secs(60)), key);
            }
            return Ok(true);
        }
        let site = self.shared.pinned.site_key(row.url.host());
        let mut page = Page::new(key.url);
        if let Some(spending) = self.again.spending(&said, site, now) {
            page.dearness = spending.dearness();
            match spending.next(now) {
                Some(allowed) if allowed > now && when > now => {
                    // It is not its time yet, and nothing is won by putting it off.
                    self.again.near(when, key);
                    self.again.wake = Some(allowed.min(when));
                    return Ok(false);
                }
                Some(allowed) if allowed > now => {
                    self.again.near(allowed, key);
                    return Ok(true);
                }
                Some(_) => {}
                None => return Ok(true),
            }
        }
        let turn = self.again.step(&page, &row.url, plan, Event::Turn, now);
        if !turn.visit && !for_news {
            self.batch.plans.push((key, turn.state));
            self.again.near(turn.state.due.max(Time(now.0 + 1_000)), key);
            return Ok(true);
        }
        self.spend(&row.url, plan.due, now);
        self.visit_again(key, &row.head);
        Ok(true)
    }

    fn spend(&mut self, url: &CanonicalUrl, due: Time, now: Time) {
        let (said, site) = (self.again.said(url), self.shared.pinned.site_key(url.host()));
        if let Some(allowance) = &mut self.again.allowance {
            allowance.spend(now);
        }
        if let Some(spending) = self.again.spending(&said, site, now) {
            spending.spend(due, now);
        }
    }

    /// Of a watch: queues articles whose turn it is to be asked for changes, as budgets allow.
    fn recheck(&mut self, now: Time) -> Result<(), EngineError> {
        for _ in 0..TURNS {
            if self.again.rechecks.is_empty() {
                return Ok(());
            }
            let Some(allowed) = self.again.allowed(true, now) else { return Ok(()) };
            if allowed > now {
                let wake = self.again.wake.map_or(allowed, |wake| wake.min(allowed));
                self.again.wake = Some(wake);
                return Ok(());
            }
            let Some(key) = self.again.rechecks.next(now) else { return Ok(()) };
            let rows = self.shared.blocking(|| self.shared.store.urls(&[key]));
            let rows = rows.map_err(|e| EngineError::Failed(Arc::new(e)))?;
            let row = rows.into_iter().flatten().next();
            let row = row.filter(|row| self.is_kept(&row.head, &row.url) && !row.in_queue());
            let Some(row) = row else {
                self.again.rechecks.back(key, now);
                continue;
            };
            let (said, site) = (self.again.said(&row.url), row.url.host());
            let site = self.shared.pinned.site_key(site);
            let spending = self.again.spending(&said, site, now);
            match spending.map_or(Some(now), |spending| spending.next(now)) {
                Some(allowed) if allowed > now => self.again.rechecks.hold(key, allowed),
                Some(_) => {
                    self.spend(&row.url, row.plan.unwrap_or_default().due, now);
                    self.visit_again(key, &row.head);
                }
                None => self.again.rechecks.back(key, now),
            }
        }
        self.again.wake = Some(now);
        Ok(())
    }
}
