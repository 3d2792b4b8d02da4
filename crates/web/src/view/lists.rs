//! Lists over everything: broken links, what stands first.

use super::page::host_of;
use super::parts::{Asked, Wanted, choice, page_link, safe, short, site_at};
use crate::app::{Desk, Shared, heard};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{count, encoded, number, text};
use argiope_crawl::{Question, TopBy};
use axum::extract::{Extension, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

/// Broken links on a page.
const BROKEN: usize = 100;
/// Rows asked for at a time while those of one site are looked for.
const PIECE: usize = 500;
/// Pages that are named for one broken link.
const SOURCES: usize = 3;
/// Pieces that are looked through for one page.
const PIECES: usize = 20;
/// Pages or sites that stand first.
const TOP: usize = 100;

/// Whether a URL belongs to a site, a host or an origin.
fn is_of(url: &str, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    let origin = host_of(url);
    let authority = origin.split_once("://").map_or(&*origin, |(_, rest)| rest);
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    [&*origin, authority, host].contains(&name)
        || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

/// Broken links on pages of a site, or to it, after a document; and where to go on.
pub(crate) fn broken_of(
    desk: &dyn Desk,
    name: &str,
    after: Option<u64>,
    most: usize,
) -> Result<(Vec<Value>, Option<u64>), Failure> {
    let (mut out, mut after) = (Vec::new(), after);
    let limit = if name.is_empty() { most } else { PIECE };
    for _ in 0..PIECES {
        let (rows, rest) = heard(desk.ask(&Question::Broken { after, limit }))?;
        let mine = |row: &Value| {
            name.is_empty() || is_of(text(row, "url"), name) || is_of(text(row, "source"), name)
        };
        out.extend(rows.into_iter().filter(mine));
        after = match rest {
            Some(Question::Broken { after, .. }) => after,
            _ => None,
        };
        if out.len() >= most || after.is_none() {
            break;
        }
    }
    // Whoever wants a few only does not go on from here.
    if !name.is_empty() && most < BROKEN {
        out.truncate(most);
    }
    Ok((out, after))
}

/// Broken links, those to one URL together.
pub(crate) fn broken_table(rows: &[Value]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { th scope="col" { "Leads to" } th scope="col" { "What came of it" } th scope="col" { "Stands on, with these words" } } }
                tbody { @for rows in together(rows) { tr {
                    @let (row, url) = (&rows[0], text(&rows[0], "url"));
                    td.wrap { @if row["malformed"] == true { code { (short(url, 110)) } } @else { (page_link(url)) } }
                    td.wrap { (short(text(row, "outcome"), 120)) }
                    td.wrap {
                        @if text(row, "source").is_empty() { span.quiet { "no page links there" } } @else {
                            ul.plain-list { @for row in rows.iter().take(SOURCES) { li {
                                (page_link(text(row, "source")))
                                @if !text(row, "words").trim().is_empty() { span.quiet { " “" bdi { (short(text(row, "words"), 100)) } "”" } }
                            } } }
                        }
                        @if rows.len() > SOURCES {
                            @let more = format!("and on {} more", count((rows.len() - SOURCES) as u64));
                            @if safe(url).is_some() { a href=(format!("/page/links?url={}", encoded(url))) { (more) } } @else { span.quiet { (more) } }
                        }
                    }
                } } }
            }
        }
    }
}

/// Rows that lead to the same place and stand one behind the other.
fn together(rows: &[Value]) -> Vec<&[Value]> {
    rows.chunk_by(|a, b| a["url"] == b["url"]).collect()
}

pub(crate) async fn broken(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let (name, after) = (wanted.get("site").to_owned(), wanted.get("after").parse().ok());
    let (rows, next) = app.with_desk(move |desk| broken_of(desk, &name, after, BROKEN)).await??;
    let name = wanted.get("site");
    let body = html! {
        h1 { "Broken links" }
        p { @if name.is_empty() { "Links that lead nowhere, those to one URL together." }
            @else { "Links on pages of " a href=(site_at(name)) { bdi { (name) } } ", or to it, that lead nowhere." } }
        form.row action="/broken" {
            label for="site" { "Site" }
            input id="site" name="site" type="text" value=(name) placeholder="all of them";
            button type="submit" { "Show" }
        }
        @if rows.is_empty() {
            @if next.is_some() { p.note { "None among those that were looked through so far." } }
            @else { p.note { "No broken link is known here." } }
        } @else { (broken_table(&rows)) }
        div.pager {
            @if after.is_some() { a href=(wanted.with("after", "").at("/broken")) { "To the first ones" } }
            @if let Some(next) = next { a href=(wanted.with("after", &next.to_string()).at("/broken")) { "On →" } }
        }
    };
    let frame = Frame { title: "Broken links", tab: Tab::Sites, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

pub(crate) async fn top(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let of_sites = wanted.get("of") == "sites";
    let by = match wanted.get("by") {
        "backlinks" | "" if !of_sites => TopBy::Backlinks,
        "sites" if !of_sites => TopBy::Sites,
        "harmonic" => TopBy::Harmonic,
        _ => TopBy::Rank,
    };
    let rows = app.ask(Question::Top { by, of_sites, limit: TOP, all: false }).await?;
    let body = top_page(&wanted, &rows, by, of_sites);
    let frame = Frame { title: "Top pages", tab: Tab::Top, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

fn top_page(wanted: &Wanted, rows: &[Value], by: TopBy, of_sites: bool) -> Markup {
    let here = match by {
        TopBy::Backlinks => "backlinks",
        TopBy::Sites => "sites",
        TopBy::Rank => "rank",
        TopBy::Harmonic => "harmonic",
    };
    let ways: &[(&str, &str)] = match of_sites {
        true => &[("rank", "rank"), ("harmonic", "harmonic centrality")],
        false => &[
            ("backlinks", "pages that link there"),
            ("sites", "sites that link there"),
            ("rank", "rank"),
            ("harmonic", "harmonic centrality"),
        ],
    };
    let value = |row: &Value, name: &str| {
        row[name].as_f64().map_or("-".to_owned(), |x| {
            if x >= 100.0 { format!("{x:.1}") } else { format!("{x:.6}") }
        })
    };
    html! {
        h1 { @if of_sites { "Top sites" } @else { "Top pages" } }
        (choice("Of", if of_sites { "sites" } else { "" }, &[("", "pages"), ("sites", "sites")], |of| wanted.with("of", of).with("by", "").at("/top")))
        (choice("By", here, ways, |by| wanted.with("by", by).at("/top")))
        @if rows.is_empty() { p.note { "Nothing is linked yet. " a href="/crawl" { "A crawl" } " brings pages and their links." } } @else {
            div.scroll {
                table {
                    thead { tr {
                        th.n scope="col" { "#" }
                        th scope="col" { @if of_sites { "Site" } @else { "Page" } }
                        @if of_sites { th.n scope="col" { "Pages" } } @else { th.n scope="col" { "Linking pages" } th.n scope="col" { "Linking sites" } }
                        @if by != TopBy::Harmonic || !of_sites { th.n scope="col" { "Rank" } }
                        @if by == TopBy::Harmonic { th.n scope="col" { "Harmonic" } }
                    } }
                    tbody { @for (n, row) in rows.iter().enumerate() { tr {
                        td.n { (n + 1) }
                        @if of_sites {
                            th.wrap scope="row" { a href=(site_at(text(row, "site"))) { bdi { (text(row, "site")) } } }
                            td.n { (count(number(row, "pages"))) }
                        } @else {
                            td.wrap { @if safe(text(row, "url")).is_some() { (page_link(text(row, "url"))) } @else { (text(row, "url")) } }
                            td.n { (count(number(row, "backlinks"))) }
                            td.n { (count(number(row, "sites"))) }
                        }
                        @if by != TopBy::Harmonic || !of_sites { td.n { (value(row, "rank")) } }
                        @if by == TopBy::Harmonic { td.n { (value(row, "harmonic")) } }
                    } } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn links_to_one_place_stand_together_and_few_pages_are_named() {
        let row = |url: &str, n: usize| {
            json!({ "url": url, "outcome": "client-error 404",
            "source": format!("http://a.test/{n}"), "words": "<b>", "malformed": url.starts_with("java") })
        };
        let mut rows: Vec<Value> = (0..7).map(|n| row("http://a.test/gone", n)).collect();
        rows.push(row("javascript:alert(1)", 9));
        let shown = broken_table(&rows).into_string();
        assert_eq!(shown.matches("<tr>").count(), 3, "{shown}");
        assert!(shown.contains("and on 4 more") && !shown.contains("a.test/5"), "{shown}");
        assert!(!shown.contains("href=\"java") && !shown.contains("<b>"), "{shown}");
    }

    #[test]
    fn a_site_is_its_hosts_and_nothing_that_ends_alike() {
        for url in ["https://a.test/x", "http://www.a.test:80/", "http://a.test?q"] {
            assert!(is_of(url, "a.test"), "{url}");
        }
        assert!(
            is_of("http://a.test:81/", "a.test:81")
                && is_of("http://a.test:81/", "http://a.test:81/")
        );
        for url in ["https://ba.test/", "https://a.test.evil/", "javascript:a.test", ""] {
            assert!(!is_of(url, "a.test"), "{url}");
        }
    }
}
