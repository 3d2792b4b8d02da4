//! A made-up web: the n-th URL is always the same, so none has to be kept.

use argiope_model::{CanonicalUrl, Suffixes, UrlKey};
use std::fmt::Write;
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// Links on a page; new ones among them, in halves; of the others, those seen lately.
pub const LINKS: u64 = 62;
const NEW_IN_TWO_PAGES: u64 = 13;
const SEEN_LATELY: f64 = 0.9;
/// How far back "lately" goes.
const LATELY: u64 = 500_000;

pub struct Corpus {
    hosts: u64,
    suffixes: Suffixes,
    state: u64,
    text: String,
    /// URLs handed out so far.
    pub known: u64,
}

/// A link on a page.
pub enum Link {
    /// Never seen.
    New(u64),
    /// Seen lately.
    Late(u64),
    /// Seen so long ago that only the store knows.
    Old(u64),
}

fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let n = (n ^ (n >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    n ^ (n >> 32)
}

impl Corpus {
    pub fn new(urls: u64, seed: u64) -> Self {
        let suffixes = Suffixes::built_in();
        Corpus { hosts: (urls / 50).max(1), suffixes, state: seed, text: String::new(), known: 0 }
    }

    pub fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random() % n.max(1)
    }

    /// The text of the n-th URL. The cube of an even spread makes few hosts large.
    pub fn text(&mut self, n: u64) -> &str {
        let r = mix(n);
        let even = (r >> 11) as f64 / (1u64 << 53) as f64;
        let host = (self.hosts as f64 * even * even * even) as u64;
        self.text.clear();
        let (site, dir, slug) = (host / 2, r % 97, r >> 40);
        write!(self.text, "https://w{host}.site{site}.com/section-{dir}/{slug:x}/article-{n}.html")
            .expect("writing to memory cannot fail");
        &self.text
    }

    pub fn fingerprint(&mut self, n: u64) -> u64 {
        xxh3_64(self.text(n).as_bytes())
    }

    pub fn url(&mut self, n: u64) -> (CanonicalUrl, UrlKey) {
        self.text(n);
        let url = CanonicalUrl::parse(&self.text).expect("it is made to be one");
        let key = url.key(&self.suffixes);
        (url, key)
    }

    /// The links of the `page`-th page.
    pub fn links(&mut self, page: u64, out: &mut Vec<Link>) {
        let new = (page + 1) * NEW_IN_TWO_PAGES / 2 - page * NEW_IN_TWO_PAGES / 2;
        let before = self.known;
        out.clear();
        for n in 0..LINKS {
            if n < new {
                out.push(Link::New(self.known));
                self.known += 1;
            } else if self.below(1_000) < (SEEN_LATELY * 1_000.0) as u64 {
                let back = self.below(LATELY.min(before).max(1));
                out.push(Link::Late(before.saturating_sub(1 + back)));
            } else {
                let old = self.below(before);
                out.push(Link::Old(old));
            }
        }
    }
}

/// What making up the corpus costs per URL, so that it can be told apart.
pub fn cost_us(urls: u64, seed: u64) -> f64 {
    let mut corpus = Corpus::new(urls, seed);
    let mut links = Vec::new();
    let (begun, mut sum) = (Instant::now(), 0);
    for page in 0..5_000 {
        corpus.links(page, &mut links);
        for (at, link) in links.iter().enumerate() {
            let (Link::New(n) | Link::Late(n) | Link::Old(n)) = link;
            sum ^= corpus.fingerprint(*n);
            // As many as are not answered by the cache.
            if at < 12 {
                sum ^= corpus.url(*n).1.url;
            }
        }
    }
    assert_ne!(sum, 0);
    begun.elapsed().as_secs_f64() * 1e6 / corpus.known as f64
}
