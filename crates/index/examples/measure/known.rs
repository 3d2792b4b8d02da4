//! Titles and headings that are unique in their site, as queries.
//!
//! As whoever measures from outside does it: the title, or the first heading that is unique, as it
//! is written is the query, the page itself has to come first, and not another that it is folded under. Where
//! there are several sites, `site:` names the one.

use crate::Doc;
use argiope_index::{NoLinks, SearchOptions, View};
use argiope_model::DocId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Queries of a kind and site.
const MOST: usize = 600;

/// Letters and digits only, so that what differs in signs alone is the same.
fn bare(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

pub fn known(docs: &[Doc], view: &View, texts: &Path) {
    let mut owners: HashMap<(&str, String), HashSet<usize>> = HashMap::new();
    for (n, doc) in docs.iter().enumerate() {
        for name in doc.text.headings.iter().chain([&doc.text.title]) {
            owners.entry((&doc.site, bare(name))).or_default().insert(n);
        }
    }
    let sites: HashSet<&str> = docs.iter().map(|doc| &*doc.site).collect();
    let mut asked: BTreeMap<(&str, &str), Vec<(usize, &str)>> = BTreeMap::new();
    for (n, doc) in docs.iter().enumerate() {
        let unique = |name: &&str| {
            let bare = bare(name);
            !bare.is_empty() && owners[&(&*doc.site, bare)].len() == 1
        };
        let title = Some(&*doc.text.title).filter(unique);
        let heading = doc.text.headings.iter().map(|heading| &**heading).find(unique);
        for (kind, name) in [("title", title), ("heading", heading)] {
            if let Some(name) = name {
                asked.entry((&doc.site, kind)).or_default().push((n, name));
            }
        }
    }
    for ((site, kind), names) in asked {
        let step = names.len().div_ceil(MOST);
        let (mut first, mut ten, mut count, mut refused) = (0u32, 0u32, 0u32, 0u32);
        let mut missed = Vec::new();
        for (n, name) in names.iter().step_by(step) {
            let options = SearchOptions { snippets: false, ..SearchOptions::default() };
            let query = match sites.len() {
                1 => (*name).to_owned(),
                _ => format!("{name} site:{site}"),
            };
            count += 1;
            match view.search(&query, texts, &NoLinks, &options) {
                Ok(answer) => {
                    let doc = DocId(*n as u64 + 1);
                    let rank = answer.hits.iter().position(|hit| hit.doc == doc);
                    first += u32::from(rank == Some(0));
                    ten += u32::from(rank.is_some());
                    if rank != Some(0) {
                        let folded = answer
                            .hits
                            .iter()
                            .any(|hit| hit.alike.iter().any(|page| page.doc == doc));
                        let folded = if folded { ", folded" } else { "" };
                        let instead = answer.hits.first().map(|hit| &hit.url);
                        missed.push(format!(
                            "{rank:?}{folded} {name} ({}) {instead:?}",
                            docs[*n].url
                        ));
                    }
                }
                Err(e) => {
                    refused += 1;
                    missed.push(format!("{name}: {e}"));
                }
            }
        }
        println!(
            "{site} {kind}: {count} known pages, first {:.1} %, in ten {:.1} %, refused {refused}",
            100.0 * f64::from(first) / f64::from(count),
            100.0 * f64::from(ten) / f64::from(count),
        );
        for line in missed.iter().step_by((missed.len() / 12).max(1)) {
            println!("  {line}");
        }
    }
}
