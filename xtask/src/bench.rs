//! Benchmarks: what a crawled page ([`crawl`]), a discovered URL ([`frontier`]), a page's reverse
//! links ([`links`]) and its words ([`search`]) cost, how quickly these are found, what more
//! workers are worth ([`fleet`]), what a filter costs ([`filters`]), what orders of visits gather ([`order`]), how
//! fresh the revisit policies keep a web ([`freshness`]), what ranks of millions of pages cost ([`rank`]) and what
//! they are worth to a search ([`quality`]), how well news are found and grouped ([`news`]), and what readers of
//! the pages and a crawl cost each other ([`web`]).
//!
//! Machines are noisy: the numbers that count are ratios of medians from one interleaved run.

pub mod crawl;
pub mod filters;
pub mod fleet;
pub mod freshness;
pub mod frontier;
pub mod links;
pub mod measure;
pub mod news;
pub mod order;
pub mod plot;
pub mod quality;
pub mod rank;
pub mod rivals;
pub mod search;
pub mod table;
pub mod topics;
pub mod web;
