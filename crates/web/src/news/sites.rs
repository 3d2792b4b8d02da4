//! `/news/sites`: the sites that are followed, with their figures; more of them, fewer, and lists from other readers.

use super::age::age;
use super::notice::said;
use super::{followed, head, now, overview};
use crate::app::{App, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page_with};
use crate::live::forms::{button, csrf, hint};
use crate::view::parts::{out_link, short, site_at};
use crate::words::{count, encoded, list, number, plural, text};
use argiope_model::Time;
use axum::extract::{Extension, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

pub(super) async fn sites(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
) -> Result<Html<String>, Failure> {
    let overview = overview(&app).await?;
    let (rows, now) = (followed(&overview).collect::<Vec<_>>(), now());
    let body = html! {
        (said(&app, caller, "page=sites"))
        p.crumb { a href="/news" { "News" } }
        h1 { "Sites that are followed" }
        @if rows.is_empty() { p.lead { "None yet. Name one, and its headlines and feeds are found by themselves." } }
        @else {
            p { (plural(rows.len() as u64, "site", "sites")) " with " (plural(number(&overview, "articles"), "article", "articles")) " in " (plural(number(&overview, "stories"), "story", "stories")) "." }
            @if caller.is_operator() { div.row { (button(&app, "/news/collect", &[], "", "Collect now", "Collect the news of all sites now"))
                span.quiet { "once; " code { "argiope watch" } " collects again and again" } } }
            (table(&app, caller, &rows, now))
        }
        @if caller.is_operator() { (forms(&app)) } @else { (hint("Following sites and collecting their news")) }
        h2 { "To take along" }
        p { a.button.second href="/news.opml" download="argiope-news.opml" { "All of them as OPML" } " " span.quiet { "for any other reader of feeds" } }
        p.quiet { "They are kept in " code { "news/sites.toml" } " in the data directory, to be edited by hand as well." }
    };
    let frame = Frame { title: "Sites that are followed", tab: Tab::News, query: None };
    Ok(page_with(&app, caller, &frame, head(), body))
}

fn table(app: &App, caller: Caller, rows: &[&Value], now: Time) -> Markup {
    html! {
        div.scroll {
            table.arranged {
                thead { tr {
                    th.wrap scope="col" { "Site" } th.n scope="col" { "Articles" } th.n scope="col" { "Unread" } th scope="col" { "Newest" } th scope="col" { "Looked at" } th scope="col" { "Every" }
                    @if caller.is_operator() { th scope="col" { span.unseen { "Act" } } }
                } }
                tbody { @for row in rows {
                    @let site = text(row, "site");
                    @let name = Some(text(row, "name")).filter(|name| !name.is_empty()).unwrap_or(site);
                    @let front = list(row, "front").iter().filter_map(Value::as_str).next();
                    tr {
                        th.wrap scope="row" {
                            a href={ "/news?site=" (encoded(site)) } { bdi { (short(name, 60)) } }
                            @if name != site { " " span.quiet { (short(site, 60)) } }
                            @if let Some(front) = front { div.address { (out_link(front)) } }
                        }
                        td.n data-label="Articles" { (count(number(row, "articles"))) }
                        td.n data-label="Unread" { (count(number(row, "unread"))) }
                        td.nowrap data-label="Newest" { @if text(row, "last").is_empty() { "-" } @else { (age(text(row, "last"), now)) } }
                        td.nowrap data-label="Looked at" { @if text(row, "looked").is_empty() { "not yet" } @else { (age(text(row, "looked"), now)) } }
                        td.nowrap data-label="Every" { (text(row, "cycle")) }
                        @if caller.is_operator() {
                            td { div.row.tight {
                                (button(app, "/news/collect", &[("site", site)], "second small", "Collect", &format!("Collect the news of {name} now")))
                                a.button.second.small href=(site_at(site)) aria-label={ "How it goes at " (name) } { "Visits" }
                                (button(app, "/news/sites", &[("act", "remove"), ("site", site)], "second small", "Remove", &format!("No longer follow {name}")))
                            } }
                        }
                    }
                } }
            }
        }
    }
}

fn forms(app: &App) -> Markup {
    html! {
        div.cards.begin {
            section.card {
                h2 { "Follow another site" }
                form.stack method="post" action="/news/sites" {
                    (csrf(app))
                    input type="hidden" name="act" value="add";
                    label for="new-site" { "Its name, its front page, or a feed" }
                    input id="new-site" name="site" type="text" required maxlength="2000" placeholder="example.org" autocomplete="off" autocapitalize="none" spellcheck="false";
                    button type="submit" { "Follow it" }
                }
            }
            section.card {
                h2 { "Sites from another reader" }
                form.stack method="post" action="/news/sites/import" enctype="multipart/form-data" {
                    (csrf(app))
                    label for="opml" { "An OPML file, at most 1 MB" }
                    input id="opml" name="opml" type="file" required accept=".opml,.xml,text/xml,text/x-opml,application/xml";
                    button type="submit" { "Follow its sites" }
                }
            }
        }
    }
}
