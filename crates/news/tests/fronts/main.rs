//! The headlines of made-up front pages: nearly all of them, and nearly nothing else.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod make;
mod old;
mod real;

use argiope_model::{CanonicalUrl, Suffixes, Time};
use argiope_news::{Learned, headlines};
use argiope_parse::parse_outline;
use std::collections::{BTreeMap, HashSet};

#[derive(Default)]
struct Count {
    right: usize,
    found: usize,
    wanted: usize,
    titles: usize,
}

impl Count {
    fn precision(&self) -> f64 {
        self.right as f64 / self.found.max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / self.wanted.max(1) as f64
    }
}

/// Counts over the pages of some seeds, by layout and by language.
fn measure(seeds: std::ops::Range<u64>) -> BTreeMap<String, Count> {
    let suffixes = Suffixes::built_in();
    let url = CanonicalUrl::parse("https://www.daily.example/").unwrap();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for seed in seeds {
        for layout in 0..make::LAYOUTS {
            let front = make::front(seed * 31 + layout as u64, layout);
            let page = parse_outline(front.html.as_bytes(), Some("utf-8"));
            let found =
                headlines(&page, &url, &suffixes, &Learned::default(), Time(1_794_830_400_000));
            let want: HashSet<(String, String)> = front
                .headlines
                .iter()
                .map(|(p, t)| (url.join(p).unwrap().to_string(), t.clone()))
                .collect();
            let want_urls: HashSet<&String> = want.iter().map(|(u, _)| u).collect();
            let right = found.iter().filter(|h| want_urls.contains(&h.url.to_string())).count();
            let titles = found
                .iter()
                .filter(|h| want.contains(&(h.url.to_string(), h.title.clone())))
                .count();
            for key in [
                format!("layout {layout:2}"),
                format!("language {}", front.language),
                "all".to_owned(),
            ] {
                let count = counts.entry(key).or_default();
                count.right += right;
                count.titles += titles;
                count.found += found.len();
                count.wanted += want_urls.len();
            }
        }
    }
    counts
}

#[test]
fn nearly_all_headlines_are_found_and_nearly_nothing_else() {
    let counts = measure(0..20);
    for (key, count) in &counts {
        println!(
            "{key:12} precision {:.3} recall {:.3} of {} headlines, {} titles right",
            count.precision(),
            count.recall(),
            count.wanted,
            count.titles
        );
    }
    for (key, count) in &counts {
        assert!(count.precision() >= 0.9, "{key}: precision {:.3}", count.precision());
        assert!(count.recall() >= 0.9, "{key}: recall {:.3}", count.recall());
        assert!(
            count.titles * 100 >= count.right * 97,
            "{key}: {} titles of {}",
            count.titles,
            count.right
        );
    }
}

#[test]
fn what_stands_around_a_headline_is_told() {
    let suffixes = Suffixes::built_in();
    let url = CanonicalUrl::parse("https://www.daily.example/").unwrap();
    let now = Time(1_794_830_400_000);
    // Cards with everything, cards that are one link, and cards with a label.
    for layout in [0, 2, 3, 7, 10, 11] {
        let (mut all, mut summaries, mut pictures, mut times, mut sections) = (0, 0, 0, 0, 0);
        for seed in 0..10 {
            let front = make::front(seed, layout);
            let page = parse_outline(front.html.as_bytes(), Some("utf-8"));
            for headline in headlines(&page, &url, &suffixes, &Learned::default(), now) {
                all += 1;
                summaries += usize::from(headline.summary.len() > headline.title.len() / 2);
                pictures += usize::from(headline.picture.is_some());
                times += usize::from(headline.time.is_some());
                sections += usize::from(!headline.section.is_empty());
                assert_ne!(headline.summary, headline.title);
            }
        }
        println!(
            "layout {layout}: {all} headlines, {summaries} summaries, {pictures} pictures, {times} times, {sections} sections"
        );
        let most = |n: usize| n * 10 >= all * 8;
        assert!(layout >= 7 || most(pictures), "pictures in layout {layout}");
        assert!(![0, 10].contains(&layout) || most(times), "times in layout {layout}");
        assert!(most(summaries), "summaries in layout {layout}");
        assert!(sections * 10 >= all * 6, "sections in layout {layout}");
    }
}
