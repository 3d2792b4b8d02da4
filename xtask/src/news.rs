//! What collected news are worth, held against the truth of the made-up news web.
//!
//! Pure: the truth and the rows of `news list --articles` in, figures out. A row is a known article when
//! its URL is one of the article's addresses; tracking parameters do not count. What is found twice on
//! a site (at two addresses, or printed again by the site itself) counts as found once and as one row too
//! many. Stories are compared by pairs of articles in one language; pairs of different
//! languages that tell of the same event are counted apart.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Right, wrong and missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Found and right.
    pub right: usize,
    /// Found and wrong.
    pub wrong: usize,
    /// Not found.
    pub missed: usize,
}

impl Tally {
    /// The share of what was found that is right.
    pub fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    /// The share of what there is that was found.
    pub fn recall(&self) -> f64 {
        share(self.right, self.right + self.missed)
    }

    fn add(&mut self, other: Tally) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The figures of a collection.
#[derive(Debug, Default)]
pub struct Figures {
    /// Articles that are linked, by site.
    pub articles: BTreeMap<String, Tally>,
    /// Pairs of articles of one story, by language.
    pub pairs: BTreeMap<String, Tally>,
    /// Pairs of different languages about one event that stand in one story, and that do not.
    pub across: (usize, usize),
    /// Pairs of different languages and events that stand in one story.
    pub across_wrong: usize,
    /// Titles right and wrong.
    pub titles: Tally,
    /// Dates right, wrong and missing.
    pub dates: Tally,
    /// Authors right, wrong and missing.
    pub authors: Tally,
    /// Every mistake, in words.
    pub mistakes: Vec<String>,
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

fn rows<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A URL without what only tells where it was clicked.
pub fn plain(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let kept: Vec<&str> = query.split('&').filter(|part| !part.starts_with("utm_")).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

/// Seconds since 1970 of `2026-11-16T08:13:00Z`, with any zone.
pub fn seconds(iso: &str) -> Option<i64> {
    let number = |from: usize, to: usize| iso.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Days of years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719_469;
    let clock = match (number(11, 13), number(14, 16)) {
        (Some(hour), Some(minute)) => hour * 3600 + minute * 60 + number(17, 19).unwrap_or(0),
        _ => 0,
    };
    let rest = iso
        .get(19..)
        .unwrap_or_default()
        .trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let zone = match rest.split_at_checked(1) {
        Some((sign @ ("+" | "-"), clock)) => {
            let hours: i64 = clock.get(..2)?.parse().ok()?;
            let minutes: i64 = clock.get(clock.len() - 2..)?.parse().ok()?;
            (hours * 3600 + minutes * 60) * if sign == "-" { -1 } else { 1 }
        }
        _ => 0,
    };
    Some(days * 86_400 + clock - zone)
}

/// The articles of the truth by each of their addresses; a repeated one stands for the first.
fn by_url(truth: &Value) -> BTreeMap<String, (u64, &Value)> {
    let mut found = BTreeMap::new();
    for article in rows(truth, "articles") {
        let id = article["copy_of"].as_u64().or(article["id"].as_u64()).unwrap_or(u64::MAX);
        let others = rows(article, "urls").iter().filter_map(Value::as_str);
        for url in others.chain([text(article, "url")]) {
            found.insert(url.to_owned(), (id, article));
        }
    }
    found
}

/// Holds rows of articles against the truth.
pub fn measure(truth: &Value, found: &[Value]) -> Figures {
    let mut figures = Figures::default();
    let known = by_url(truth);
    let answers: BTreeSet<&str> = rows(truth, "sites")
        .iter()
        .filter(|site| site["answers"] == true)
        .map(|site| text(site, "site"))
        .collect();
    let mut seen: BTreeMap<u64, (&Value, &Value)> = BTreeMap::new();
    for row in found {
        let url = plain(text(row, "url"));
        let site = text(row, "site").to_owned();
        let wrong = match known.get(&url) {
            None => Some(format!("no article: {url}")),
            Some((id, article)) => {
                let before = seen.insert(*id, (row, article));
                before.map(|(other, _)| format!("twice: {url} and {}", text(other, "url")))
            }
        };
        if let Some(wrong) = wrong {
            figures.articles.entry(site).or_default().wrong += 1;
            figures.mistakes.push(wrong);
        }
    }
    for article in rows(truth, "articles") {
        let site = text(article, "site");
        let wanted = !rows(article, "linked").is_empty() && article["copy_of"].is_null();
        if !wanted || !answers.contains(site) {
            continue;
        }
        let tally = figures.articles.entry(site.to_owned()).or_default();
        let id = article["id"].as_u64().unwrap_or(u64::MAX);
        match seen.get(&id) {
            Some((row, _)) => {
                tally.right += 1;
                fields(&mut figures, row, article);
            }
            None => {
                tally.missed += 1;
                let linked = article["linked"].to_string();
                figures.mistakes.push(format!("missed: {} linked {linked}", text(article, "url")));
            }
        }
    }
    pairs(&mut figures, &seen.into_values().collect::<Vec<_>>());
    figures
}

/// Title, date and author of an article.
fn fields(figures: &mut Figures, row: &Value, article: &Value) {
    let url = text(article, "url");
    let mut judge = |tally: fn(&mut Figures) -> &mut Tally,
                     is: Option<bool>,
                     what: &str,
                     got: &Value,
                     want: &Value| {
        let tally = tally(figures);
        match is {
            Some(true) => tally.right += 1,
            Some(false) => tally.wrong += 1,
            None => tally.missed += 1,
        }
        if is != Some(true) {
            figures.mistakes.push(format!("{what} of {url}: {got}, not {want}"));
        }
    };
    let same = |a: &str, b: &str| {
        a.split_whitespace().collect::<String>() == b.split_whitespace().collect::<String>()
    };
    let is = same(text(row, "title"), text(article, "title"));
    judge(|f| &mut f.titles, Some(is), "title", &row["title"], &article["title"]);
    let is = row["published"].as_str().map(|published| {
        // A page that does not say its zone can be read in any.
        let slack = if article["date_stated"] == "exact" { 60 } else { 14 * 3600 };
        let want = seconds(text(article, "published"));
        want.zip(seconds(published)).is_some_and(|(a, b)| (a - b).abs() <= slack)
    });
    judge(|f| &mut f.dates, is, "date", &row["published"], &article["published"]);
    if let Some(author) = article["author"].as_str() {
        let names = rows(row, "authors");
        let is =
            (!names.is_empty()).then(|| names.iter().any(|name| name.as_str() == Some(author)));
        judge(|f| &mut f.authors, is, "author", &row["authors"], &article["author"]);
    }
}

/// Compares stories pair by pair; articles of long ago and market reports of other days are pairs like any.
fn pairs(figures: &mut Figures, seen: &[(&Value, &Value)]) {
    for (nth, (row, article)) in seen.iter().enumerate() {
        for (other_row, other) in &seen[nth + 1..] {
            let together = row["story"] == other_row["story"] && !row["story"].is_null();
            if article["language"] != other["language"] {
                match (article["event"] == other["event"], together) {
                    (true, true) => figures.across.0 += 1,
                    (true, false) => figures.across.1 += 1,
                    (false, true) => figures.across_wrong += 1,
                    (false, false) => {}
                }
                continue;
            }
            let is_one = article["story"] == other["story"];
            let tally = figures.pairs.entry(text(article, "language").to_owned()).or_default();
            match (is_one, together) {
                (true, true) => tally.right += 1,
                (false, true) => tally.wrong += 1,
                (true, false) => tally.missed += 1,
                (false, false) => continue,
            }
            if is_one != together {
                let what = if together { "joined" } else { "parted" };
                figures.mistakes.push(format!(
                    "{what}: {} ({}) and {} ({})",
                    text(article, "url"),
                    text(article, "role"),
                    text(other, "url"),
                    text(other, "role")
                ));
            }
        }
    }
}

impl Figures {
    /// Articles of all sites.
    pub fn all_articles(&self) -> Tally {
        sum(&self.articles)
    }

    /// Pairs of all languages.
    pub fn all_pairs(&self) -> Tally {
        sum(&self.pairs)
    }

    /// The figures as lines.
    pub fn table(&self) -> String {
        let line = |name: &str, tally: &Tally| {
            let Tally { right, wrong, missed } = tally;
            let (p, r) = (tally.precision(), tally.recall());
            format!("{name:<32} {right:>6} {wrong:>6} {missed:>6}  {p:>9.3} {r:>7.3}\n")
        };
        let mut lines = format!(
            "{:<32} {:>6} {:>6} {:>6}  {:>9} {:>7}\n",
            "", "right", "wrong", "missed", "precision", "recall"
        );
        for (site, tally) in &self.articles {
            lines += &line(&format!("articles {site}"), tally);
        }
        lines += &line("articles", &self.all_articles());
        lines += &line("titles", &self.titles);
        lines += &line("dates", &self.dates);
        lines += &line("authors", &self.authors);
        for (language, tally) in &self.pairs {
            lines += &line(&format!("pairs {language}"), tally);
        }
        lines += &line("pairs", &self.all_pairs());
        let (together, apart) = self.across;
        lines += &format!(
            "across languages: {together} of {} pairs of one event together, {} of different events\n",
            together + apart,
            self.across_wrong
        );
        lines
    }
}

fn sum(tallies: &BTreeMap<String, Tally>) -> Tally {
    let mut all = Tally::default();
    tallies.values().for_each(|tally| all.add(*tally));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn article(id: u64, url: &str, story: &str) -> Value {
        json!({"id": id, "site": "a.test", "url": url, "urls": [], "copy_of": null, "linked": ["front"],
            "event": 1, "story": story, "language": "en", "title": "A title", "author": "Some One",
            "published": "2026-11-16T08:13:00Z", "date_stated": "exact", "role": "own"})
    }

    #[test]
    fn rows_are_held_against_the_truth() {
        let mut copy = article(3, "http://a.test/3", "1-en");
        copy["copy_of"] = json!(1);
        let truth = json!({"sites": [{"site": "a.test", "answers": true}], "articles": [
            article(1, "http://a.test/1", "1-en"), article(2, "http://a.test/2", "2-en"), copy,
            article(4, "http://a.test/4", "1-en")]});
        let row = |url: &str, story: u64| {
            json!({"site": "a.test", "url": url, "story": story, "title": "A title",
                "published": "2026-11-16T09:13:00+01:00", "authors": ["Some One"]})
        };
        let found = [row("http://a.test/1?utm_source=x", 7), row("http://a.test/2", 7)];
        let figures = measure(&truth, &found);
        assert_eq!(figures.all_articles(), Tally { right: 2, wrong: 0, missed: 1 });
        assert_eq!(figures.all_pairs(), Tally { right: 0, wrong: 1, missed: 0 });
        assert_eq!((figures.dates.right, figures.authors.right, figures.titles.right), (2, 2, 2));
        let found =
            [row("http://a.test/1", 7), row("http://a.test/3", 7), row("http://a.test/x", 8)];
        let figures = measure(&truth, &found);
        assert_eq!(figures.all_articles(), Tally { right: 1, wrong: 2, missed: 2 });
    }

    #[test]
    fn times_are_read_with_their_zone() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2026-11-16T08:00:00+01:00"), Some(1_794_812_400));
        assert_eq!(seconds("2026-11-16T07:00:00.000Z"), Some(1_794_812_400));
        assert_eq!(seconds("nothing"), None);
    }
}
