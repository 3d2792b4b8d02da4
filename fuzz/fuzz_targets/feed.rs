//! Feeds: any bytes are read or are none, and give no more than they hold.
#![no_main]

use argiope_model::CanonicalUrl;
use argiope_parse::{parse_feed, parse_outline};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let url = CanonicalUrl::parse("https://example.com/a/feed.xml").expect("a literal URL");
    if let Some(feed) = parse_feed(data, None, Some(&url)) {
        assert!(feed.entries.len() <= data.len());
    }
    parse_outline(data, None);
});
