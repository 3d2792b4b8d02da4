//! The made-up web in process: its bytes, its links and its truth held against each other.
//!
//! The scan below is deliberately simple and knows nothing of how the pages are written.

use argiope_model::CanonicalUrl;
use argiope_testweb::{Expected, Kind, Web, WebSpec};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// The links of a page, resolved, as a simple reader sees them.
fn links(page: &CanonicalUrl, body: &[u8]) -> Vec<CanonicalUrl> {
    let html = String::from_utf8_lossy(body);
    let html = without(&without(&html, "<!--", "-->"), "<script>", "</script>");
    let mut base = page.clone();
    let mut references = Vec::new();
    for tag in html.split('<').skip(1) {
        let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
        match tag[..end].to_ascii_lowercase().as_str() {
            "a" | "area" => references.extend(value(tag, "href")),
            "frame" | "iframe" => references.extend(value(tag, "src")),
            "base" => {
                let href = value(tag, "href").expect("a base has an address");
                base = page.join(&href).expect("a base is a URL");
            }
            "meta" if value(tag, "http-equiv").as_deref() == Some("refresh") => {
                let content = value(tag, "content").expect("a refresh has content");
                let at = content.to_ascii_lowercase().find("url=").expect("and an address") + 4;
                references.push(content[at..].to_owned());
            }
            _ => {}
        }
    }
    references.iter().filter_map(|reference| base.join(reference).ok()).collect()
}

fn without(text: &str, open: &str, close: &str) -> String {
    let mut parts = text.split(open);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once(close).map_or("", |(_, after)| after));
    }
    kept
}

fn value(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let at = lower.find(&format!(" {name}"))? + 1 + name.len();
    let rest = tag[at..].trim_start().strip_prefix('=')?.trim_start();
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest.split([' ', '>']).next()?,
    };
    Some(value.replace("&amp;", "&"))
}

/// Crawls from the given URLs by HTML alone; every URL seen with its kind and its steps.
fn crawl(web: &Web, starts: Vec<CanonicalUrl>, stay: bool) -> BTreeMap<String, (Kind, u32)> {
    let mut found = BTreeMap::new();
    let allowed: HashSet<String> = starts.iter().map(|url| url.origin().to_owned()).collect();
    let mut open: VecDeque<_> = starts.into_iter().map(|url| (url, 0)).collect();
    while let Some((url, steps)) = open.pop_front() {
        if found.contains_key(url.as_str()) || (stay && !allowed.contains(url.origin())) {
            continue;
        }
        let response = web.respond_to(&url).expect("links lead to sites of this web");
        let (kind, next) = match response.status {
            _ if url.path().starts_with("/private/") => (Kind::Forbidden, Vec::new()),
            200 if response.header("Content-Type").is_some_and(|t| t.starts_with("text/html")) => {
                let variant = url.as_str().ends_with("from=menu");
                let kind = if variant { Kind::Variant } else { Kind::Page };
                (kind, links(&url, &response.body))
            }
            200 => (Kind::File, Vec::new()),
            404 => (Kind::Missing, Vec::new()),
            301 | 302 | 307 | 308 => {
                let location = response.header("location").expect("a redirect says where to");
                (Kind::Redirect, vec![url.join(location).expect("and that is a URL")])
            }
            status => panic!("{url} answered {status}"),
        };
        found.insert(url.as_str().to_owned(), (kind, steps));
        open.extend(next.into_iter().map(|url| (url, steps + 1)));
    }
    found
}

fn by_url(web: &Web, expected: &[Expected]) -> BTreeMap<String, (Kind, u32)> {
    let url = |e: &Expected| format!("{}{}", web.origin(e.site), e.path);
    expected.iter().map(|e| (url(e), (e.kind, e.steps))).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let web = Web::new(WebSpec::demo());
    let again = Web::new(WebSpec::demo());
    let other = Web::new(WebSpec { seed: 2, ..WebSpec::demo() });
    let mut differing = 0;
    for expected in web.expected_crawl(&[0]) {
        let response = web.respond(expected.site, &expected.path);
        assert_eq!(response, again.respond(expected.site, &expected.path));
        differing += usize::from(response != other.respond(expected.site, &expected.path));
    }
    assert!(differing > 600);
}

#[test]
fn walking_the_html_of_a_site_finds_exactly_the_expected_urls() {
    for plain in [false, true] {
        let web = Web::new(WebSpec { plain, pages_per_site: 300, sites: 4, ..WebSpec::demo() });
        for (site, start) in web.start_urls().into_iter().enumerate() {
            let expected = by_url(&web, &web.expected_urls(site));
            assert_eq!(crawl(&web, vec![start], true), expected);
        }
    }
}

#[test]
fn walking_the_html_across_sites_finds_exactly_the_expected_urls() {
    let web = Web::new(WebSpec::demo());
    let starts: Vec<_> = web.start_urls().drain(3..5).collect();
    assert_eq!(crawl(&web, starts, false), by_url(&web, &web.expected_crawl(&[3, 4])));
}

#[test]
fn every_page_of_every_site_is_expected() {
    let web = Web::new(WebSpec::demo());
    for site in 0..web.spec().sites {
        let pages = web.expected_pages(site);
        let count = pages.iter().filter(|page| page.kind == Kind::Page).count();
        assert_eq!(count, web.spec().pages_per_site);
        assert!(pages.iter().all(|page| page.depth <= page.steps));
        assert!(pages.is_sorted_by_key(|page| page.depth));
    }
}

#[test]
fn the_demo_has_every_kind_of_url_and_of_page() {
    let web = Web::new(WebSpec::demo());
    let all = web.expected_crawl(&[0]);
    let kinds: HashSet<Kind> = all.iter().map(|url| url.kind).collect();
    assert_eq!(kinds.len(), 6);
    let mut wanted: HashSet<&[u8]> = HashSet::from([
        b"<base ".as_slice(),
        b"<frame ",
        b"<iframe ",
        b"<area ",
        b"http-equiv=\"refresh\"",
        b"rel=\"next\"",
        b"mailto:",
        b"javascript:",
        b"http://[::1/",
        b"charset=\"iso-8859-1\"",
        b"charset=\"windows-1251\"",
        b"<table>",
        b"/never/",
    ]);
    for url in &all {
        let body = web.respond(url.site, &url.path).body;
        wanted.retain(|text| !body.windows(text.len()).any(|part| part == *text));
    }
    assert!(wanted.is_empty(), "{:?}", wanted.iter().map(|w| String::from_utf8_lossy(w)));
}

#[test]
fn every_chain_of_redirects_ends_on_a_page() {
    let web = Web::new(WebSpec { redirects_per_mille: 300, ..WebSpec::demo() });
    let redirects = web.expected_crawl(&[0]);
    for redirect in redirects.iter().filter(|url| url.kind == Kind::Redirect) {
        let start = format!("{}{}", web.origin(redirect.site), redirect.path);
        let mut url = CanonicalUrl::parse(&start).unwrap();
        let mut hops = 0;
        let last = loop {
            let response = web.respond_to(&url).unwrap();
            let Some(location) = response.header("location") else { break response };
            url = url.join(location).unwrap();
            hops += 1;
            assert!(hops <= 3, "{start} goes on and on");
        };
        assert!(hops >= 1 && last.status == 200, "{start}");
    }
}

#[test]
fn pages_are_about_as_long_as_asked_for() {
    let web = Web::new(WebSpec::bench(3, 200));
    let mut total = 0;
    for site in 0..3 {
        for page in web.expected_pages(site) {
            total += web.respond(site, &page.path).body.len();
        }
    }
    let mean = total / 600;
    assert!((13_500..16_500).contains(&mean), "{mean}");
}

#[test]
fn robots_forbid_the_private_corner_of_the_demo_only() {
    let body = |spec| Web::new(spec).respond(0, "/robots.txt").body;
    assert_eq!(body(WebSpec::demo()), "User-agent: *\nDisallow: /private/\n");
    assert_eq!(body(WebSpec::bench(1, 1)), "User-agent: *\nDisallow:\n");
}
