//! Benchmarks: what a crawled page ([`crawl`]), a discovered URL ([`frontier`]), a page's reverse
//! links ([`links`]) and its words ([`search`]) cost, how quickly these are found, what more
//! workers are worth ([`fleet`]), what a filter costs ([`filters`]), what orders of visits gather ([`order`]), and how fresh the revisit policies keep a web ([`freshness`]).
//!
//! Machines are noisy: the numbers that count are ratios of medians from one interleaved run.

pub mod crawl;
pub mod filters;
pub mod fleet;
pub mod freshness;
pub mod frontier;
pub mod links;
pub mod measure;
pub mod order;
pub mod plot;
pub mod rivals;
pub mod search;
pub mod table;
pub mod topics;
