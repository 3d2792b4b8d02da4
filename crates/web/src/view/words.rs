//! The dictionary, and where a word stands.

use super::parts::{Asked, Wanted, choice, page_link, short};
use crate::app::Shared;
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{count, encoded, list, number, plural, text};
use argiope_crawl::{Question, WordOrder};
use axum::extract::{Extension, Query, State};
use axum::response::Html;
use maud::html;
use serde_json::Value;

/// Words on a page.
const SHOWN: usize = 100;
/// Pages that are named for a word.
const PAGES: usize = 100;

pub(crate) async fn words(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let (prefix, after) = (wanted.get("prefix"), wanted.get("after"));
    let top = wanted.get("by") != "alphabet" && after.is_empty();
    let order = WordOrder {
        prefix: prefix.to_owned(),
        top,
        after: (!after.is_empty()).then(|| after.to_owned()),
        limit: SHOWN,
    };
    let (rows, rest) = app.ask_piece(Question::Words(order)).await?;
    let next = match rest {
        Some(Question::Words(WordOrder { after: Some(after), .. })) => Some(after),
        _ => None,
    };
    let alphabet = wanted.with("by", "alphabet");
    let body = html! {
        h1 { "Words" }
        p { "Every word of every page, how many pages hold it, and how often it stands there." }
        form.row action="/words" {
            label for="prefix" { "Begins with" }
            input id="prefix" name="prefix" type="text" value=(prefix) autocomplete="off";
            @if !top { input type="hidden" name="by" value="alphabet"; }
            button type="submit" { "Show" }
        }
        (choice("Sorted", if top { "" } else { "alphabet" }, &[("", "most frequent first"), ("alphabet", "by alphabet")],
            |by| wanted.with("after", "").with("by", by).at("/words")))
        @if rows.is_empty() {
            p.note { @if prefix.is_empty() { "No word is known yet. " a href="/crawl" { "A crawl" } " brings pages and their words." } @else { "No word begins so." } }
        } @else {
            div.scroll {
                table {
                    thead { tr { th scope="col" { "Word" } th.n scope="col" { "Pages" } th.n scope="col" { "Places" } th.n scope="col" { "Number" } } }
                    tbody { @for row in &rows { tr {
                        th.wrap scope="row" { a href=(format!("/word?w={}", encoded(text(row, "word")))) { bdi { (short(text(row, "word"), 80)) } } }
                        td.n { (count(number(row, "documents"))) }
                        td.n { (count(number(row, "occurrences"))) }
                        td.n.quiet { (text(row, "word_id")) }
                    } } }
                }
            }
            div.pager {
                @if !after.is_empty() { a href=(alphabet.with("after", "").at("/words")) { "To the first ones" } }
                @if let Some(next) = next { a href=(alphabet.with("after", &next).at("/words")) { "On →" } }
                @if top && rows.len() == SHOWN { a href=(alphabet.at("/words")) { "All of them, by alphabet" } }
            }
        }
    };
    let frame = Frame { title: "Words", tab: Tab::Words, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

pub(crate) async fn word(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let word = wanted.get("w");
    if word.is_empty() || word.chars().count() > 200 {
        return Err(Failure::wrong(
            "which word? Write /word?w=spider, with 200 characters at most",
        ));
    }
    let mut rows = app.ask(Question::WordPages { word: word.to_owned(), limit: PAGES }).await?;
    let head = if rows.is_empty() { Value::Null } else { rows.remove(0) };
    let documents = number(&head, "documents");
    let body = html! {
        p.crumb { a href="/words" { "Words" } }
        h1 { bdi { (short(word, 80)) } }
        @if rows.is_empty() {
            p.note { "No page holds this word, or it is one of those that nearly every page holds and whose places are not kept." }
            p { a href=(format!("/words?prefix={}", encoded(word))) { "Words that begin so" } " · " a href=(format!("/search?q={}", encoded(word))) { "Search for it" } }
        } @else {
            p { (plural(number(&head, "occurrences"), "place", "places")) " on " (plural(documents, "page", "pages")) " · word number " (text(&head, "word_id")) ". "
                a href=(format!("/search?q={}", encoded(word))) { "Search for it" } " · "
                a href=(format!("/words?prefix={}", encoded(word))) { "Words that begin so" } }
            @if documents > rows.len() as u64 { p.quiet { "The " (count(rows.len() as u64)) " pages that hold it most often are shown." } }
            div.scroll {
                table {
                    thead { tr { th.n scope="col" { "Places" } th scope="col" { "Page" } th scope="col" { "At word number" } } }
                    tbody { @for row in &rows { tr {
                        td.n { (count(number(row, "places"))) }
                        td.wrap { (page_link(text(row, "url"))) }
                        td.wrap.mono { @for place in list(row, "positions") { (place) " " } @if number(row, "places") > list(row, "positions").len() as u64 { "…" } }
                    } } }
                }
            }
        }
    };
    let frame = Frame { title: &short(word, 60), tab: Tab::Words, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}
