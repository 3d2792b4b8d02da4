//! Which documents hold these words?
//!
//! * What this is: the word index of a data directory, on tantivy, as a follower of the store's
//!   change log; and everything that is asked of it: searches in a small language with ranking,
//!   snippets and suggestions, the places of a word, the dictionary.
//! * Its place: beside the crawl, in a thread of its own ([`Index`]), or in another process for
//!   those who only ask ([`View::open`]). It reads the store and the text blobs and writes
//!   nothing there; everything in its directory can be made again from them
//!   ([`Index::rebuild`]). What pages say of each other comes through [`Links`].
//! * A page's way: change log → latest capture → text blob → words with positions → tantivy →
//!   a commit that also says how far the change log is in it.
//! * What a word is: see `analyse`. One analysis serves pages and queries. A position is the
//!   place of a word in the page's visible text, from 1; stop words take their place and are
//!   not kept; title, headings, URL and link words are fields of their own.
//! * Invariants: a document stands in the index once; a commit is whole or not there; memory is
//!   bounded by a setting; any text as a query gives an answer or a sentence, in bounded time.
//! * What is not here: extraction of text (`parse`), links (`graph`), when to commit (the
//!   caller's: often costs much, seldom makes pages wait).
//!
//! ```
//! use argiope_archive::TextBlob;
//! use argiope_index::*;
//! use argiope_model::{CanonicalUrl, DocId, Location, Time};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let mut index = Index::open(&dir.path().join("index"), &Settings::default())?;
//! let text = TextBlob { text: "The spider writes.".into(), ..TextBlob::default() };
//! index.put(&Page {
//!     doc: DocId(4096),
//!     url: &CanonicalUrl::parse("http://example.org/")?,
//!     site: "example.org",
//!     text: &text,
//!     location: Location { segment: 1, offset: 0, length: 0 },
//!     mime: "text/html",
//!     bytes: 18,
//!     first_seen: Time(0),
//!     changed: Time(0),
//!     fetched: Time(0),
//!     from: Time(0),
//!     no_snippet: false,
//!     links: LinkedAs::default(),
//! })?;
//! index.commit()?;
//! let view = index.view();
//! assert_eq!(view.postings("spider")?[0].positions, [2]);
//! let answer = view.search("writing spiders", dir.path(), &NoLinks, &SearchOptions::default())?;
//! assert_eq!(answer.total, 1);
//! # Ok(())
//! # }
//! ```

mod analyse;
mod dictionary;
mod error;
mod heard;
mod index;
mod links;
mod near;
mod page;
mod past;
mod query;
mod rounds;
mod schema;
mod search;
mod settings;
mod snippet;
mod spelling;
mod texts;
mod versions;
mod view;

pub use analyse::{DEFAULT_STOP_WORDS, WordNumbers};
pub use dictionary::{Places, Posting, Word};
pub use error::IndexError;
pub use index::{Index, Progress, indexed_text, made_with};
pub use links::{LINK_PHRASES, LinkError, LinkedAs, Links, NoLinks};
pub use near::NearPage;
pub use page::Page;
pub use query::{Mistake, span_of};
pub use rounds::{Round, RoundOf};
pub use search::{Alike, Answer, Facets, Hit, SearchError, SearchOptions, Sort};
pub use settings::Settings;
pub use settings::Settings as IndexSettings;
pub use snippet::Snippet;
pub use versions::{Held, versions_of};
pub use view::{IndexSize, View};
