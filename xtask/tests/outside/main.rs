//! The product seen from outside: real sockets, real files, real processes.
//!
//! These tests know the binary's command line and nothing of its inside. `cargo xtask test` builds
//! the binary and names it in `ARGIOPE_BIN`; without that, or where a tool is missing, a test says
//! SKIPPED on standard error and passes (`ARGIOPE_NO_SKIP=1` turns that into a failure). All traffic
//! stays on loopback, ports come from the system, every wait has a limit. What needs public
//! addresses (`forbidden`) happens in a network of its own that leads nowhere.
//!
//! Larger runs: `ARGIOPE_SITES=openjdk-17-doc,rust-doc` (packages or folders), `ARGIOPE_REPEAT=100`
//! (crawls per site), `ARGIOPE_KILLS=20`, `ARGIOPE_KILL_PAGES=20000` or `ARGIOPE_KILL_SITE=git-doc`,
//! `ARGIOPE_SEED=7`, `ARGIOPE_EVERY=1` (the words of all links, after changes and kills too),
//! `ARGIOPE_KNOWN=10000` (titles and headings asked for per site), `ARGIOPE_QUERIES=10000` (odd ones).

mod again;
mod backlinks;
mod backup;
mod bad_input;
mod best;
mod bodies;
mod budgets;
mod certificates;
#[path = "../../../crates/store/tests/support/cluster.rs"]
mod cluster;
mod completeness;
mod copy;
mod documents;
mod exchange;
mod farm;
mod feed;
mod filters;
mod fleet;
mod fleet_metrics;
mod fleet_read;
mod fleet_together;
mod forbidden;
mod forget;
mod full_disk;
mod history;
mod hostile;
mod https;
mod interrupt;
mod kill;
mod known_items;
mod limits;
mod many_hosts;
mod names;
mod nameserver;
mod near;
mod news;
mod news_flags;
mod news_quick;
mod news_sites;
mod old_web;
mod operator;
mod patience;
mod politeness;
mod press;
mod prune;
mod rank;
mod readers;
mod rig;
mod robots;
mod search;
mod search_live;
mod search_past;
mod second_writer;
mod served;
mod sites;
mod slow_server;
mod sync_order;
mod terminal;
mod topic;
mod traces;
mod traps;
mod watched;
mod web;
mod web_api;
mod web_crawl;
mod web_news;
mod web_safety;
mod web_views;
