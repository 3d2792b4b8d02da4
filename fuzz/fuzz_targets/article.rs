//! Articles: any bytes are a page that may hold one.
//!
//! Input: a byte that chooses the label of the header and whether there is a URL, then the body.
#![no_main]

use argiope_model::{CanonicalUrl, Time};
use argiope_parse::parse_article;
use libfuzzer_sys::fuzz_target;

/// 2026-11-16.
const NOW: Time = Time(1_794_787_200_000);

fuzz_target!(|data: &[u8]| {
    let Some((&choice, body)) = data.split_first() else { return };
    let label = match choice % 4 {
        0 => Some("gb18030"),
        1 => Some("utf-8"),
        _ => None,
    };
    let url = CanonicalUrl::parse("http://example.com/2026/01/31/a").expect("a literal URL parses");
    let article = parse_article(body, label, (choice >= 128).then_some(&url), NOW);
    assert!(!article.text.contains("  ") && !article.text.contains("\n\n"));
    assert!(!article.title.contains('\n') && !article.summary.contains('\n'));
    assert!(article.authors.len() <= 400);
    for when in [article.published, article.modified].into_iter().flatten() {
        assert!(when.time.0 < NOW.0 + 2 * 86_400_000);
    }
});
