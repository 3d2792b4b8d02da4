//! What is in these bytes.
//!
//! * What this is: the reading of a fetched body. Which media type and which character
//!   encoding it has; of an HTML page, its title, headings, visible text, language, links with
//!   their words and what it asks of robots, and the article in it; of a PDF the same, as far as it has them; of a
//!   sitemap, its URLs; of a feed, its entries.
//! * Its place: `crawl` calls it with bytes and a `Content-Type`; it calls nobody but `model`.
//!   It does no I/O of its own and reads no clock: equal bytes give an equal [`Page`].
//! * A page in one pass: [`media_type`] says whether to parse at all; [`parse_html`] decides the
//!   encoding, runs the tokenizer once and collects everything; [`resolve()`] then turns the raw
//!   links into URLs, at the end because a `<base>` governs the links before it too.
//! * Invariants: no input makes it fail or panic; memory is bounded by the body in
//!   [`parse_html`] and by fixed limits in [`parse_html_reader`]; every text is valid UTF-8.
//! * What is not here: a document tree (save in `article`), scripts (nothing is executed: `<noscript>` is markup
//!   like any other), and the decision which links to follow (`frontier`).
//!
//! ```
//! use argiope_model::CanonicalUrl;
//! let page = argiope_parse::parse_html(b"<title>Hi</title><a href=/b>to <b>b</b></a>", None);
//! let here = CanonicalUrl::parse("http://example.com/a").unwrap();
//! let found = argiope_parse::resolve(&page, &here);
//! assert_eq!(page.title, "Hi");
//! assert_eq!(found.links[0].url.as_str(), "http://example.com/b");
//! assert_eq!(&*found.links[0].words, "to b");
//! ```

mod around;
mod article;
mod beside;
mod boxes;
mod charset;
mod collect;
mod current;
mod date;
mod directives;
mod emit;
mod extension;
mod extract;
mod feed;
mod fold;
mod group;
mod language;
mod mime;
mod opml;
mod outline;
mod page;
mod pdf;
mod prescan;
mod refresh;
mod resolve;
mod sitemap;
mod sniff;
mod tag;
mod xml;

pub use article::{Article, Sure, When, parse_article, parse_known_article};
pub use beside::text_around;
pub use boxes::without_boxes;
pub use directives::{header_directives, meta_directives};
pub use extension::default_skip_extensions;
pub use feed::{Enclosure, Feed, FeedEntry, FeedKind, FeedTime, parse_feed, read_date};
pub use group::{is_wanted, type_group};
pub use mime::MediaType;
pub use opml::{Opml, OpmlEntry, parse_opml, web_url, write_opml};
pub use outline::{Outline, OutlineNode, parse_outline};
pub use page::{Heading, Page, RawLink, RobotsTag, parse_html, parse_html_reader, parse_text};
pub use pdf::{NoText, parse_pdf};
pub use resolve::{MalformedLink, Resolved, resolve};
pub use sitemap::{Sitemap, SitemapKind, SitemapNews, SitemapUrl, is_sitemap, parse_sitemap};
pub use sniff::media_type;

/// The version of what this crate extracts. It is kept with every extracted text, so that a
/// better parser is not mistaken for a changed page.
pub const PARSER_VERSION: u16 = 1;
