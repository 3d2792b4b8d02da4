//! Benchmarks: what a crawled page ([`crawl`]), a discovered URL ([`frontier`]) and a page's reverse
//! links ([`links`]) cost.
//!
//! Machines are noisy: the numbers that count are ratios of medians from one interleaved run.

pub mod crawl;
pub mod frontier;
pub mod links;
pub mod measure;
pub mod rivals;
pub mod table;
