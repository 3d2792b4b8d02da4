//! The first page: the search field, and how much there is to find.

use super::help;
use crate::app::Shared;
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{number, plural, text};
use argiope_crawl::Question;
use axum::extract::{Extension, State};
use axum::response::Html;
use maud::html;
use serde_json::Value;

pub(crate) async fn home(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
) -> Result<Html<String>, Failure> {
    let rows = app.ask(Question::Status).await?;
    let status = rows.first().unwrap_or(&Value::Null);
    let pages = number(status, "fetched");
    let body = html! {
        section.hero {
            h1 { "Argiope" }
            form.find.large action="/search" role="search" {
                label.unseen for="q" { "Search" }
                input id="q" name="q" type="search" autofocus autocomplete="off" data-suggest placeholder="Words, \"a phrase\", site:example.org";
                button type="submit" { "Search" }
            }
            @if pages == 0 {
                p { "Nothing is kept here yet. " a href="/crawl" { "Start a crawl" } " and search while it runs." }
            } @else {
                p.quiet { (plural(pages, "page is", "pages are")) " kept here"
                    @if text(status, "state") == "crawling" { ", and a crawl is " a href="/crawl" { "bringing more" } } ". "
                    a href="/new" { "What is new" } }
                details { summary { "What can be written" } (help::language()) }
            }
        }
    };
    let frame = Frame { title: "Search", tab: Tab::Search, query: None };
    Ok(page(&app, caller, &frame, body))
}
