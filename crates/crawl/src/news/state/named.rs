//! What sites are called that have no name of their own, and whose articles do not tell: by the title of their front page, else
//! of a feed.
//!
//! * A title says more than the name (`The N | News, sport and weather`): of its parts the one that is like the domain
//!   counts, else the first one that says something.
//! * It is read from the texts that are kept whenever the front page is another, and stands in no file of its own.

use super::{NewsState, Open};
use crate::fronts::{fronts, guessed};
use crate::news::NewsError;
use crate::versions::{CapturesOf, Shelf, Versions};
use argiope_model::CanonicalUrl;
use argiope_news::{Recipe, Sites};
use argiope_parse::parse_feed;
use std::collections::HashMap;
use std::io::Read as _;

/// Characters of a name.
const LONGEST: usize = 40;
/// Feeds of a site that are looked at for its name, and bytes of each.
const FEEDS: usize = 3;
const FEED_BYTES: u64 = 1 << 20;
/// What stands between the parts of a title.
const BETWEEN: [&str; 9] = [" | ", " - ", " – ", " — ", " · ", " • ", " » ", ": ", " :: "];
/// Parts that say nothing: the pages are called so everywhere.
const NO_NAMES: [&str; 22] = [
    "home",
    "homepage",
    "home page",
    "front page",
    "start",
    "startseite",
    "news",
    "latest news",
    "breaking news",
    "welcome",
    "index",
    "inicio",
    "portada",
    "noticias",
    "accueil",
    "actualités",
    "главная",
    "новости",
    "главная страница",
    "início",
    "notícias",
    "untitled",
];

/// Names by site, each with the time of the front page that told it.
pub(super) type Titles = HashMap<String, (i64, Option<String>)>;

/// The name in the title of a front page.
fn name_in(title: &str, site: &str) -> Option<String> {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut parts = vec![title.to_owned()];
    for between in BETWEEN {
        let split = parts.iter().flat_map(|part| part.split(between)).map(str::to_owned);
        parts = split.collect();
    }
    let says = |part: &&str| {
        let small = part.to_lowercase();
        (2..=LONGEST).contains(&part.chars().count()) && !NO_NAMES.contains(&small.as_str())
    };
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(says).collect();
    let label = letters(site.split('.').next().unwrap_or_default());
    let like = |part: &&&str| {
        let part = letters(part);
        part.chars().count() > 2 && (label.contains(&part) || part.contains(&label))
    };
    parts.iter().find(like).or(parts.first()).map(|part| (*part).to_owned())
}

impl Open {
    /// What most of its pages call a site, else its front page.
    pub fn called(&self, site: &str) -> Option<&str> {
        let told = || self.titles.get(site)?.1.as_deref();
        self.called_by_articles(site).or_else(told)
    }

    fn called_by_articles(&self, site: &str) -> Option<&str> {
        let names = self.called.get(site)?.iter();
        names.max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name))).map(|(n, _)| &**n)
    }
}

/// Whether nobody has given a site a name.
pub(in crate::news) fn is_nameless(recipe: &Recipe) -> bool {
    recipe.name.is_empty() || recipe.name == recipe.site
}

impl NewsState {
    /// Looks what the front pages of sites say that have no other name.
    pub(in crate::news) fn name_sites(&self, sites: &Sites) -> Result<(), NewsError> {
        self.with(|open| {
            for recipe in sites.recipes().iter().filter(|recipe| is_nameless(recipe)) {
                if open.called_by_articles(&recipe.site).is_some() {
                    continue;
                }
                let known = open.titles.get(&recipe.site).map(|(time, _)| *time);
                if let Some((time, title)) = self.front_title(recipe, known)? {
                    let mut name = name_in(&title, &recipe.site);
                    if name.is_none() {
                        name = self.feed_title(recipe)?;
                    }
                    open.titles.insert(recipe.site.clone(), (time, name));
                }
            }
            Ok(())
        })
    }

    /// The title of the front page that was fetched last, if that was after what is known.
    fn front_title(
        &self,
        recipe: &Recipe,
        known: Option<i64>,
    ) -> Result<Option<(i64, String)>, NewsError> {
        let plain = guessed(recipe).map(|guessed| guessed.plain).unwrap_or_default();
        let urls: Vec<CanonicalUrl> = fronts(recipe).into_iter().chain(plain).collect();
        let keys: Vec<_> = urls.iter().map(|url| url.key(&self.pinned)).collect();
        let rows = self.store.urls(&keys)?;
        let last = |row: &argiope_store::UrlRow| row.fetched_at.map(|at| at.0);
        let asked = urls.into_iter().zip(keys).zip(rows);
        let found = asked.filter_map(|((url, key), row)| Some((last(&row?)?, url, key)));
        let mut found: Vec<_> = found.filter(|(at, ..)| known.is_none_or(|k| k < *at)).collect();
        found.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        let none = |_: &str| Ok(Vec::new());
        let shelf = self.shelf(&none);
        for (at, url, key) in found {
            let page = Versions { url, captures: self.store.captures(key)? };
            let Some(n) = page.captures.iter().rposition(|c| c.text.is_some()) else { continue };
            // What cannot be read now may be another time.
            let Ok(Some(text)) = shelf.text(&page, n) else { continue };
            return Ok(Some((at, text.title)));
        }
        Ok(None)
    }

    /// What a feed of a site calls itself.
    fn feed_title(&self, recipe: &Recipe) -> Result<Option<String>, NewsError> {
        let none = |_: &str| Ok(Vec::new());
        let shelf = self.shelf(&none);
        let found = self.feeds(&Sites::new(vec![recipe.clone()]))?;
        let found = found.iter().filter_map(|row| CanonicalUrl::parse(row["url"].as_str()?).ok());
        for url in found.take(FEEDS) {
            let captures = self.store.captures(url.key(&self.pinned))?;
            let page = Versions { url, captures };
            let n = page.captures.iter().rposition(|c| c.record.is_some() && !c.revisit);
            let Some(opened) = n.and_then(|n| shelf.open(&page, n).ok()) else { continue };
            let mut bytes = Vec::new();
            let read = opened.plain().map(|plain| plain.take(FEED_BYTES).read_to_end(&mut bytes));
            let feed = read.ok().and_then(|_| parse_feed(&bytes, None, Some(&page.url)));
            if let Some(name) = feed.and_then(|feed| name_in(&feed.title, &recipe.site)) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn shelf<'s>(&self, captures_of: &'s CapturesOf<'s>) -> Shelf<'s> {
        Shelf { warc: self.warc.clone(), text: self.text.clone(), captures_of }
    }
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn of_a_title_the_part_that_is_a_name_counts() {
        for (title, name) in [
            ("The Lantern", Some("The Lantern")),
            ("Home | The Lantern", Some("The Lantern")),
            (
                "News, sport and weather from the whole valley – thelanternnews",
                Some("thelanternnews"),
            ),
            ("Latest stories - The Lantern News", Some("The Lantern News")),
            ("Главная", None),
            ("Вестник Волги: новости", Some("Вестник Волги")),
            ("A title that goes on and on, longer than any name has ever been", None),
            ("", None),
        ] {
            assert_eq!(name_in(title, "thelanternnews.org").as_deref(), name, "{title}");
        }
    }
}
