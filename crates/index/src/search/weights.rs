//! The weights of the ranking, frozen.
//!
//! They were set on the open relevance collection (`tests/relevance.rs` holds what they reach)
//! and on known pages of documentation sites; a change of one carries both figures before and
//! after.

/// How soon more of the same word counts no more.
pub(crate) const K1: f32 = 2.4;

/// What a word counts in a field: weight, and how much the field's length matters.
pub(crate) const BODY: (f32, f32) = (1.0, 0.75);
pub(crate) const TITLE: (f32, f32) = (0.8, 0.75);
pub(crate) const HEADINGS: (f32, f32) = (0.4, 0.75);
pub(crate) const ADDRESS: (f32, f32) = (0.3, 0.5);
pub(crate) const LINKS: (f32, f32) = (0.8, 0.5);
/// What another form of a word counts, beside the word itself.
pub(crate) const FORM: f32 = 1.0;
/// What a word counts more in the form that was typed.
pub(crate) const EXACT: f32 = 0.1;

/// What the rest adds, in parts of the score of the words.
pub(crate) const NEAR: f32 = 0.20;
pub(crate) const EARLY: f32 = 0.05;
pub(crate) const WHOLE_TITLE: f32 = 2.0;
pub(crate) const WHOLE_HEADING: f32 = 1.2;
pub(crate) const WHOLE_LINK: f32 = 1.2;
pub(crate) const BACKLINKS: f32 = 0.04;
pub(crate) const RANK: f32 = 0.06;
pub(crate) const FRESH: f32 = 0.5;

/// Results that are looked at closely.
pub(crate) const CLOSELY: usize = 100;
/// Below so many pages with all words, pages with some of them follow.
pub(crate) const FEW: u64 = 10;

/// What a weak word counts where some of the words are enough.
pub(crate) const WEAK: f32 = 0.05;

/// Whether a word is one that questions are made of and pages are not about. In a question as
/// it is spoken it may be rarer in pages than what is asked for.
pub(crate) fn is_weak(folded: &str) -> bool {
    matches!(
        folded,
        "about"
            | "all"
            | "also"
            | "am"
            | "any"
            | "anyone"
            | "been"
            | "being"
            | "between"
            | "both"
            | "can"
            | "could"
            | "did"
            | "do"
            | "does"
            | "done"
            | "each"
            | "far"
            | "from"
            | "get"
            | "give"
            | "given"
            | "had"
            | "has"
            | "have"
            | "he"
            | "her"
            | "his"
            | "how"
            | "i"
            | "its"
            | "like"
            | "made"
            | "make"
            | "many"
            | "may"
            | "me"
            | "might"
            | "more"
            | "most"
            | "much"
            | "must"
            | "my"
            | "of"
            | "one"
            | "only"
            | "other"
            | "our"
            | "out"
            | "over"
            | "she"
            | "should"
            | "since"
            | "so"
            | "some"
            | "than"
            | "them"
            | "those"
            | "through"
            | "under"
            | "up"
            | "upon"
            | "us"
            | "very"
            | "we"
            | "were"
            | "what"
            | "when"
            | "where"
            | "whether"
            | "which"
            | "while"
            | "who"
            | "whom"
            | "whose"
            | "why"
            | "within"
            | "without"
            | "would"
            | "you"
            | "your"
    )
}
