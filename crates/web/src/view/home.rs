//! The first page: the search field, and how much there is to find.

use crate::app::Shared;
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{number, plural};
use argiope_crawl::Question;
use axum::extract::{Extension, State};
use axum::response::Html;
use maud::html;

pub(crate) async fn home(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
) -> Result<Html<String>, Failure> {
    let rows = app.ask(Question::Status).await?;
    let pages = rows.first().map_or(0, |row| number(row, "fetched"));
    let body = html! {
        section.hero {
            h1 { "Argiope" }
            form.find.large action="/search" role="search" {
                label.unseen for="q" { "Search" }
                input id="q" name="q" type="search" autofocus autocomplete="off" data-suggest placeholder="Words, \"a phrase\", site:example.org";
                button type="submit" { "Search" }
            }
            p.quiet { (plural(pages, "page is", "pages are")) " kept here." }
        }
    };
    let frame = Frame { title: "Search", tab: Tab::Search, query: None };
    Ok(page(&app, caller, &frame, body))
}
