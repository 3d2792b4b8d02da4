//! Benchmarks: what a crawled page ([`crawl`]) and a discovered URL ([`frontier`]) cost.
//!
//! Machines are noisy: the numbers that count are ratios of medians from one interleaved run.

pub mod crawl;
pub mod frontier;
pub mod measure;
pub mod rivals;
pub mod table;
