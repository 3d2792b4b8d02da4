//! The links of a page, judged: which are news, which belong to the job, which are left alone.

use crate::content::Content;
use crate::director::budgets::has_budgets;
use crate::gather::{ARTICLE, Gathered};
use crate::group::{Found, KnownLink};
use crate::visit::Shared;
use argiope_filter::Filter;
use argiope_frontier::{Admission, Entry, SkipReason, admit};
use argiope_model::{CanonicalUrl, Job, Link, LinkKind, Order, QueryPolicy, Role, SiteKey};
use std::collections::BTreeMap;

/// Sites told of one page.
const MOST_SITES: usize = 1024;

/// The links of a page that the cache does not know and the job's rules admit, and, where the job goes
/// best-first, those that it does know; `index`: it is a sitemap that lists sitemaps.
pub(crate) fn judge_links(
    shared: &Shared,
    job: &Job,
    entry: &Entry,
    links: &[Link],
    index: bool,
) -> (Vec<Found>, Vec<KnownLink>) {
    let (mut found, mut known): (Vec<Found>, Vec<KnownLink>) = (Vec::new(), Vec::new());
    let best = job.order == Order::Best;
    let is_other = |url: &CanonicalUrl| {
        let site = |url: &CanonicalUrl| shared.pinned.site_key(url.host());
        best && url.host() != entry.url.host() && site(url) != site(&entry.url)
    };
    let mut last: Option<&CanonicalUrl> = None;
    let filter = shared.filters.of(job.id);
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
            if best && admit(job, &shared.suffixes, url, depth) == Admission::Queue {
                let (key, other_site) = (url.key(&shared.pinned), is_other(url));
                known.push(KnownLink { key, other_site });
            }
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
        let refuses = |filter: &Filter| {
            shared.filters.refuses(filter, job, url, &shared.suffixes, Default::default())
        };
        let asked = filter.as_deref().filter(|_| skip.is_none() && role == Role::Page);
        let skip = skip.or(asked.is_some_and(refuses).then_some(SkipReason::Filter));
        let skip = skip.or(shared.is_forbidden(key.host, url).then_some(SkipReason::Robots));
        let hops = if nearer { entry.hops.saturating_add(1) } else { 0 };
        if index && hops > shared.max_redirects {
            continue;
        }
        let index = (!redirect).then_some(index_on_page);
        let (url, other_site) = (url.clone(), is_other(url));
        let (line, back, score) = (0, None, None);
        found.push(Found {
            key,
            url,
            depth,
            index,
            skip,
            role,
            hops,
            line,
            back,
            other_site,
            score,
        });
    }
    (found, known)
}

/// What a page of a news job leads to and the cache does not know, as the job's rules have it: what was
/// gathered from it, or where it redirects to.
pub(crate) fn judge_gathered(
    shared: &Shared,
    job: &Job,
    entry: &Entry,
    content: &Content,
) -> Vec<Found> {
    let redirects: Vec<Link> =
        content.links.iter().filter(|link| link.kind == LinkKind::Redirect).cloned().collect();
    let (mut found, _) = judge_links(shared, job, entry, &redirects, false);
    let filter = shared.filters.of(job.id);
    for (index, Gathered { url, depth, role }) in content.gathered.iter().cloned().enumerate() {
        let url = job.query.apply(url.without_session().unwrap_or(url));
        let fingerprint = seen_fingerprint(job, &url);
        // What leads to news is taken back where another job has taken it; there is little of that.
        if depth >= ARTICLE && shared.seen.knows(fingerprint, depth) {
            continue;
        }
        let skip = match admit(job, &shared.suffixes, &url, depth) {
            Admission::Queue => None,
            Admission::Skip(SkipReason::Extension) if role == Role::Sitemap => None,
            Admission::Skip(reason) => Some(reason),
            Admission::OutOfScope => continue,
        };
        let (key, page) = (url.key(&shared.pinned), role == Role::Page);
        let refuses = |filter: &Filter| {
            shared.filters.refuses(filter, job, &url, &shared.suffixes, Default::default())
        };
        let asked = filter.as_deref().filter(|_| skip.is_none() && page);
        let skip = skip.or(asked.is_some_and(refuses).then_some(SkipReason::Filter));
        let skip = skip.or(shared.is_forbidden(key.host, &url).then_some(SkipReason::Robots));
        // A sitemap in a sitemap is one step farther, as a redirect is.
        let nested = !page && entry.role == Role::Sitemap;
        let hops = if nested { entry.hops.saturating_add(1) } else { 0 };
        if hops > shared.max_redirects {
            continue;
        }
        found.push(Found {
            key,
            url,
            depth,
            index: Some(index),
            skip,
            role,
            hops,
            line: 0,
            back: None,
            other_site: false,
            score: None,
        });
    }
    found
}

/// The other sites that a page links to, each once, and whether a URL to be asked for was found with it;
/// nothing where the job has no budgets.
pub(crate) fn sites_of(
    shared: &Shared,
    job: &Job,
    entry: &Entry,
    links: &[Link],
    found: &[Found],
) -> Vec<(SiteKey, bool)> {
    if !shared.budgets || !has_budgets(job) {
        return Vec::new();
    }
    let (own, mut last) = (entry.url.host(), entry.url.host());
    let mut out: BTreeMap<SiteKey, bool> = BTreeMap::new();
    let queued = found.iter().filter(|found| found.skip.is_none()).map(|found| (&found.url, true));
    let obeys = shared.agent.is_some();
    let linked =
        links.iter().filter(|link| !(link.nofollow && obeys)).map(|link| (&link.url, false));
    for (url, queued) in queued.chain(linked) {
        // Links to one host often stand together, and most are to the page's own.
        if url.host() != own && std::mem::replace(&mut last, url.host()) != url.host() {
            *out.entry(shared.pinned.site_key(url.host())).or_default() |= queued;
        }
        if out.len() >= MOST_SITES {
            break;
        }
    }
    out.remove(&shared.pinned.site_key(own));
    out.into_iter().collect()
}

/// What is known under one job's rules is news under another's.
pub(crate) fn seen_fingerprint(job: &Job, url: &CanonicalUrl) -> u64 {
    url.fingerprint() ^ u64::from(job.id.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
