//! Real pages that list articles, as far as the suites have some.
//!
//! The pages lie outside the repository, in the folder named by `ARGIOPE_SUITES` or in
//! `shared/suites` beside the checkout. Where they are not, the test says so and passes.

use argiope_model::{CanonicalUrl, Suffixes, Time};
use argiope_news::{Learned, headlines};
use argiope_parse::parse_outline;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

/// Pages, their addresses, and how many articles each lists; what their paths begin with.
const PAGES: [(&str, &str, usize, &[&str]); 3] = [
    ("0082", "https://nssa.stanford.edu/news", 10, &["/news/"]),
    (
        "0083",
        "https://www.cabletv.com/news",
        61,
        &["/news/", "/weekly-deals/", "/blog/", "/sports/", "/"],
    ),
    ("0260", "https://dlr.skift.com/issues/", 12, &["/20"]),
];

#[test]
fn real_lists_of_articles_give_their_headlines() {
    let folder = std::env::var_os("ARGIOPE_SUITES").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/suites")),
        PathBuf::from,
    );
    if !folder.is_dir() {
        println!("SKIPPED: suites not found at {}", folder.display());
        return;
    }
    for (number, address, count, paths) in PAGES {
        let file = folder.join(format!("pages/article-wcxb.html__dev-{number}.html.gz"));
        let mut body = Vec::new();
        let file = std::fs::File::open(file).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut body).unwrap();
        let url = CanonicalUrl::parse(address).unwrap();
        let page = parse_outline(&body, Some("utf-8"));
        let found = headlines(
            &page,
            &url,
            &Suffixes::built_in(),
            &Learned::default(),
            Time(1_794_830_400_000),
        );
        let urls: BTreeSet<_> = found.iter().map(|h| h.url.as_str()).collect();
        assert_eq!(urls.len(), found.len(), "{address}: each once");
        let right = found.iter().filter(|h| {
            h.url.host() == url.host() && paths.iter().any(|p| h.url.path().starts_with(p))
        });
        let right = right.count();
        println!("{address}: {right} right of {} found, {count} are there", found.len());
        assert!(right * 10 >= count * 9, "{address}: {right} of {count}");
        assert!(found.len() * 9 <= count * 10, "{address}: {} found", found.len());
        assert!(found.iter().all(|h| h.title.split_whitespace().count() >= 2), "{address}");
    }
}
