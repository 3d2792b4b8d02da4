//! Forgetting and verifying: no word of a forgotten page stays in the file of articles, and what stands there agrees with
//! the store.

use super::NewsError;
use super::judge::address;
use super::log::{At, Log};
use super::row::{Head, Record};
use super::state::{FILE, Open, remove};
use crate::data_dir::DataDir;
use crate::verify::Verified;
use crate::world::Clock;
use argiope_model::{CanonicalUrl, DocId};
use argiope_store::{Store, UrlState};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Takes forgotten pages out of the file of articles, which is written anew without them. Where an article has other pages
/// that stay, or something was said of it by a page that goes, its site is looked through again by the next who follows. A
/// file that cannot be read is removed: it is made again. May be done twice.
pub(crate) fn forget_news(
    dir: &DataDir,
    store: &dyn Store,
    urls: &[String],
) -> Result<(), NewsError> {
    let path = dir.news().join(FILE);
    remove(&path.with_extension("log.part"))?;
    if !path.exists() {
        return Ok(());
    }
    let known: Vec<_> = urls.iter().filter_map(|url| CanonicalUrl::parse(url).ok()).collect();
    let addresses = known.iter().map(address).collect();
    let keys: Vec<_> = known.iter().map(|url| url.key(dir.suffixes())).collect();
    let mut docs = BTreeSet::new();
    for some in keys.chunks(1024) {
        docs.extend(store.urls(some)?.into_iter().flatten().map(|row| row.doc.0));
    }
    let names = urls.iter().map(String::as_str).collect();
    match Open::new(&dir.news(), Clock::System.now())?.forget(&docs, &names, &addresses) {
        Err(NewsError::Damaged(_)) => remove(&path),
        done => done,
    }
}

/// Checks the file of articles against the store: every row readable, every page known.
pub fn verify_news(dir: &DataDir, store: &dyn Store, out: &mut Verified) -> Result<(), NewsError> {
    let path = dir.news().join(FILE);
    let place = || path.display().to_string();
    // Articles by their numbers, with their places; what was replaced is not among them.
    let mut articles: BTreeMap<u64, (Head, At)> = BTreeMap::new();
    let read = Log::open(&path, |record, at| {
        match record {
            Record::Article(head) => drop(articles.insert(head.doc, (*head, at))),
            Record::Gone(doc) => drop(articles.remove(&doc)),
            _ => {}
        }
        Ok(())
    });
    let read = match read {
        Err(NewsError::Damaged(_)) => {
            out.problem(place(), "it is damaged; it is made again when news are asked for");
            return Ok(());
        }
        read => read?,
    };
    let Some(mut log) = read else { return Ok(()) };
    let mut pages: HashMap<u64, u64> = HashMap::new();
    for (head, at) in articles.values() {
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
