//! What other pages say of a page: asked through a trait, so that the index knows no graph.

use argiope_model::{DocId, UrlKey};

/// Phrases of links that are indexed with a page.
pub const LINK_PHRASES: usize = 20;

/// An error of whoever knows the links.
pub type LinkError = Box<dyn std::error::Error + Send + Sync>;

/// How a page is linked to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkedAs {
    /// Pages that link to it.
    pub backlinks: u64,
    /// The distinct words they use for it and how many use them, most used first; those beyond
    /// [`LINK_PHRASES`] are ignored.
    pub phrases: Vec<(String, u64)>,
}

impl LinkedAs {
    /// A number that changes when a page should be indexed again for its links: with the
    /// phrases, and when the back-links have grown or shrunk by about a half.
    pub(crate) fn digest(&self) -> u64 {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let size = (self.backlinks as f64 + 1.0).log2() * 1.7;
        hash.update(&(size.round() as u64).to_le_bytes());
        for (phrase, _) in self.phrases.iter().take(LINK_PHRASES) {
            hash.update(phrase.as_bytes());
            hash.update(&[0xff]);
        }
        // Fast fields are small when their values are.
        hash.digest() & 0xffff_ffff
    }
}

/// Who knows the links between pages.
pub trait Links: Sync {
    /// How each of these pages is linked to.
    fn linked_as(&self, pages: &[(DocId, UrlKey)]) -> Result<Vec<LinkedAs>, LinkError>;

    /// The pages that link to a URL, for `link:`.
    fn linking_to(&self, url: &str) -> Result<Vec<DocId>, LinkError>;
}

/// Nobody knows of links.
pub struct NoLinks;

impl Links for NoLinks {
    fn linked_as(&self, pages: &[(DocId, UrlKey)]) -> Result<Vec<LinkedAs>, LinkError> {
        Ok(vec![LinkedAs::default(); pages.len()])
    }

    fn linking_to(&self, _: &str) -> Result<Vec<DocId>, LinkError> {
        Err("the links between pages are not kept here".into())
    }
}
