//! The query language: from what somebody typed to a tree, or a sentence about the mistake.
//!
//! | written | means |
//! |---|---|
//! | `spider web` | pages with both words; where there are few, pages with some of them follow |
//! | `"spider web"` | the words side by side; `"spider web"~3` at most three places apart |
//! | `spider OR web` | one of the two words beside `OR`; `AND` may be written and changes nothing |
//! | `-web`, `+web` | without the word; with the word in any case |
//! | `( … )` | belongs together |
//! | `prefi*` | words that begin so |
//! | `word~`, `word~2` | words spelled nearly so: one or two letters apart |
//! | `site:example.org` | pages of a site or host and those below it |
//! | `intitle:word`, `inurl:word` | in the title, in the URL; a phrase may follow as well |
//! | `link:URL` | pages that link to the URL |
//! | `lang:en`, `type:pdf` | language, media type |
//! | `before:2024-05-31`, `after:2024` | last changed before a day; on it or after |
//! | `changed-before:`, `changed-after:` | the same |
//! | `first-seen:2024-05` | first seen on that day or after, `first-seen:2024-05..2024-07` between two |
//! | `first-seen-before:2024` | first seen before it |
//!
//! A day may be a moment as well: `after:2024-05-31T10:00`, `changed-after:"2 days ago"`.
//!
//! Signs inside words are no language: `std::vec`, `f(x)` and `C/C++` are looked for as words.

mod date;
mod parse;

pub use date::span_of;
pub(crate) use date::year_of;
pub(crate) use parse::{Filter, Node, Parsed, Scope, Sign, parse};

use std::fmt;

/// What is wrong with a query, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// A sentence.
    pub message: String,
    /// The character it is about, from 1.
    pub at: usize,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (character {})", self.message, self.at)
    }
}

impl std::error::Error for Mistake {}
