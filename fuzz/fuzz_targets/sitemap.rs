//! Sitemaps: any bytes are one, and list no more than they hold.
#![no_main]

use argiope_model::CanonicalUrl;
use argiope_parse::{is_sitemap, parse_sitemap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let base = CanonicalUrl::parse("https://example.com/a/sitemap.xml").expect("a literal URL");
    let sitemap = parse_sitemap(data, &base);
    assert!(sitemap.urls.len() <= data.len());
    is_sitemap(data);
});
