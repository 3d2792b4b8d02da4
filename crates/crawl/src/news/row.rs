//! What is kept of an article.
//!
//! * [`Head`]: what ordering, filtering and recognising need; read for every article when the file is opened.
//! * [`Body`]: what is shown, its text and what it is compared by; read when it is wanted.
//! * [`Record`]: what stands in the file. A later record of the same document replaces an earlier one.

use argiope_news::Gist;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A page that shows the article: its own address first, then others of the same site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Page {
    /// The document.
    pub doc: u64,
    /// The last capture that was looked at, in milliseconds.
    pub last: i64,
    /// What title and text were then.
    pub print: u64,
}

/// What ordering, filtering and recognising need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// Its number: the document it was first seen as.
    pub doc: u64,
    pub pages: Vec<Page>,
    pub site: String,
    pub host: String,
    /// Published, else first seen; in milliseconds.
    pub time: i64,
    /// The capture it was first seen in.
    pub seen: i64,
    /// The capture in which it was last found changed.
    pub updated: Option<i64>,
    pub versions: u32,
    pub subject: Option<String>,
    pub language: Option<String>,
    /// The story, as it was when this was written; it may have been joined to another since, or the article
    /// moved.
    pub story: u64,
    pub words: u32,
    /// Its addresses, folded: without what does not tell articles apart.
    pub addresses: Vec<u64>,
    /// Its title, folded.
    pub title: u64,
    /// Rules that fit, by their numbers.
    pub rules: Vec<u32>,
}

/// How exactly it is known when an article appeared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Exact {
    Unknown,
    Guessed,
    /// A day without a time.
    Day,
    /// A time without a zone.
    Clock,
    Full,
}

impl Exact {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Exact::Unknown => "unknown",
            Exact::Guessed => "guessed",
            Exact::Day => "day",
            Exact::Clock => "clock",
            Exact::Full => "full",
        }
    }
}

/// What others say of an article.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hint {
    /// With time and zone.
    pub published: Option<i64>,
    pub updated: Option<i64>,
    /// About when, where that is all that is said.
    pub shown: Option<i64>,
    pub authors: Vec<String>,
    pub subject: Option<String>,
    pub section: Option<String>,
    /// How far the subject is to be believed; 0: there is none.
    pub weight: u8,
    pub summary: String,
    pub picture: Option<String>,
    /// The documents that say so; [`MANY`] where they are more than can be named.
    pub by: Vec<u64>,
}

/// Stands for any document: no document has this number.
pub(super) const MANY: u64 = u64::MAX;

/// What is shown of an article, and what it is compared by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Body {
    pub url: String,
    pub urls: Vec<String>,
    /// What the site calls itself on the page.
    pub source: Option<String>,
    pub title: String,
    pub summary: String,
    pub authors: Vec<String>,
    pub published: Option<i64>,
    /// The zone in which the page tells that, in minutes east of Greenwich.
    pub zone: Option<i16>,
    pub modified: Option<i64>,
    pub picture: Option<String>,
    pub section: Option<String>,
    /// How exactly `published` is known.
    pub exact: Exact,
    /// Whether its page allows to be quoted.
    pub quotable: bool,
    /// What others say; what counts of it stands above.
    pub hint: Hint,
    pub gist: Gist,
    /// The text, packed; rules look for their words there.
    pub text: Vec<u8>,
    /// The capture in which it first read so.
    pub since: i64,
    /// How it read before, the latest last; a few.
    pub past: Vec<Past>,
}

/// An earlier self of an article.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Past {
    /// The capture in which it first read so.
    pub since: i64,
    pub title: String,
    /// The text, packed.
    pub text: Vec<u8>,
}

/// What stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Record {
    /// An article, new or again.
    Article(Box<Head>),
    /// It is no more.
    Gone(u64),
    /// A story turned out to be another: its number, then that of the other.
    Joined(u64, u64),
    /// A rule was held against all articles of that time; these it fits.
    Rule { id: u32, docs: Vec<u64> },
    /// The end of a batch: how far the change log is read, partition by partition, and the sites whose earlier pages
    /// were taken in.
    Mark { read: BTreeMap<u16, u64>, taken: Vec<String> },
    /// What others say of pages that are no articles yet, by their addresses.
    Told(Vec<(u64, Hint)>),
    /// A page of an article is no more since then, or is there again.
    Lost(u64, Option<i64>),
    /// Articles belong to another story: the number of each, and the story's.
    Moved(Vec<(u64, u64)>),
}
