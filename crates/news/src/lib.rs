//! What is new.
//!
//! * What this is: the headlines of a front page, found by its structure; what a URL tells about
//!   what is behind it; recipes that say it for a site.
//! * Its place: the reading side calls it with pages and feeds that `parse` has read. It does no
//!   I/O and reads no clock: time comes as an argument.
//! * Invariants: equal pages give equal headlines; no page makes it fail or take long.
//! * What is not here: fetching, the text of articles (`parse`), and what is kept (`store`).

mod ago;
mod headlines;
mod hints;
mod learned;
mod letters;
mod recipe;
mod recipes;
mod rule_words;
mod service;
mod shape;
mod sites;
mod story;

pub use headlines::{Headline, headlines, is_popular_heading, without_tracking};
pub use hints::{FeedLink, PageKind, feed_links, is_feed_url, page_kind};
pub use learned::Learned;
pub use recipe::{ArticleRule, NoArticle, Part, Pattern, PatternError, Recipe, UrlParts};
pub use recipes::{common_recipe, front_pages, plain_front_pages, subject_of};
pub use rule_words::{QueryWords, RuleWords};
pub use service::is_service;
pub use shape::{UrlDate, dates_in_url, is_article_url, is_section_url, section_in_query};
pub use sites::{Sites, host_of, is_home, place};
pub use story::{Gist, Placed, Stories, gist};
