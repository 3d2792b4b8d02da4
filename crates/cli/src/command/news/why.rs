//! Why nothing could be read of a site.

use argiope_crawl::DataDir;
use argiope_frontier::{Manner, SkipReason};
use argiope_model::CanonicalUrl;
use argiope_news::{Recipe, front_pages, plain_front_pages};
use argiope_store::{Store, UrlState};

/// Where a site is asked for its news.
fn addresses(recipe: &Recipe) -> Vec<CanonicalUrl> {
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
    fronts.iter().filter_map(|front| CanonicalUrl::parse(front).ok()).collect()
}

/// Whether all that was asked of a site was in vain, for nobody was there.
pub fn is_out_of_reach(dir: &DataDir, store: &dyn Store, recipe: &Recipe) -> anyhow::Result<bool> {
    let feeds = recipe.feeds.iter().filter_map(|feed| CanonicalUrl::parse(feed).ok());
    let mut was_asked = false;
    for url in addresses(recipe).into_iter().chain(feeds) {
        for capture in store.captures(url.key(dir.suffixes()))? {
            was_asked = true;
            if Manner::of(&capture.outcome) != Manner::Silent {
                return Ok(false);
            }
        }
    }
    Ok(was_asked)
}

/// A sentence for each front page of a site that was not read, as the store knows it.
pub fn unread(dir: &DataDir, store: &dyn Store, recipe: &Recipe) -> anyhow::Result<Vec<String>> {
    let mut said = Vec::new();
    for url in addresses(recipe) {
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
