//! The forward links of a page as one blob: version, zstd frame, in it URL after URL, with each
//! the links that lead to it.
//!
//! Links hold URLs, never target DocIds: the target's partition alone gives those. References
//! that cannot be read as a URL follow the links. Versions 1 and 2 (without and with such
//! references) had the URL in each link, one link of a kind to a URL, and no counts.
//!
//! [`scan_links`] reads a blob without making a URL or a text of its own of any link: what
//! follows the change log reads every blob once and keeps nothing of it.

use crate::{StoreError, row::damaged};
use argiope_model::{CanonicalUrl, Link, LinkKind};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// The version that is written.
const VERSION: u8 = 3;

/// More than this is not a page's links but damage.
const MAX_BLOB: usize = 256 << 20;
/// So many unreadable references of a page are kept, and so much of each.
const MAX_MALFORMED: usize = 100;
const MAX_TEXT: usize = 2_000;

/// Everything a page refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLinks {
    /// Its links.
    pub links: Vec<Link>,
    /// References that should have been links.
    pub malformed: Vec<MalformedLink>,
}

/// A reference that cannot be read as a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MalformedLink {
    /// As it is written.
    pub href: Box<str>,
    /// The words of the link.
    pub words: Box<str>,
    /// What is wrong with it.
    pub reason: Box<str>,
}

/// A link, as it lies in its blob.
#[derive(Clone, Copy, Debug)]
pub struct LinkRef<'a> {
    /// The text of its canonical URL.
    pub url: &'a str,
    /// Its words.
    pub words: &'a str,
    /// The element it came from.
    pub kind: LinkKind,
    /// Whether it asks not to be followed.
    pub nofollow: bool,
    /// How often it stands on the page.
    pub count: u32,
}

/// A link as versions 1 and 2 have it.
#[derive(Deserialize)]
struct OldLink<'a> {
    url: &'a str,
    words: &'a str,
    kind: LinkKind,
    nofollow: bool,
}

/// One of the links to a URL.
#[derive(Serialize, Deserialize)]
struct Way<'a> {
    words: &'a str,
    kind: LinkKind,
    nofollow: bool,
    count: u32,
}

thread_local! {
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> =
        const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        const { RefCell::new(None) };
}

/// Makes the blob of a page without unreadable references.
pub fn encode_links(links: &[Link]) -> Vec<u8> {
    encode_page_links(links, &[])
}

/// Makes the blob of a page. Of very many or very long unreadable references the first and the
/// beginning are kept.
pub fn encode_page_links(links: &[Link], malformed: &[MalformedLink]) -> Vec<u8> {
    let cut = |text: &str| {
        let end = (0..=MAX_TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        text[..end.unwrap_or(0)].into()
    };
    let kept: Vec<MalformedLink> = malformed
        .iter()
        .take(MAX_MALFORMED)
        .map(|m| MalformedLink {
            href: cut(&m.href),
            words: cut(&m.words),
            reason: m.reason.clone(),
        })
        .collect();
    // URLs that stand together are written once.
    let mut targets: Vec<(&str, Vec<Way<'_>>)> = Vec::new();
    for same in links.chunk_by(|a, b| a.url == b.url) {
        let mut ways = Vec::with_capacity(same.len());
        for Link { words, kind, nofollow, count, .. } in same {
            ways.push(Way { words, kind: *kind, nofollow: *nofollow, count: *count });
        }
        targets.push((same[0].url.as_str(), ways));
    }
    packed(VERSION, &postcard::to_stdvec(&(targets, kept)).expect(IN_MEMORY))
}

const IN_MEMORY: &str = "writing to memory cannot fail";

fn packed(version: u8, plain: &[u8]) -> Vec<u8> {
    let frame = COMPRESSOR.with_borrow_mut(|slot| {
        let compressor =
            slot.get_or_insert_with(|| zstd::bulk::Compressor::new(1).expect("level 1 exists"));
        compressor.compress(plain).expect("compressing in memory cannot fail")
    });
    let mut out = Vec::with_capacity(1 + frame.len());
    out.push(version);
    out.extend_from_slice(&frame);
    out
}

/// Unpacks a blob into `plain` and says its version.
fn unpack(blob: &[u8], plain: &mut Vec<u8>) -> Result<u8, StoreError> {
    let Some((&version, frame)) = blob.split_first() else {
        return Err(damaged("links", "empty"));
    };
    if version > VERSION {
        return Err(StoreError::Newer { found: version, known: VERSION });
    }
    let length = zstd::zstd_safe::get_frame_content_size(frame);
    let length = length.ok().flatten().and_then(|n| usize::try_from(n).ok());
    let length = length.filter(|n| *n <= MAX_BLOB).ok_or_else(|| damaged("links", "no length"))?;
    plain.clear();
    plain.reserve(length);
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor =
            slot.get_or_insert_with(|| zstd::bulk::Decompressor::new().expect("memory for it"));
        decompressor.decompress_to_buffer(frame, plain).map_err(|e| damaged("links", e))
    })?;
    Ok(version)
}

/// Reads the links of a blob back.
pub fn decode_links(blob: &[u8]) -> Result<Vec<Link>, StoreError> {
    Ok(decode_page_links(blob)?.links)
}

/// Reads a blob back.
pub fn decode_page_links(blob: &[u8]) -> Result<PageLinks, StoreError> {
    let mut plain = Vec::new();
    let mut links: Vec<Link> = Vec::new();
    let mut unfit = None;
    let bad = |e| damaged("links", e);
    let version = unpack(blob, &mut plain)?;
    let rest = read_links(version, &plain, |link| {
        let url = match links.last() {
            Some(last) if last.url.as_str() == link.url => Ok(last.url.clone()),
            _ => CanonicalUrl::parse(link.url),
        };
        match url {
            Ok(url) => links.push(Link {
                url,
                words: link.words.into(),
                kind: link.kind,
                nofollow: link.nofollow,
                count: link.count,
            }),
            Err(e) => unfit = Some(e),
        }
    })?;
    if let Some(e) = unfit {
        return Err(damaged("links", e));
    }
    let malformed = match version {
        1 => Vec::new(),
        _ => postcard::from_bytes(rest).map_err(bad)?,
    };
    Ok(PageLinks { links, malformed })
}

/// Shows every link of an unpacked blob; what follows them is left.
fn read_links<'p>(
    version: u8,
    plain: &'p [u8],
    mut each: impl FnMut(LinkRef<'p>),
) -> Result<&'p [u8], StoreError> {
    let bad = |e| damaged("links", e);
    let (count, mut rest) = postcard::take_from_bytes::<usize>(plain).map_err(bad)?;
    for _ in 0..count {
        if version < 3 {
            let (old, after) = postcard::take_from_bytes::<OldLink>(rest).map_err(bad)?;
            let OldLink { url, words, kind, nofollow } = old;
            each(LinkRef { url, words, kind, nofollow, count: 1 });
            rest = after;
            continue;
        }
        let (url, after) = postcard::take_from_bytes::<&str>(rest).map_err(bad)?;
        let (ways, after) = postcard::take_from_bytes::<usize>(after).map_err(bad)?;
        rest = after;
        for _ in 0..ways {
            let (way, after) = postcard::take_from_bytes::<Way>(rest).map_err(bad)?;
            let Way { words, kind, nofollow, count } = way;
            each(LinkRef { url, words, kind, nofollow, count });
            rest = after;
        }
    }
    Ok(rest)
}

/// Shows every link of a blob in turn and says how many references cannot be read; `plain` is
/// room to unpack it, best used again.
pub fn scan_links(
    blob: &[u8],
    plain: &mut Vec<u8>,
    each: impl FnMut(LinkRef<'_>),
) -> Result<usize, StoreError> {
    let version = unpack(blob, plain)?;
    let rest = read_links(version, plain, each)?;
    match version {
        1 => Ok(0),
        _ => Ok(postcard::take_from_bytes::<usize>(rest).map_err(|e| damaged("links", e))?.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::CanonicalUrl;

    fn links() -> Vec<Link> {
        let link = |url: &str, words: &str, nofollow| Link {
            url: CanonicalUrl::parse(url).unwrap(),
            words: words.into(),
            kind: LinkKind::Area,
            nofollow,
            count: 1,
        };
        vec![
            link("http://a.test/x?y=1", "the words", true),
            Link { count: 7, ..link("http://a.test/x?y=1", "other words", false) },
            link("https://b.test/", "", false),
        ]
    }

    fn malformed(href: &str) -> MalformedLink {
        MalformedLink { href: href.into(), words: "w".into(), reason: "no host".into() }
    }

    #[test]
    fn links_survive_their_blob_and_damage_is_told() {
        let links = links();
        let blob = encode_links(&links);
        assert_eq!(decode_links(&blob).unwrap(), links);
        assert!(decode_links(&blob[..blob.len() - 1]).is_err());
        assert!(decode_links(&[]).is_err() && decode_links(&[1]).is_err());
        assert!(decode_links(&[9, 1, 2]).unwrap_err().to_string().contains("newer"));
    }

    #[test]
    fn unreadable_references_are_kept_beside_the_links() {
        let links = links();
        let bad = [malformed("http://["), malformed("http://x:y/")];
        let blob = encode_page_links(&links, &bad);
        assert_eq!(blob[0], 3);
        let want = PageLinks { links: links.clone(), malformed: bad.to_vec() };
        assert_eq!(decode_page_links(&blob).unwrap(), want);
        assert_eq!(decode_links(&blob).unwrap(), links);
        let many = vec![malformed(&"é".repeat(3_000)); 300];
        let kept = decode_page_links(&encode_page_links(&[], &many)).unwrap().malformed;
        assert_eq!((kept.len(), kept[0].href.len()), (MAX_MALFORMED, MAX_TEXT));
    }

    #[test]
    fn a_scan_shows_what_decoding_gives() {
        let (links, bad) = (links(), [malformed("http://[")]);
        let mut plain = Vec::new();
        for malformed in [&bad[..], &[]] {
            let blob = encode_page_links(&links, malformed);
            let mut seen = Vec::new();
            let unreadable = scan_links(&blob, &mut plain, |link| {
                let url = CanonicalUrl::parse(link.url).unwrap();
                let (words, kind, nofollow) = (link.words.into(), link.kind, link.nofollow);
                seen.push(Link { url, words, kind, nofollow, count: link.count });
            });
            assert_eq!((unreadable.unwrap(), &seen), (malformed.len(), &links));
        }
        assert!(scan_links(&[2, 40, 181], &mut plain, |_| {}).is_err());
    }
}
