//! Pages: any bytes are one, read whole or in a stream, and keep the promises of a page.
//!
//! Input: a byte that chooses the label of the header, then the body.
#![no_main]

use argiope_model::CanonicalUrl;
use argiope_parse::{Page, media_type, meta_directives, parse_html, parse_html_reader, resolve};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, body)) = data.split_first() else { return };
    let label = match choice % 8 {
        0 => Some("utf-16le"),
        1 => Some("gb18030"),
        2 => Some("iso-2022-jp"),
        3 => Some("utf-8"),
        _ => None,
    };
    let page = parse_html(body, label);
    check(&page);
    let streamed = parse_html_reader(body, label).expect("memory can be read");
    // A stream shows only its first bytes when the encoding is guessed.
    if page.charset == streamed.charset {
        assert_eq!(page, streamed);
    } else {
        assert!(body.len() > 64 << 10);
    }
    media_type(None, body, None);
});

fn check(page: &Page) {
    let text = &page.text;
    assert!(!text.contains("  ") && !text.contains("\n\n"));
    assert!(!text.contains(" \n") && !text.contains("\n ") && !text.contains(['\0', '\r', '\t']));
    assert_eq!(page.title.trim(), page.title);
    assert!(!page.title.contains('\n') && !page.description.contains('\n'));
    for link in &page.links {
        assert!(link.words.len() <= 512 && !link.words.contains('\n'));
        assert!(!link.href.starts_with('#'));
    }
    let url = CanonicalUrl::parse("http://example.com/a/b?c").expect("a literal URL parses");
    let resolved = resolve(page, &url);
    assert!(resolved.links.len() + resolved.malformed.len() <= page.links.len());
    meta_directives(&page.robots, "argiope");
}
