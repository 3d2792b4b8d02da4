//! The versions of a page: which there are, and what they say. The desk says which; the files are read here.

use crate::app::{Desk, heard};
use crate::failure::Failure;
use crate::words::text;
use argiope_crawl::{Question, Shelf, Versions};
use argiope_model::{CanonicalUrl, Capture};

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// All captures of a page, oldest first; none of one that was not fetched yet.
pub(crate) fn versions(desk: &dyn Desk, target: &str) -> Result<Versions, Failure> {
    let mut rows = heard(desk.ask(&Question::Versions(target.to_owned())))?.0.into_iter();
    let page = rows.next().ok_or_else(|| Failure::ours("nothing is said of the page"))?;
    let url = CanonicalUrl::parse(text(&page, "url"))
        .map_err(|_| Failure::ours(format!("{} is no URL", text(&page, "url"))))?;
    let captures = rows.map(serde_json::from_value).collect::<Result<Vec<Capture>, _>>();
    let captures = captures.map_err(|_| {
        Failure::ours(
            "the versions of the page cannot be read; is another version of Argiope at work?",
        )
    })?;
    Ok(Versions { url, captures })
}

/// Calls `act` with where the versions lie.
pub(crate) fn with_shelf<T>(desk: &dyn Desk, act: impl FnOnce(&Shelf<'_>) -> T) -> T {
    let captures_of = |url: &str| -> Result<Vec<Capture>, Cause> {
        Ok(versions(desk, url).map_err(|failure| failure.why)?.captures)
    };
    let data = desk.data();
    act(&Shelf { warc: data.join("warc"), text: data.join("text"), captures_of: &captures_of })
}
