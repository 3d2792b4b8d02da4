//! URLs: the canonical form of a canonical form is itself, however it came about.
//!
//! Input: a URL, and after a line feed a reference to join to it.
#![no_main]

use argiope_model::CanonicalUrl;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (first, second) = text.split_once('\n').unwrap_or((&text, ""));
    let home = CanonicalUrl::parse("https://example.com/a/b?c").expect("a literal URL parses");
    for url in [CanonicalUrl::parse(first), home.join(first)].into_iter().flatten() {
        check(&url);
        for joined in [url.join(second), url.joiner().join(first)].into_iter().flatten() {
            check(&joined);
        }
    }
});

fn check(url: &CanonicalUrl) {
    let again = CanonicalUrl::parse(url.as_str()).expect("a canonical URL parses");
    assert_eq!(&again, url, "canonical twice is canonical once");
    assert!(matches!(url.scheme(), "http" | "https"));
    assert!(!url.host().is_empty() && url.path().starts_with('/'));
    assert!(url.origin().ends_with(url.authority()));
    assert_eq!(format!("{}{}", url.origin(), url.path_and_query()), url.as_str());
    assert!(!url.as_str().contains('#') && url.as_str().is_ascii());
    let _ = (url.port(), url.extension(), url.fingerprint());
    for made in [url.without_query(), url.with_sorted_query()] {
        let again = CanonicalUrl::parse(made.as_str()).expect("what was made of a URL parses");
        assert_eq!(again, made, "what was made of a canonical URL is canonical");
    }
    let sorted = url.with_sorted_query();
    assert_eq!(sorted.with_sorted_query(), sorted, "sorted twice is sorted once");
}
