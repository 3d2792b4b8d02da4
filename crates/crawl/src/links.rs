//! The links of a page, judged: which are news, which belong to the job, which are left alone.

use crate::group::Found;
use crate::visit::Shared;
use argiope_frontier::{Admission, Entry, SkipReason, admit};
use argiope_model::{CanonicalUrl, Job, Link, LinkKind, QueryPolicy, Role};

/// The links of a page that the cache does not know and the job's rules admit; `index`: it is a
/// sitemap that lists sitemaps.
pub(crate) fn judge_links(
    shared: &Shared,
    job: &Job,
    entry: &Entry,
    links: &[Link],
    index: bool,
) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut last: Option<&CanonicalUrl> = None;
    for (index_on_page, link) in links.iter().enumerate() {
        if link.nofollow && shared.agent.is_some() {
            continue;
        }
        // Links to one URL stand together; one is as good as all.
        if last.replace(&link.url) == Some(&link.url) {
            continue;
        }
        let redirect = link.kind == LinkKind::Redirect;
        // A redirect is the same visit: its target is no farther from the start.
        let nearer = redirect || index;
        let depth = if nearer { entry.depth } else { entry.depth.saturating_add(1) };
        let changed;
        let url = match (job.query, link.url.without_session()) {
            (QueryPolicy::Keep, None) => &link.url,
            (policy, bare) => {
                changed = policy.apply(bare.unwrap_or_else(|| link.url.clone()));
                &changed
            }
        };
        let fingerprint = seen_fingerprint(job, url);
        if shared.seen.knows(fingerprint, depth) {
            continue;
        }
        let key = url.key(&shared.pinned);
        let role = if index || (redirect && entry.role == Role::Sitemap) {
            Role::Sitemap
        } else {
            Role::Page
        };
        let skip = match admit(job, &shared.suffixes, url, depth) {
            // A sitemap is none of the files that its ending looks like.
            _ if role == Role::Sitemap && key.host == entry.key.host => None,
            Admission::Queue => None,
            Admission::Skip(SkipReason::Extension) if role == Role::Sitemap => None,
            Admission::Skip(reason) => Some(reason),
            Admission::OutOfScope => {
                shared.seen.remember(fingerprint, 0);
                continue;
            }
        };
        let skip = skip.or(shared.is_forbidden(key.host, url).then_some(SkipReason::Robots));
        let hops = if nearer { entry.hops.saturating_add(1) } else { 0 };
        if index && hops > shared.max_redirects {
            continue;
        }
        let index = (!redirect).then_some(index_on_page);
        found.push(Found { key, url: url.clone(), depth, index, skip, role, hops });
    }
    found
}

/// What is known under one job's rules is news under another's.
pub(crate) fn seen_fingerprint(job: &Job, url: &CanonicalUrl) -> u64 {
    url.fingerprint() ^ u64::from(job.id.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
