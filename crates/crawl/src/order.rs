//! From what the user asked to a job: a new one, or one to go on with.

use crate::director::caps::is_raised;
use crate::fronts::fronts;
use argiope_model::{
    Aim, CanonicalUrl, Job, JobId, JobState, Limits, Order, QueryPolicy, Scope, ScopeRule,
    Suffixes, Time, Wanted,
};
use argiope_news::Sites;
use argiope_parse::default_skip_extensions;
use argiope_store::{JobChange, JobRow};
use std::collections::BTreeSet;

/// A crawl order as given.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Start URLs.
    pub seeds: Vec<CanonicalUrl>,
    /// The scope rule.
    pub rule: ScopeRule,
    /// Further domains.
    pub domains: Vec<String>,
    /// The order of visits.
    pub order: Order,
    /// Limits.
    pub limits: Limits,
    /// What is taken.
    pub wanted: Wanted,
    /// What happens to query strings.
    pub query: QueryPolicy,
    /// The text of the filter, or that there shall be none; `None`: a job that goes on keeps the one
    /// it has.
    pub filter: Option<Option<String>>,
    /// What it is about.
    pub aim: Option<Aim>,
}

/// What an order comes to.
#[derive(Clone, Debug)]
pub enum Picked {
    /// A new job.
    New(Box<Job>),
    /// The same order was given before and is not finished.
    Resumed(Box<Job>),
    /// The same order was given before and nothing is left of it.
    Finished(Box<JobRow>),
}

/// Finds the job an order belongs to. Limits on pages, bytes and time may differ: raising them
/// goes on with the same job, and so does another filter. A different depth reaches other pages and is
/// another job.
pub fn pick_job(order: NewJob, jobs: &[JobRow], suffixes: &Suffixes, now: Time) -> Picked {
    let mut scope = Scope { rule: order.rule, names: BTreeSet::new() };
    order.seeds.iter().for_each(|seed| scope.admit_seed(seed, suffixes));
    order.domains.iter().for_each(|domain| scope.admit_domain(domain));
    let id = JobId(jobs.iter().map(|row| row.job.id.0).max().unwrap_or(0) + 1);
    let job = Job {
        id,
        created: now,
        seeds: order.seeds,
        scope,
        order: order.order,
        limits: order.limits,
        wanted: order.wanted,
        query: order.query,
        filter: order.filter.clone().flatten(),
        aim: order.aim,
        news: false,
    };
    let same = |old: &Job| {
        !old.news
            && old.seeds == job.seeds
            && old.scope == job.scope
            && old.order == job.order
            && old.aim == job.aim
            && old.wanted == job.wanted
            && old.query == job.query
            && old.limits.depth == job.limits.depth
    };
    let earlier = jobs.iter().rev().find(|r| r.state != JobState::Dropped && same(&r.job));
    match earlier {
        None => Picked::New(Box::new(job)),
        Some(row) => {
            let filter = order.filter.unwrap_or_else(|| row.job.filter.clone());
            let same = filter == row.job.filter && !takes_more(row, &job);
            if row.state == JobState::Done && same {
                return Picked::Finished(Box::new(row.clone()));
            }
            let renewed = Job { id: row.job.id, created: row.job.created, filter, ..job };
            Picked::Resumed(Box::new(renewed))
        }
    }
}

/// Finds or makes the job that collects the news of these sites: there is one in a directory. It begins at
/// their front pages as they are now, and each site belongs to it whole. `None` where no site is followed
/// and none was.
pub fn pick_news(sites: &Sites, jobs: &[JobRow], suffixes: &Suffixes, now: Time) -> Option<Picked> {
    let earlier = jobs.iter().rev().find(|row| row.job.news && row.state != JobState::Dropped);
    if sites.is_empty() && earlier.is_none() {
        return None;
    }
    let mut scope = Scope { rule: ScopeRule::Domain, names: BTreeSet::new() };
    let mut seeds: Vec<CanonicalUrl> = Vec::new();
    for recipe in sites.recipes() {
        scope.admit_domain(argiope_news::host_of(&recipe.site));
        for front in fronts(recipe) {
            scope.admit_seed(&front, suffixes);
            if !seeds.contains(&front) {
                seeds.push(front);
            }
        }
    }
    let types = BTreeSet::from(["html".to_owned()]);
    let id = jobs.iter().map(|row| row.job.id.0).max().unwrap_or(0) + 1;
    let job = Job {
        id: earlier.map_or(JobId(id), |row| row.job.id),
        created: earlier.map_or(now, |row| row.job.created),
        seeds,
        scope,
        order: Order::Breadth,
        limits: Limits::default(),
        wanted: Wanted { skip_extensions: default_skip_extensions(&types), types },
        query: QueryPolicy::Keep,
        filter: earlier.and_then(|row| row.job.filter.clone()),
        aim: None,
        news: true,
    };
    Some(match earlier {
        Some(_) => Picked::Resumed(Box::new(job)),
        None => Picked::New(Box::new(job)),
    })
}

/// Whether a job that was done has something to do again: it may take more of each site.
fn takes_more(row: &JobRow, job: &Job) -> bool {
    row.counters.skipped_site_pages > 0 && is_raised(&row.job.limits, &job.limits)
}

/// Jobs that are to be worked on when none is named.
pub fn open_jobs(jobs: &[JobRow]) -> Vec<JobId> {
    jobs.iter().filter(|row| row.state == JobState::Open).map(|row| row.job.id).collect()
}

impl Picked {
    /// The change to the store that starts it; `None` when there is nothing to do.
    pub(crate) fn change(&self) -> Option<JobChange> {
        match self {
            Picked::New(job) => Some(JobChange::New(job.clone())),
            Picked::Resumed(job) => Some(JobChange::Renew(job.clone())),
            Picked::Finished(_) => None,
        }
    }
}
