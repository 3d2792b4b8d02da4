//! The words in which a path is described: what it takes, within which bounds, and what it answers.

use super::given::Given;
use crate::app::App;
use crate::failure::Failure;
use axum::response::Response;
use futures_util::future::BoxFuture;

/// How a path is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Query,
    Path,
    /// A field of the JSON body.
    Body,
    Header,
}

/// Characters of a cursor: it holds a URL at most, and what captures are collapsed by.
pub(crate) const LONGEST_CURSOR: usize = 6_000;

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// So many characters, control characters not among them.
    Text(usize, usize),
    /// A whole number between two.
    Number(u64, u64),
    /// A number of seconds up to this many.
    Seconds(u32),
    /// One of these.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A time: `2026-01-31`, `2026-01-31T12:00:00Z`, 14 digits, or `yesterday`.
    Moment,
    /// 4 to 14 digits.
    Digits,
    /// Where the answer before ended.
    Cursor,
    /// A document of so many characters, in lines.
    Document(usize),
    /// A URL that begins with `http://` or `https://`.
    Web,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub name: &'static str,
    pub about: &'static str,
    pub place: Place,
    pub kind: Kind,
    /// It must be there.
    pub needed: bool,
    /// So many of them may be; 1 where it is no list.
    pub most: usize,
    /// What holds where it is not there, as it is described.
    pub default: Option<&'static str>,
}

impl Param {
    /// In the query, not needed.
    pub const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        let place = Place::Query;
        Param { name, about, place, kind, needed: false, most: 1, default: None }
    }

    pub const fn needed(self) -> Self {
        Param { needed: true, ..self }
    }

    pub const fn at(self, place: Place) -> Self {
        Param { place, ..self }
    }

    pub const fn many(self, most: usize) -> Self {
        Param { most, ..self }
    }

    pub const fn default(self, value: &'static str) -> Self {
        Param { default: Some(value), ..self }
    }
}

/// What a path answers with 200.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// `{"rows": [row], "next", …}`: the fields of a row, and those beside the rows.
    Rows(&'static str, &'static str),
    /// A JSON object of these fields.
    Object(&'static str),
    /// OpenSearch suggestions.
    Suggestions,
    /// Any of these types, not JSON.
    Types(&'static [&'static str]),
    /// No 200: a redirection.
    Elsewhere,
}

/// What is done.
pub(crate) type Act = for<'a> fn(&'a App, Given) -> BoxFuture<'a, Result<Response, Failure>>;

/// A path.
pub(crate) struct Endpoint {
    pub verb: Verb,
    /// As it is described: `/api/jobs/{id}/{action}`.
    pub path: &'static str,
    /// As the router has it; empty where `live` answers.
    pub route: &'static str,
    pub about: &'static str,
    pub params: &'static [Param],
    pub answer: Answer,
    /// Statuses of failures beside those that every path has.
    pub failures: &'static [u16],
    /// Parameters that are not described are left alone, not refused: other tools have more than we.
    pub lenient: bool,
    /// Reading it needs the token everywhere: we fetch on behalf of who asks.
    pub guarded: bool,
    pub act: Act,
}
