//! Benchmarks: what a crawled page ([`crawl`]), a discovered URL ([`frontier`]), a page's reverse
//! links ([`links`]) and its words ([`search`]) cost, how quickly these are found, and what more
//! workers are worth ([`fleet`]).
//!
//! Machines are noisy: the numbers that count are ratios of medians from one interleaved run.

pub mod crawl;
pub mod fleet;
pub mod frontier;
pub mod links;
pub mod measure;
pub mod rivals;
pub mod search;
pub mod table;
