//! What holds for any bytes at all.
#![allow(clippy::unwrap_used)]

use argiope_model::CanonicalUrl;
use argiope_parse::{
    Page, header_directives, is_sitemap, media_type, parse_html, parse_html_reader, parse_sitemap,
    parse_text, resolve,
};
use proptest::prelude::*;

/// Pieces that matter to the parser, to be put together in any order.
const PIECES: [&str; 56] = [
    "<",
    ">",
    "/",
    "\"",
    "'",
    "=",
    " ",
    "\n",
    "\r\n",
    "&",
    "&amp;",
    "&#x110000;",
    "&#",
    ";",
    "\0",
    "<a href=x>",
    "<a href='/y?z#f'",
    "</a>",
    "<a",
    " href=",
    " title='t'",
    " rel=nofollow",
    "<p>",
    "</p>",
    "<div class=c>",
    "<h1>",
    "</h2>",
    "<title>",
    "</title>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<svg>",
    "</svg>",
    "<foreignObject>",
    "</foreignObject>",
    "<math>",
    "<template>",
    "</template>",
    "<textarea>",
    "</textarea>",
    "<plaintext>",
    "<style>",
    "</style>",
    "<noscript>",
    "<base href=//h/>",
    "<meta charset=utf-16>",
    "<meta charset=gbk>",
    "<meta http-equiv=refresh content='0;url=",
    "<img alt=i>",
    "é京",
    "\u{a0}",
    "<html lang=de>",
];

/// The same for sitemaps and feeds.
const SITEMAP_PIECES: [&str; 44] = [
    "<",
    ">",
    "/",
    "'",
    "=",
    "\n",
    ":",
    "&",
    "&amp;",
    "&#x41;",
    "&#99999999999;",
    "é",
    "\u{feff}",
    "<?xml version='1.0' encoding='utf-16'?>",
    "<?",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE x [",
    "<urlset>",
    "<sitemapindex>",
    "</urlset>",
    "<rss>",
    "<feed xml:base='/b/'>",
    "<url>",
    "</url>",
    "<s:url>",
    "<sitemap>",
    "<loc>",
    "</loc>",
    "<s:loc>",
    "<image:image>",
    "</image:image>",
    "<lastmod>",
    "2026-01-31T10:00:00+01:00",
    "31 Jan 26",
    "<item>",
    "<entry>",
    "<link>",
    "<link href='/l' rel='alternate'/>",
    "<guid>",
    "http://h.test/",
    "www.h.test",
];

/// The promises of a page.
fn check(page: &Page) -> Result<(), TestCaseError> {
    prop_assert!(!page.text.contains("  ") && !page.text.contains("\n\n"));
    prop_assert!(!page.text.contains(" \n") && !page.text.contains("\n "));
    prop_assert!(!page.text.contains(['\0', '\r', '\t']));
    prop_assert_eq!(page.title.trim(), page.title.as_str());
    prop_assert!(!page.title.contains('\n'));
    for link in &page.links {
        prop_assert!(link.words.len() <= 512 && !link.words.contains('\n'));
        prop_assert!(!link.href.starts_with('#'));
    }
    let url = CanonicalUrl::parse("http://example.com/a/b?c").unwrap();
    let resolved = resolve(page, &url);
    prop_assert!(resolved.links.len() + resolved.malformed.len() <= page.links.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_page(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&parse_html(&bytes, None))?;
        parse_text(&bytes, None);
        media_type(None, &bytes, None);
        prop_assert_eq!(parse_html_reader(&*bytes, None).unwrap(), parse_html(&bytes, None));
    }

    #[test]
    fn any_markup_is_a_page(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40),
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        charset in prop::sample::select(&[None, Some("utf-8"), Some("big5"), Some("utf-16le")][..]),
    ) {
        let mut bytes = pieces.concat().into_bytes();
        for (at, byte) in noise {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let page = parse_html(&bytes, charset);
        check(&page)?;
        prop_assert_eq!(parse_html_reader(&*bytes, charset).unwrap(), page);
    }

    #[test]
    fn any_header_is_survived(header in "\\PC{0,40}", extension in "[a-z0-9]{0,5}") {
        let media = media_type(Some(&header), b"words", Some(&extension));
        prop_assert!(media.essence.contains('/'));
        prop_assert_eq!(media.essence.to_ascii_lowercase(), media.essence);
    }

    #[test]
    fn any_bytes_are_a_sitemap(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let base = CanonicalUrl::parse("https://example.com/a/b.xml").unwrap();
        is_sitemap(&bytes);
        parse_sitemap(&bytes, &base);
    }

    #[test]
    fn any_xml_is_a_sitemap(
        pieces in prop::collection::vec(prop::sample::select(&SITEMAP_PIECES[..]), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let base = CanonicalUrl::parse("https://example.com/a/b.xml").unwrap();
        let mut bytes = pieces.concat().into_bytes();
        bytes.truncate(cut.index(bytes.len() + 1));
        is_sitemap(&bytes);
        let sitemap = parse_sitemap(&bytes, &base);
        prop_assert!(sitemap.urls.len() <= bytes.len() && !sitemap.truncated);
    }

    #[test]
    fn directives_only_ever_forbid_more(
        value in "(noindex|none|[a-z]{1,4}|max-snippet|:|,|;| |argiope|é|0){0,12}",
        more in "\\PC{0,20}",
    ) {
        let one = header_directives([value.as_str()].into_iter(), "argiope");
        let both = header_directives([value.as_str(), more.as_str()].into_iter(), "argiope");
        prop_assert_eq!(both.and(one), both);
        prop_assert_eq!(one.and(one), one);
    }
}
