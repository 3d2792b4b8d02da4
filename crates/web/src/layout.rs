//! What every page has: head, bar, search field, footer.

use crate::app::App;
use crate::guard::Caller;
use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

/// The parts of the house, as the bar names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Search,
    News,
    New,
    Sites,
    Top,
    Words,
    Crawl,
    /// A page that belongs to none of them.
    None,
}

const TABS: [(Tab, &str, &str); 7] = [
    (Tab::Search, "/", "Search"),
    (Tab::News, "/news", "News"),
    (Tab::New, "/new", "What is new"),
    (Tab::Sites, "/sites", "Sites"),
    (Tab::Top, "/top", "Top pages"),
    (Tab::Words, "/words", "Words"),
    (Tab::Crawl, "/crawl", "Crawl"),
];

/// What a page is put into.
pub(crate) struct Frame<'a> {
    pub title: &'a str,
    pub tab: Tab,
    /// What stands in the search field of the bar; `None` leaves the field out.
    pub query: Option<&'a str>,
}

/// A whole page.
pub(crate) fn page(app: &App, caller: Caller, frame: &Frame<'_>, body: Markup) -> Html<String> {
    page_with(app, caller, frame, html! {}, body)
}

/// A whole page with something of its own in its head.
pub(crate) fn page_with(
    app: &App,
    caller: Caller,
    frame: &Frame<'_>,
    head: Markup,
    body: Markup,
) -> Html<String> {
    let bar = html! {
        header.bar {
            a.brand href="/" { img src="/assets/icon.svg" alt="" width="26" height="26"; "Argiope" }
            nav aria-label="Parts" {
                @for (tab, href, name) in TABS {
                    a href=(href) aria-current=[(tab == frame.tab).then_some("page")] { (name) }
                }
            }
            @if let Some(query) = frame.query {
                form.find action="/search" role="search" {
                    label.unseen for="bar-q" { "Search" }
                    input id="bar-q" name="q" type="search" value=(query) placeholder="Search" autocomplete="off"
                        data-suggest;
                    button type="submit" { "Search" }
                }
            }
        }
    };
    let foot = html! {
        footer.foot {
            @if caller.is_operator() {
                span { "You may start, stop and exclude." }
                form action="/logout" method="post" {
                    input type="hidden" name="csrf" value=(app.guard.form_token());
                    button.plain type="submit" { "Give the token back" }
                }
            } @else {
                span { "You may read. " a href="/login" { "Operator actions need the token." } }
            }
            span { a href="/api/openapi.json" { "API" } " · " a href="/metrics" { "Metrics" } }
        }
    };
    Html(whole(frame.title, &head, &bar, &body, &foot))
}

/// A page without the bar's fields: for failures, which know nothing of who asks.
pub(crate) fn bare_page(title: &str, body: Markup) -> Html<String> {
    let bar = html! {
        header.bar {
            a.brand href="/" { img src="/assets/icon.svg" alt="" width="26" height="26"; "Argiope" }
            nav aria-label="Parts" {
                @for (_, href, name) in TABS { a href=(href) { (name) } }
            }
        }
    };
    Html(whole(title, &html! {}, &bar, &body, &html! {}))
}

fn whole(title: &str, head: &Markup, bar: &Markup, body: &Markup, foot: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Argiope" }
                link rel="stylesheet" href="/assets/style.css";
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="search" type="application/opensearchdescription+xml" title="Argiope" href="/opensearch.xml";
                (head)
                script src="/assets/script.js" defer {}
            }
            body {
                a.skip href="#main" { "To the content" }
                (bar)
                main id="main" { (body) }
                (foot)
            }
        }
    };
    page.into_string()
}
