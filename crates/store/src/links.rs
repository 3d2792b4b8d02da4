//! The forward links of a page as one blob: version, zstd frame, links one after another.
//!
//! Links hold URLs, never target DocIds: the target's partition alone gives those.

use crate::{StoreError, row::damaged};
use argiope_model::Link;
use std::cell::RefCell;

const VERSION: u8 = 1;

/// More than this is not a page's links but damage.
const MAX_BLOB: usize = 256 << 20;

thread_local! {
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> =
        const { RefCell::new(None) };
}

/// Makes the blob.
pub fn encode_links(links: &[Link]) -> Vec<u8> {
    let plain = postcard::to_stdvec(links).expect("writing to memory cannot fail");
    let frame = COMPRESSOR.with_borrow_mut(|slot| {
        let compressor =
            slot.get_or_insert_with(|| zstd::bulk::Compressor::new(1).expect("level 1 exists"));
        compressor.compress(&plain).expect("compressing in memory cannot fail")
    });
    let mut out = Vec::with_capacity(1 + frame.len());
    out.push(VERSION);
    out.extend_from_slice(&frame);
    out
}

/// Reads the blob back.
pub fn decode_links(blob: &[u8]) -> Result<Vec<Link>, StoreError> {
    let Some((&version, frame)) = blob.split_first() else {
        return Err(damaged("links", "empty"));
    };
    if version > VERSION {
        return Err(StoreError::Newer { found: version, known: VERSION });
    }
    let plain = zstd::bulk::decompress(frame, MAX_BLOB).map_err(|e| damaged("links", e))?;
    postcard::from_bytes(&plain).map_err(|e| damaged("links", e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::{CanonicalUrl, LinkKind};

    #[test]
    fn links_survive_their_blob_and_damage_is_told() {
        let links = vec![Link {
            url: CanonicalUrl::parse("http://a.test/x?y=1").unwrap(),
            words: "the words".into(),
            kind: LinkKind::Area,
            nofollow: true,
        }];
        let blob = encode_links(&links);
        assert_eq!(decode_links(&blob).unwrap(), links);
        assert!(decode_links(&blob[..blob.len() - 1]).is_err());
        assert!(decode_links(&[]).is_err());
        assert!(decode_links(&[9, 1, 2]).unwrap_err().to_string().contains("newer"));
    }
}
