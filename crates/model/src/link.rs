//! Links: where a page points, in which words, by which element.

use crate::CanonicalUrl;
use serde::{Deserialize, Serialize};

/// The element or header a link came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LinkKind {
    /// `<a href>`
    Anchor,
    /// `<area href>`
    Area,
    /// `<frame src>`
    Frame,
    /// `<iframe src>`
    Iframe,
    /// `<link rel=canonical>`
    Canonical,
    /// `<link rel=alternate>`
    Alternate,
    /// `<link rel=next>` and `<link rel=prev>`
    Sequence,
    /// `<meta http-equiv=refresh>`
    Refresh,
    /// The `Location` of a redirect.
    Redirect,
    /// A start URL of a job.
    Seed,
}

impl LinkKind {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anchor => "a",
            Self::Area => "area",
            Self::Frame => "frame",
            Self::Iframe => "iframe",
            Self::Canonical => "canonical",
            Self::Alternate => "alternate",
            Self::Sequence => "sequence",
            Self::Refresh => "refresh",
            Self::Redirect => "redirect",
            Self::Seed => "seed",
        }
    }
}

/// A link of a page, resolved: all that lead to one URL in the same words and the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where it points.
    pub url: CanonicalUrl,
    /// The words inside the element (or its `alt` and `title`), white space folded.
    pub words: Box<str>,
    /// The element it came from.
    pub kind: LinkKind,
    /// Whether it asks not to be followed (`rel=nofollow`).
    pub nofollow: bool,
    /// How often it stands on the page.
    pub count: u32,
}
