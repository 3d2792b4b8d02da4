//! The past of a page: its versions, their texts, what changed between two.

use super::given::Given;
use super::reading::envelope;
use crate::app::{App, Desk, heard};
use crate::failure::Failure;
use argiope_crawl::{
    Difference, NoDifference, Question, Shelf, VersionError, Versions, history as told, version_at,
};
use argiope_model::{CanonicalUrl, Capture};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// Characters of a text that are told.
const LONGEST: usize = 1_000_000;

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// All captures of a page.
pub(crate) fn versions(desk: &dyn Desk, target: &str) -> Result<Versions, Failure> {
    let (rows, _) = heard(desk.ask(&Question::Versions(target.to_owned())))?;
    let mut rows = rows.into_iter();
    let page = rows.next().unwrap_or_default();
    let url = CanonicalUrl::parse(page["url"].as_str().unwrap_or_default())
        .map_err(|e| Failure::ours(e.to_string()))?;
    let captures = rows.map(serde_json::from_value).collect::<Result<Vec<Capture>, _>>();
    let captures = captures.map_err(|e| Failure::ours(e.to_string()))?;
    match captures.is_empty() {
        true if page["state"] == "forgotten" => {
            Err(Failure::unknown(format!("{url} was forgotten on request; nothing of it is kept")))
        }
        true => Err(Failure::unknown(format!("{url} is known and was not fetched yet"))),
        false => Ok(Versions { url, captures }),
    }
}

/// Calls `act` with a page and where its versions lie.
async fn with_page(
    app: &App,
    target: String,
    act: impl FnOnce(&Shelf<'_>, &Versions) -> Result<Response, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let done = app.with_desk(move |desk| {
        let page = versions(desk, &target)?;
        let captures_of = |url: &str| -> Result<Vec<Capture>, Failed> {
            Ok(versions(desk, url).map_err(|failure| failure.why)?.captures)
        };
        let data = desk.data();
        let shelf =
            Shelf { warc: data.join("warc"), text: data.join("text"), captures_of: &captures_of };
        act(&shelf, &page)
    });
    done.await?
}

fn unreadable(e: VersionError) -> Failure {
    match e {
        VersionError::NotKept(_) | VersionError::NoOriginal(_) => Failure::unknown(e.to_string()),
        e => Failure::refused(e.to_string()),
    }
}

fn hidden(url: &CanonicalUrl) -> Failure {
    Failure::forbidden(format!("{url} asks that no copy of it be shown (noarchive)"))
}

pub(crate) fn history(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let (changed, limit) = (given.flag("changed"), given.number("limit", 1_000) as usize);
        with_page(app, given.needed("url"), move |shelf, page| {
            let mut rows = told(shelf, page).map_err(unreadable)?;
            if changed {
                rows.retain(|row| row["changed"] == true || row["reason"] == "new");
            }
            let total = rows.len();
            rows.drain(..total.saturating_sub(limit));
            Ok(envelope(rows, None, json!({ "url": page.url.as_str(), "total": total })))
        })
        .await
    }
    .boxed()
}

pub(crate) fn text(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let at = given.moment("at");
        with_page(app, given.needed("url"), move |shelf, page| {
            let n = match at {
                Some(at) => version_at(&page.captures, at),
                None => page.captures.iter().rposition(|c| c.text.is_some()),
            };
            let none = || Failure::unknown(format!("there is no text of {} from then", page.url));
            let capture = &page.captures[n.ok_or_else(none)?];
            if capture.directives.noarchive {
                return Err(hidden(&page.url));
            }
            let blob = n.map(|n| shelf.text(page, n)).transpose().map_err(unreadable)?.flatten();
            let blob = blob.ok_or_else(none)?;
            let text: String = blob.text.chars().take(LONGEST).collect();
            let row = json!({
                "url": page.url.as_str(),
                "time": capture.time.to_string(),
                "title": blob.title,
                "description": blob.description,
                "language": blob.language,
                "cut": text.len() < blob.text.len(),
                "text": text,
            });
            Ok(envelope(vec![row], None, Value::Null))
        })
        .await
    }
    .boxed()
}

pub(crate) fn diff(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let (from, to) = (given.moment("from"), given.moment("to"));
        with_page(app, given.needed("url"), move |shelf, page| {
            let difference =
                Difference::between(shelf, page, from, to, false).map_err(|e| match e {
                    NoDifference::Hidden(_) => hidden(&page.url),
                    NoDifference::Unreadable(e) => unreadable(e),
                    e => Failure::unknown(e.to_string()),
                })?;
            let mut rows = difference.rows();
            let head = rows.remove(0);
            Ok(envelope(rows, None, head))
        })
        .await
    }
    .boxed()
}
