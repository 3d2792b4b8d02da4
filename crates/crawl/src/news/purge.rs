//! Forgetting and verifying: no word of a forgotten page stays in the file of articles, and what stands there agrees with
//! the store.

use super::NewsError;
use super::log::Log;
use super::row::{Head, Hint, Record};
use super::state::FILE;
use crate::data_dir::DataDir;
use crate::verify::Verified;
use argiope_model::{CanonicalUrl, DocId, Role};
use argiope_store::{Store, UrlState};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What stands in the file, in the order in which it was written.
#[derive(Default)]
struct All {
    /// Articles by their numbers, with their places; what was replaced is not among them.
    articles: BTreeMap<u64, (Head, super::log::At)>,
    others: Vec<Record>,
    read: BTreeMap<u16, u64>,
    taken: BTreeSet<String>,
}

impl All {
    fn read(path: &std::path::Path) -> Result<Option<(Log, All)>, NewsError> {
        let mut all = All::default();
        let log = Log::open(path, |record, at| {
            match record {
                Record::Article(head) => drop(all.articles.insert(head.doc, (*head, at))),
                Record::Gone(doc) => drop(all.articles.remove(&doc)),
                Record::Mark { read, taken } => {
                    all.read = read;
                    all.taken = taken.into_iter().collect();
                }
                // They may be in the words of what is forgotten; the feeds are read again.
                Record::Told(_) => {}
                other => all.others.push(other),
            }
            Ok(())
        })?;
        Ok(log.map(|log| (log, all)))
    }
}

/// Takes forgotten pages out of the file of articles, which is written anew without them. Where an article has other pages
/// that stay, or something was said of it by a page that goes, its site is looked through again by the next who follows. A
/// file that cannot be read is removed: it is made again. May be done twice.
pub(crate) fn forget_news(
    dir: &DataDir,
    store: &dyn Store,
    urls: &[String],
) -> Result<(), NewsError> {
    let path = dir.news().join(FILE);
    let part = path.with_extension("log.part");
    super::state::remove(&part)?;
    let keys: Vec<_> = urls
        .iter()
        .filter_map(|url| Some(CanonicalUrl::parse(url).ok()?.key(dir.suffixes())))
        .collect();
    let (mut gone, mut tellers) = (BTreeSet::new(), Vec::new());
    for some in keys.chunks(1024) {
        for row in store.urls(some)?.into_iter().flatten() {
            gone.insert(row.doc.0);
            let host = (row.role == Role::Page).then(|| row.url.host().to_owned());
            tellers.push((row.doc.0, host));
        }
    }
    let done = All::read(&path).and_then(|read| match read {
        None => Ok(()),
        Some((log, all)) => without(log, all, &gone, &tellers, urls),
    });
    match done {
        Err(NewsError::Damaged(path)) => super::state::remove(&path),
        other => other,
    }
}

fn without(
    mut log: Log,
    mut all: All,
    gone: &BTreeSet<u64>,
    tellers: &[(u64, Option<String>)],
    urls: &[String],
) -> Result<(), NewsError> {
    let pages = all.articles.values().flat_map(|(head, _)| &head.pages);
    let shown: BTreeSet<u64> = pages.map(|page| page.doc).collect();
    // Feeds may tell of any site, other pages of their own.
    let may_tell = |site: &str| {
        tellers.iter().filter(|(doc, _)| !shown.contains(doc)).any(|(_, host)| {
            let host = host.as_deref().map(|host| host.strip_suffix(site));
            host.is_none_or(|rest| rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
        })
    };
    all.others.retain(|other| !matches!(other, Record::Lost(doc, _) if gone.contains(doc)));
    let names: BTreeSet<&str> = urls.iter().map(String::as_str).collect();
    let mut kept = Vec::new();
    let mut told: HashMap<&str, bool> = HashMap::new();
    for (head, at) in all.articles.values() {
        let body = log.body(*at)?;
        let named = std::iter::once(&body.url).chain(&body.urls).chain(&body.picture);
        let named = named.chain(&body.hint.picture);
        let is_gone = head.pages.iter().any(|page| gone.contains(&page.doc));
        let is_told = body.hint != Hint::default()
            && *told.entry(&head.site).or_insert_with(|| may_tell(&head.site));
        if !is_gone && !is_told && !named.into_iter().any(|url| names.contains(url.as_str())) {
            kept.push(*at);
            continue;
        }
        if head.pages.iter().any(|page| !gone.contains(&page.doc)) {
            all.taken.remove(&head.site);
        }
    }
    let mark = Record::Mark { read: all.read, taken: all.taken.into_iter().collect() };
    // Even where no row goes, the file may hold what was replaced since.
    log.rewritten(&kept, |head| head, &all.others, &mark)
}

/// Checks the file of articles against the store: every row readable, every page known.
pub fn verify_news(dir: &DataDir, store: &dyn Store, out: &mut Verified) -> Result<(), NewsError> {
    let path = dir.news().join(FILE);
    let place = || path.display().to_string();
    let read = match All::read(&path) {
        Err(NewsError::Damaged(_)) => {
            out.problem(place(), "it is damaged; it is made again when news are asked for");
            return Ok(());
        }
        read => read?,
    };
    let Some((mut log, all)) = read else { return Ok(()) };
    let mut pages: HashMap<u64, u64> = HashMap::new();
    for (head, at) in all.articles.values() {
        out.articles += 1;
        let body = match log.body(*at) {
            Ok(body) => body,
            Err(NewsError::Damaged(_)) => {
                out.problem(
                    place(),
                    format!("article {} cannot be read; it is made again", head.doc),
                );
                continue;
            }
            Err(e) => return Err(e),
        };
        let docs: Vec<DocId> = head.pages.iter().map(|page| DocId(page.doc)).collect();
        for (doc, key) in docs.iter().zip(store.docs(&docs)?) {
            if let Some(other) = pages.insert(doc.0, head.doc) {
                out.problem(&*body.url, format!("it is article {} and article {other}", head.doc));
            }
            let row = key
                .map(|key| store.urls(&[key]))
                .transpose()?
                .and_then(|mut rows| rows.pop().flatten());
            match row {
                None => out.problem(&*body.url, format!("article {} is of no page", head.doc)),
                Some(row) if row.state == UrlState::Forgotten => {
                    out.problem(&*body.url, "it was forgotten and is still among the news");
                }
                Some(row) if doc.0 == head.doc && row.url.as_str() != body.url => {
                    out.problem(&*body.url, format!("article {doc} is the page {}", row.url));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}
