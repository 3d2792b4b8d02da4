//! Does a job want this URL, or what it answered?
//!
//! * What this is: filters. A [`Rule`] is a tree of `all`, `any` and `not` over rules on the URL
//!   (domain, prefix, suffix, protocol, regex, depth of the path, parameters of the query, a script)
//!   and on its answer (type, size, language). [`Filter`] is a rule made ready: domains in hash sets,
//!   all expressions of a filter in one automaton, scripts compiled once.
//! * Its place: `cli` reads rules from the user's files and puts them, whole, into the text of a job
//!   ([`Saved`]); `crawl` makes filters of those texts and asks them. This crate knows neither files
//!   nor jobs: a script comes as its text, a list of domains as names.
//!
//! # What is known, and when
//!
//! A rule says yes, no, or that it cannot know yet ([`Verdict`]): the URL is known from the start,
//! a declared type and length with the head of the answer, the language with its body. The three
//! are joined as Kleene did it:
//!
//! ```text
//!   all   no, if one says no; else unknown, if one is unknown; else yes
//!   any   yes, if one says yes; else unknown, if one is unknown; else no
//!   not   yes for no, no for yes, unknown for unknown
//! ```
//!
//! Only a no refuses. What is unknown passes and is asked again when more is known; with the whole
//! answer at hand nothing is unknown. A yes or a no never changes as more becomes known, so
//! that a page is refused as early as it can be and never too early.
//!
//! # Invariants
//!
//! * A verdict depends on the filter's text, the URL and what is known of the answer, on nothing else:
//!   every worker of a fleet and every run judge alike.
//! * A script that fails refuses, wherever in the filter it stands, under a `not` too: what is not
//!   asked for can be asked for later, the reverse cannot be undone.
//! * Checking a URL against many domains costs as much as against few.

mod compile;
mod facts;
mod judge;
mod leaf;
mod rule;
mod saved;
mod script;

pub use compile::{Expression, Filter, Problem, check_regex};
pub use facts::Known;
pub use judge::{Explanation, Judgement, Verdict};
pub use rule::Rule;
pub use saved::{Saved, SavedError};
pub use script::{Failure, check_script};
