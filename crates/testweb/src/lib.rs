//! A made-up web, deterministic from a seed.
//!
//! * What this is: sites of readable pages about spiders' webs, gardens, stars and bread, linked
//!   in every way pages link, made on demand by hashing (seed, site, page). The same seed gives
//!   the same bytes on every machine.
//! * Its place: tests and simulations ask [`Web::respond`] in process; the demo and the
//!   benchmarks talk to [`serve()`] over sockets. It knows `model` and nobody else.
//! * How a page comes to be: a *place* names a path of a site; the *structure* says which places
//!   a page points to; the *page* writes them down as HTML between paragraphs of *prose*. The
//!   *truth* walks the structure, never the HTML, so that the two can be held against each other.
//! * Invariants: responding is pure; every page of a site is reachable from its `/` by `a`,
//!   `area`, `frame`, `iframe` and refresh links; every chain of redirects ends on a page.
//! * Pages change when they are told to ([`Web::next_edition`]), and only then.
//! * Beside it stands a news web, [`NewsWeb`], with twenty sites that write about the same events and others, and
//!   the truth about them.
//! * What is not here: servers that misbehave on the wire, and
//!   names in the DNS (sites are addresses, or `.test` names that the caller resolves).
//!
//! ```
//! use argiope_testweb::{Web, WebSpec};
//!
//! let web = Web::new(WebSpec::demo());
//! assert_eq!(web.respond(0, "/").status, 200);
//! assert!(web.expected_pages(0).len() >= web.spec().pages_per_site);
//! ```

mod connection;
mod draw;
mod file;
mod href;
mod news;
mod page;
mod place;
mod prose;
mod request;
mod serve;
mod spec;
mod structure;
mod tongue;
mod truth;
mod web;
mod words;

pub use news::{Lang, NewsHit, NewsServed, NewsSpec, NewsWeb, serve_news};
pub use serve::{Bind, Hit, ServeOptions, Served, serve};
pub use spec::WebSpec;
pub use truth::{Expected, Kind};
pub use web::{Response, Web};
