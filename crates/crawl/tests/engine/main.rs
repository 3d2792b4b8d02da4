//! The engine from outside: whole crawls over real sockets, against what is known to be true.
//!
//! One file a behaviour, one binary for all. Nothing leaves the machine; every port is 0; every
//! test is bounded in time.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod again;
mod answers;
mod caps;
mod collect;
mod collect_on;
mod control;
mod data_dir;
mod encodings;
mod exclude;
mod export;
mod filter;
mod forget;
mod import;
mod jobs;
mod killed;
mod limits;
mod manners;
mod news;
mod order;
mod politeness;
mod prune;
mod raw;
mod resume;
mod support;
mod texts;
mod truth;
mod verify;
mod words;
