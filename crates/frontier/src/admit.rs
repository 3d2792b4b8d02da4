//! Whether a discovered URL belongs to a job, and if not, why.

use argiope_model::{CanonicalUrl, Job, Suffixes};
use serde::{Deserialize, Serialize};

/// Why a URL inside the scope is known but not requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SkipReason {
    /// Its file-name ending is one the job does not take.
    Extension,
    /// It lies deeper than the job goes.
    Depth,
    /// Its type, by header or bytes, is one the job does not take.
    Type,
    /// It is larger than the limit.
    Size,
    /// Its host's robots.txt forbids it.
    Robots,
    /// Its host was given up.
    GivenUp,
    /// Its site was excluded by hand.
    Excluded,
    /// The job's filter does not let it through.
    Filter,
    /// It belongs to a series of pages without end.
    Trap,
    /// Its site has given as many pages as the job takes of one.
    SitePages,
}

impl SkipReason {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Extension => "extension",
            Self::Depth => "depth",
            Self::Type => "type",
            Self::Size => "size",
            Self::Robots => "robots",
            Self::GivenUp => "given_up",
            Self::Excluded => "excluded",
            Self::Filter => "filter",
            Self::Trap => "trap",
            Self::SitePages => "site_pages",
        }
    }
}

/// What the rules of a job say about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is to be fetched.
    Queue,
    /// It is inside the scope, is remembered, and is not requested.
    Skip(SkipReason),
    /// It is none of the job's business.
    OutOfScope,
}

/// Asks the rules of a job in order: scope, file-name ending, depth.
pub fn admit(job: &Job, suffixes: &Suffixes, url: &CanonicalUrl, depth: u16) -> Admission {
    if !job.scope.contains(url, suffixes) {
        return Admission::OutOfScope;
    }
    let skipped = &job.wanted.skip_extensions;
    if !skipped.is_empty() && url.extension().is_some_and(|e| skipped.contains(&e)) {
        return Admission::Skip(SkipReason::Extension);
    }
    match job.limits.depth {
        Some(limit) if depth > limit => Admission::Skip(SkipReason::Depth),
        _ => Admission::Queue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::{JobId, Limits, Order, QueryPolicy, Scope, ScopeRule, Time, Wanted};

    #[test]
    fn scope_speaks_before_ending_and_ending_before_depth() {
        let suffixes = Suffixes::built_in();
        let seed = CanonicalUrl::parse("http://a.test/").unwrap();
        let mut scope = Scope { rule: ScopeRule::Domain, names: Default::default() };
        scope.admit_seed(&seed, &suffixes);
        let job = Job {
            id: JobId(1),
            created: Time(0),
            seeds: vec![seed],
            scope,
            order: Order::Breadth,
            limits: Limits { depth: Some(2), ..Limits::default() },
            wanted: Wanted {
                types: ["html".to_owned()].into(),
                skip_extensions: ["png".to_owned()].into(),
            },
            query: QueryPolicy::Keep,
            filter: None,
            aim: None,
            news: false,
        };
        let ask =
            |url: &str, depth| admit(&job, &suffixes, &CanonicalUrl::parse(url).unwrap(), depth);
        assert_eq!(ask("http://b.test/x.png", 9), Admission::OutOfScope);
        assert_eq!(ask("http://a.test/x.PNG?v=1", 9), Admission::Skip(SkipReason::Extension));
        assert_eq!(ask("http://a.test/x", 3), Admission::Skip(SkipReason::Depth));
        assert_eq!(ask("http://www.a.test/x", 2), Admission::Queue);
    }
}
