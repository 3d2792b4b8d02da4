//! From references as written to URLs.
//!
//! * What this is: every link of a page, joined to its base; those that are the same in all but
//!   their place on the page are one, with a count.
//! * Its place: `crawl` calls it after `parse_html`, with the URL the page was served under.
//! * Invariants: links to one URL stand together, URLs in the order they are first met; a
//!   reference is joined once however often it occurs (joining is the dearest step).
//! * What is not here: scope, filters and other decisions about the URLs (`frontier`).

use crate::page::Page;
use argiope_model::{CanonicalUrl, Link, LinkKind, UrlError};
use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The links of a page as URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Links to `http` and `https` URLs.
    pub links: Vec<Link>,
    /// Where each of them stands in the text first, see [`text_around`](crate::text_around).
    pub at: Vec<u32>,
    /// References that should have been such URLs and cannot be read as one.
    pub malformed: Vec<MalformedLink>,
}

/// A reference that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedLink {
    /// The reference as written.
    pub href: String,
    /// The words of the link.
    pub words: String,
    /// What is wrong with it.
    pub reason: UrlError,
}

/// Resolves the links of a page at `url`.
///
/// The page's `<base>` governs all of them, wherever it stands; one that is not an `http` or
/// `https` URL does not count. Other schemes (`mailto:`, `javascript:` …) are not links.
pub fn resolve(page: &Page, url: &CanonicalUrl) -> Resolved {
    let base = page.base.as_deref().and_then(|href| url.join(href).ok());
    let joiner = base.as_ref().unwrap_or(url).joiner();
    let encoding = Encoding::for_label(page.charset.as_bytes()).unwrap_or(UTF_8).output_encoding();
    let mut out = Resolved::default();
    let mut urls: Vec<CanonicalUrl> = Vec::new();
    let mut by_href: HashMap<&str, Option<usize>> = HashMap::with_capacity(page.links.len());
    let mut by_fingerprint: HashMap<u64, usize> = HashMap::with_capacity(page.links.len());
    let mut same: HashMap<(usize, LinkKind, bool, &str), usize> =
        HashMap::with_capacity(page.links.len());
    let mut met: Vec<(usize, Link, u32)> = Vec::with_capacity(page.links.len());
    for raw in &page.links {
        let href = without_fragment(&raw.href);
        let target = match by_href.entry(href) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(match join(&joiner, &encoded(href, encoding)) {
                Ok(Some(url)) => {
                    let fingerprint = url.fingerprint();
                    match by_fingerprint.get(&fingerprint) {
                        Some(&i) if urls[i] == url => Some(i),
                        _ => {
                            urls.push(url);
                            by_fingerprint.insert(fingerprint, urls.len() - 1);
                            Some(urls.len() - 1)
                        }
                    }
                }
                Ok(None) => None,
                Err(reason) => {
                    let (href, words) = (raw.href.clone(), raw.words.clone());
                    out.malformed.push(MalformedLink { href, words, reason });
                    None
                }
            }),
        };
        let Some(target) = target else { continue };
        match same.entry((target, raw.kind, raw.nofollow, &raw.words)) {
            Entry::Occupied(known) => {
                let count = &mut met[*known.get()].1.count;
                *count = count.saturating_add(1);
            }
            Entry::Vacant(new) => {
                new.insert(met.len());
                let link = Link {
                    url: urls[target].clone(),
                    words: raw.words.as_str().into(),
                    kind: raw.kind,
                    nofollow: raw.nofollow,
                    count: 1,
                };
                met.push((target, link, raw.at));
            }
        }
    }
    met.sort_by_key(|(target, ..)| *target);
    out.at = met.iter().map(|(.., at)| *at).collect();
    out.links = met.into_iter().map(|(_, link, _)| link).collect();
    out
}

/// `Ok(None)`: a reference of another scheme.
fn join(joiner: &argiope_model::Joiner, href: &str) -> Result<Option<CanonicalUrl>, UrlError> {
    if scheme(href).is_some_and(|s| !is_web(s)) {
        return Ok(None);
    }
    match joiner.join(href) {
        Ok(url) => Ok(Some(url)),
        Err(UrlError::Scheme) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The reference with its query escaped in the encoding of the page, as its server expects it.
/// All other parts of a URL are UTF-8, whatever the page is.
fn encoded<'h>(href: &'h str, encoding: &'static Encoding) -> Cow<'h, str> {
    let query = match href.split_once('?') {
        Some((_, query)) if encoding != UTF_8 && !query.is_ascii() => query,
        _ => return Cow::Borrowed(href),
    };
    let mut out = href[..href.len() - query.len()].to_owned();
    for c in query.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        // A character the encoding does not have comes out as `&#…;`, escaped like the rest.
        for b in &*encoding.encode(c.encode_utf8(&mut [0; 4])).0 {
            if b.is_ascii_digit() { out.push(char::from(*b)) } else { out += &format!("%{b:02X}") }
        }
    }
    Cow::Owned(out)
}

/// The part that decides where a link leads.
fn without_fragment(href: &str) -> &str {
    href.split_once('#').map_or(href, |(before, _)| before)
}

/// What stands before the colon, if that has the form of a scheme.
fn scheme(href: &str) -> Option<&str> {
    let end = href.bytes().position(|b| !(b.is_ascii_alphanumeric() || b"+-.".contains(&b)))?;
    (end > 0 && href.as_bytes()[end] == b':' && href.as_bytes()[0].is_ascii_alphabetic())
        .then(|| &href[..end])
}

fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_html;

    fn found(html: &str) -> Vec<String> {
        let url = CanonicalUrl::parse("http://h.test/d/page.html").unwrap();
        let resolved = resolve(&parse_html(html.as_bytes(), None), &url);
        let links = resolved.links.iter().map(|l| {
            let no = if l.nofollow { " nofollow" } else { "" };
            let twice = if l.count == 2 { " twice" } else { "" };
            format!("{} {} [{}]{no}{twice}", l.kind.name(), l.url, l.words)
        });
        let malformed = resolved.malformed.iter().map(|m| format!("! {} {}", m.href, m.reason));
        links.chain(malformed).collect()
    }

    #[test]
    fn a_base_governs_the_links_before_it() {
        assert_eq!(
            found("<a href=x>1</a><base><base href='/b/'><base href='/c/'>"),
            ["a http://h.test/b/x [1]"]
        );
        assert_eq!(found("<base href='about:blank'><a href=x>1</a>"), ["a http://h.test/d/x [1]"]);
        assert_eq!(found("<base href='http://['><a href=x>1</a>"), ["a http://h.test/d/x [1]"]);
    }

    #[test]
    fn links_to_a_url_stand_together_each_with_its_words_and_their_number() {
        assert_eq!(
            found(
                "<link rel=canonical href=x><a href=y>y</a><a href=x rel=nofollow></a>
                 <a href='x#part'>words</a><a href='./x'>words</a><a href=y rel='A NoFollow'>"
            ),
            [
                "canonical http://h.test/d/x []",
                "a http://h.test/d/x [] nofollow",
                "a http://h.test/d/x [words] twice",
                "a http://h.test/d/y [y]",
                "a http://h.test/d/y [] nofollow",
            ]
        );
    }

    #[test]
    fn a_query_is_escaped_in_the_encoding_of_the_page() {
        assert_eq!(
            found("<meta charset=iso-8859-15><a href='/\u{20ac}?c=&euro;\u{e9}&#1078;'>"),
            ["a http://h.test/%C3%A2%C2%82%C2%AC?c=%A4%C3%A9%26%231078%3B []"],
            "the source is UTF-8 here, so its bytes are read as Latin letters"
        );
        assert_eq!(
            found("<meta charset=utf-8><a href='?c=é'>x"),
            ["a http://h.test/d/page.html?c=%C3%A9 [x]"]
        );
    }

    #[test]
    fn other_schemes_are_dropped_and_malformed_urls_are_told() {
        assert_eq!(
            found(
                "<a href='javascript:void(0)'>1</a><a href=mailto:a@b>2</a><a href='tel:1'>3</a>
                 <a href='data:text/html,x'>4</a><a href='ftp://[/'>5</a><a href='JavaScript: x'>6</a>
                 <a href='#top'>7</a><a href=' #'>8</a>"
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            found("<a href='http://[/'>x</a><a href='http://['>y</a>").len(),
            2,
            "each malformed reference is told once"
        );
        assert_eq!(found("<a href='page:x'>"), Vec::<String>::new());
        assert_eq!(found("<a href='a:b/../c?d:e' rel=nofollow>z</a>"), Vec::<String>::new());
    }
}
