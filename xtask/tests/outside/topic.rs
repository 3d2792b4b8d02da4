//! Crawls about something, seen from the server.
//!
//! A made-up web of 1,200 pages on six topics (`xtask::bench::topics`). Two of the eight words of the wanted topic are
//! given, or one page of it; a quarter of the links say nothing, and most of the others have none of the words given.

use crate::rig::{Rig, count};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use xtask::bench::topics::{ABOUT, write};
use xtask::nginx::Nginx;

struct Site {
    rig: Rig,
    nginx: Nginx,
    start: String,
    wanted: BTreeSet<String>,
}

fn site(name: &str, seed: u64) -> Result<Option<Site>> {
    let Some(rig) = Rig::new(name, &["nginx"])? else { return Ok(None) };
    let root = rig.folder("site")?;
    let wanted = write(seed, &root)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}/p0.html", nginx.origin);
    Ok(Some(Site { rig, nginx, start, wanted }))
}

impl Site {
    /// How many of the first pages that were asked for are on the topic, and how many were asked for.
    fn harvest(&self, data: &str, args: &[&str]) -> Result<usize> {
        self.nginx.clear()?;
        let mut all = vec![self.start.as_str(), "--max-pages", "240"];
        all.extend(args);
        let told = self.rig.crawl(data, &all)?;
        ensure!(count(&told, "fetched")? == 240, "{told}");
        let pages = self.nginx.pages()?;
        let on = |uri: &str| self.wanted.contains(uri.trim_start_matches('/'));
        Ok(pages.iter().filter(|hit| on(&hit.uri)).count())
    }
}

#[test]
fn three_times_the_pages_of_breadth_first_by_words_and_by_an_example() -> Result<()> {
    for seed in [11, 12] {
        let Some(site) = site(&format!("topic-{seed}"), seed)? else { return Ok(()) };
        let breadth = site.harvest("breadth", &[])?;
        let about = site.harvest("about", &["--about", ABOUT])?;
        let example = site.wanted.last().context("a page on the topic")?;
        let example = format!("{}/{example}", site.nginx.origin);
        let like = site.harvest("like", &["--like", &example])?;
        let said = format!("breadth-first {breadth}, about {about}, like {like}");
        ensure!(about >= 3 * breadth && like >= 3 * breadth, "{said}");
        let most = site.wanted.len().min(240);
        ensure!(10 * about >= 7 * most && 10 * like >= 7 * most, "{said} of {most}");

        // The crawl is over, and what it knew of a queued page can still be told.
        let mut explained = 0;
        for n in (0..1200).step_by(40) {
            let url = format!("{}/p{n}.html", site.nginx.origin);
            let rows = site.rig.rows("about", &["explain", &url])?;
            let words = |rule: &str| {
                let row = rows.iter().find(|row| row["rule"] == rule);
                row.and_then(|row| row["detail"].as_str()).unwrap_or_default().to_owned()
            };
            let parts = words("score");
            explained += usize::from(parts.contains("a chance of") && parts.contains("base -"));
        }
        ensure!(explained > 5, "{explained} scores are explained");
    }
    Ok(())
}
