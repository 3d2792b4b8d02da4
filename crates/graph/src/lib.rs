//! Who links to whom?
//!
//! * What this is: reverse links as a follower of the store's change log: [`Graph`] reads which
//!   pages changed and turns their stored forward links round; a [`View`] of it answers who
//!   links to a URL and in which words, what is linked most, what is broken.
//! * Its place: beside the crawl, in a thread of its own or when somebody asks. It reads the
//!   store and writes nothing there; everything in its directory can be made again from the
//!   store ([`Graph::rebuild`]).
//! * What counts: a page counts once for each URL that its latest capture links to, by what a
//!   reader follows (`a`, `area`, `frame`, `iframe`), `nofollow` and links to itself included.
//!   Other references (canonical, alternate, redirect …) are listed and not counted. A page
//!   whose latest visit was given up links nowhere; one that is still being tried is as it was.
//! * Form: not a row per link, which would cost more than the page, but sorted *runs* of
//!   fingerprints and numbers, written when a buffer is full and merged into larger ones. Texts
//!   and words stay in the store's forward links.
//! * Invariants: counts are exact, also after `kill -9`: the manifest says how far the change
//!   log is in the runs, and the rest is read again. Memory is bounded by a setting.
//! * Rank ([`rank`]): what all links together say of a page or a site, made when asked for.
//! * What is not here: what to fetch (`frontier`).

mod buffer;
mod error;
mod graph;
mod keys;
mod manifest;
mod merge;
pub mod rank;
mod run;
mod source;
mod top;
mod varint;
mod view;

pub use error::GraphError;
pub use graph::{Graph, GraphSize, Progress, is_backlink};
pub use keys::{host_of, site_of};
pub use merge::Counts;
pub use top::By;
pub use view::{
    Broken, BrokenLink, Called, Edge, Incoming, IncomingLink, SourcePlace, View, links_of,
    outgoing, seen_so,
};
