//! What a made-up web is made from: its seed and its proportions.
//!
//! A [`WebSpec`] is plain data; [`crate::Web::new`] raises counts that make no sense (no sites, no
//! pages) to one. Equal specs give equal webs.

/// The seed and the proportions of a made-up web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSpec {
    /// Where everything is derived from.
    pub seed: u64,
    /// How many sites there are.
    pub sites: usize,
    /// How many pages each site has, its front page included.
    pub pages_per_site: usize,
    /// The size of an average page; single pages have between half and one and a half of it,
    /// more where their links alone need more.
    pub mean_page_bytes: usize,
    /// Links from a page to places of its own site; navigation comes on top.
    pub links_per_page: usize,
    /// Links from a page to pages of other sites.
    pub cross_site_links: usize,
    /// Of a thousand links to a page, how many go through a redirect or a chain of them.
    pub redirects_per_mille: u32,
    /// Of a thousand further links, how many lead to nothing (404).
    pub broken_per_mille: u32,
    /// Of a thousand further links, how many lead to a file (`.pdf`, `.png`, `.zip`).
    pub files_per_mille: u32,
    /// Only ordinary pages: UTF-8 English, quoted relative links, no frames, maps, refreshes,
    /// malformed links, query strings or forbidden corners. The per-mille settings still hold.
    pub plain: bool,
}

impl WebSpec {
    /// A small web of every kind of page and link, for people to look at.
    pub fn demo() -> Self {
        WebSpec {
            seed: 1,
            sites: 12,
            pages_per_site: 60,
            mean_page_bytes: 8_000,
            links_per_page: 15,
            cross_site_links: 2,
            redirects_per_mille: 40,
            broken_per_mille: 20,
            files_per_mille: 40,
            plain: false,
        }
    }

    /// An even web for measuring: ordinary pages of 15 kB, nothing broken, nothing odd.
    pub fn bench(sites: usize, pages_per_site: usize) -> Self {
        WebSpec {
            sites,
            pages_per_site,
            mean_page_bytes: 15_000,
            links_per_page: 40,
            redirects_per_mille: 0,
            broken_per_mille: 0,
            files_per_mille: 0,
            plain: true,
            ..Self::demo()
        }
    }
}

impl Default for WebSpec {
    fn default() -> Self {
        Self::demo()
    }
}
