//! Why nothing could be read of a site.

use argiope_crawl::DataDir;
use argiope_frontier::SkipReason;
use argiope_model::CanonicalUrl;
use argiope_news::{Recipe, front_pages, plain_front_pages};
use argiope_store::{Store, UrlState};

/// A sentence for each front page of a site that was not read, as the store knows it.
pub fn unread(dir: &DataDir, store: &dyn Store, recipe: &Recipe) -> anyhow::Result<Vec<String>> {
    let guessed = front_pages(&recipe.site);
    let fronts = match recipe.front.is_empty() || recipe.front == guessed {
        // Where nobody answers with TLS it was tried without.
        true => {
            let plain = plain_front_pages(&recipe.site).into_iter();
            let plain = plain.filter(|front| !guessed.contains(front));
            guessed.iter().cloned().chain(plain).collect()
        }
        false => recipe.front.clone(),
    };
    let mut said = Vec::new();
    for url in fronts.iter().filter_map(|front| CanonicalUrl::parse(front).ok()) {
        let key = url.key(dir.suffixes());
        let Some(row) = store.urls(&[key])?.pop().flatten() else { continue };
        let last = store.captures(key)?.pop();
        let outcome = last.map(|capture| capture.outcome).filter(|o| !o.is_success());
        let why = match (row.state, outcome) {
            (UrlState::Skipped(SkipReason::Robots), _) => {
                "its robots.txt asks to be left alone".to_owned()
            }
            (UrlState::Skipped(reason), _) => format!("left alone ({})", reason.name()),
            (UrlState::Fetched | UrlState::Redirected, None) => continue,
            (_, Some(outcome)) => outcome.to_string(),
            (_, None) => {
                "no answer yet to the question for its robots.txt; the next round asks again"
                    .to_owned()
            }
        };
        said.push(format!("{url}: {why}"));
    }
    Ok(said)
}
