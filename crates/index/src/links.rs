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
    /// A number that changes with the phrases; not with their order.
    pub(crate) fn digest(&self) -> u64 {
        let phrases = self.phrases.iter().take(LINK_PHRASES);
        let hashes = phrases.map(|(phrase, _)| xxhash_rust::xxh3::xxh3_64(phrase.as_bytes()));
        // Fast fields are small when their values are.
        hashes.fold(0u64, u64::wrapping_add) & 0xffff_ffff
    }

    /// Whether so many back-links are another order of magnitude than those.
    pub(crate) fn grown(&self, from: u64) -> bool {
        let (few, many) = (from.min(self.backlinks), from.max(self.backlinks));
        many >= 8 && many / 8 >= few.max(1)
    }
}

/// Who knows the links between pages.
pub trait Links: Sync {
    /// How each of these pages is linked to.
    fn linked_as(&self, pages: &[(DocId, UrlKey)]) -> Result<Vec<LinkedAs>, LinkError>;

    /// Shows where each of these pages links to, and in which words.
    fn links_of(
        &self,
        pages: &[UrlKey],
        each: &mut dyn FnMut(usize, UrlKey, &str),
    ) -> Result<(), LinkError>;

    /// The pages that link to a URL, for `link:`.
    fn linking_to(&self, url: &str) -> Result<Vec<DocId>, LinkError>;

    /// How these pages rank among all, as far as that is known: one is the average.
    fn ranks(&self, pages: &[DocId]) -> Vec<Option<f64>> {
        vec![None; pages.len()]
    }
}

/// Nobody knows of links.
pub struct NoLinks;

impl Links for NoLinks {
    fn linked_as(&self, pages: &[(DocId, UrlKey)]) -> Result<Vec<LinkedAs>, LinkError> {
        Ok(vec![LinkedAs::default(); pages.len()])
    }

    fn links_of(
        &self,
        _: &[UrlKey],
        _: &mut dyn FnMut(usize, UrlKey, &str),
    ) -> Result<(), LinkError> {
        Ok(())
    }

    fn linking_to(&self, _: &str) -> Result<Vec<DocId>, LinkError> {
        Err("the links between pages are not kept here".into())
    }
}
