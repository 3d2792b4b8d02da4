//! A page: everything that is known of a URL.
//!
//! * All that is asked is asked in one turn, one question after the other.
//! * A URL that nobody has met has a page too: what links there, and what would become of it.

use super::parts::{
    Asked, Wanted, about, clock, figure, language, memento, out_link, page_link, safe, short,
    site_at, text_of, with_minutes,
};
use super::past::{versions, with_shelf};
use super::plot::{WHOLE, both, neighbourhood, side};
use super::versions::{shown_versions, visits_of};
use crate::app::{Desk, Shared, heard};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{bytes, count, encoded, list, number, plural, text};
use argiope_crawl::{LinkOrder, Question, Versions, history};
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Captures that are looked at, the newest.
const HISTORY: usize = 300;
/// Linking pages that are named at once.
pub(crate) const LINKING: usize = 20;
/// Links of the page that are named at once.
const LINKED: usize = 40;
/// Pages on each side of the picture.
const AROUND: usize = 8;
/// Words of the page that are named.
const WORDS: usize = 40;
/// Bytes of a page whose words are listed.
const LONG: u64 = 1_000_000;

/// Everything that is known of a page.
struct Known {
    doc: Value,
    explained: Vec<Value>,
    incoming: Vec<Value>,
    more_incoming: bool,
    outgoing: Vec<Value>,
    around: Vec<Value>,
    near: Vec<Value>,
    words: Vec<Value>,
    history: Result<Vec<Value>, String>,
    left_out: usize,
    /// Why parts of it could not be told.
    untold: BTreeSet<String>,
}

/// What is known of a URL that nobody has met.
struct Unmet {
    why: String,
    explained: Vec<Value>,
    incoming: Vec<Value>,
}

pub(crate) async fn page_view(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Response, Failure> {
    let wanted = Wanted::of(asked);
    let target = match wanted.get("url") {
        "" => wanted.get("doc").to_owned(),
        url => url.to_owned(),
    };
    if target.is_empty() {
        return Err(Failure::wrong("which page? Write /page?url=https://example.org/"));
    }
    let asked_for = target.clone();
    let known = app.with_desk(move |desk| gather(desk, &asked_for)).await??;
    match known {
        Ok(known) => {
            let title = title_of(&known.doc);
            let frame = Frame { title: &short(&title, 60), tab: Tab::None, query: Some("") };
            Ok(page(&app, caller, &frame, whole(&known, &title, &wanted)).into_response())
        }
        Err(unmet) => {
            let frame = Frame { title: "Not met yet", tab: Tab::None, query: Some("") };
            let body = unmet_page(&target, &unmet);
            Ok((StatusCode::NOT_FOUND, page(&app, caller, &frame, body)).into_response())
        }
    }
}

/// What a page is called.
pub(crate) fn title_of(doc: &Value) -> String {
    match text(doc, "title").trim() {
        "" => text(doc, "url").to_owned(),
        title => title.to_owned(),
    }
}

fn gather(desk: &dyn Desk, target: &str) -> Result<Result<Known, Unmet>, Failure> {
    let untold = RefCell::new(BTreeSet::new());
    let told = |question: Question| {
        heard(desk.ask(&question)).unwrap_or_else(|failure| {
            // A page may be missing from the index, or from the links, and that is all there is to say.
            if failure.status != StatusCode::NOT_FOUND {
                untold.borrow_mut().insert(failure.why);
            }
            (Vec::new(), None)
        })
    };
    let explain = |url: &str| told(Question::Explain { url: url.to_owned() }).0;
    let links = |url: &str| {
        let order = LinkOrder { after: None, pages: LINKING };
        told(Question::Links { target: url.to_owned(), order })
    };
    let doc = match heard(desk.ask(&Question::Doc(target.to_owned()))) {
        Ok((mut rows, _)) if !rows.is_empty() => rows.remove(0),
        Ok(_) => Value::Null,
        Err(failure) if failure.status == StatusCode::NOT_FOUND => {
            let unmet =
                Unmet { why: failure.why, explained: explain(target), incoming: links(target).0 };
            return Ok(Err(unmet));
        }
        Err(failure) => return Err(failure),
    };
    let url = text(&doc, "url").to_owned();
    let (incoming, more) = links(&url);
    let page = versions(desk, &url)?;
    let left_out = page.captures.len().saturating_sub(HISTORY);
    let page = Versions { captures: page.captures[left_out..].to_vec(), ..page };
    let history = with_shelf(desk, |shelf| history(shelf, &page)).map_err(|e| e.to_string());
    // A long text takes seconds and many times its size to be taken apart.
    let long = number(&doc, "bytes") > LONG;
    let mut known = Known {
        explained: explain(&url),
        incoming,
        more_incoming: more.is_some(),
        outgoing: told(Question::LinksOut { source: url.clone() }).0,
        around: told(Question::Around { target: url.clone(), limit: AROUND }).0,
        near: if long { Vec::new() } else { told(Question::DocNear(url.clone())).0 },
        words: if long { Vec::new() } else { told(Question::DocWords(url)).0 },
        history,
        left_out,
        doc,
        untold: BTreeSet::new(),
    };
    known.untold = untold.take();
    Ok(Ok(known))
}

fn whole(known: &Known, title: &str, wanted: &Wanted) -> Markup {
    let doc = &known.doc;
    let url = text(doc, "url");
    let history = known.history.as_deref().unwrap_or_default();
    let kept = history.iter().rev().find(|row| row["outcome"] == "fetched");
    let site = host_of(url);
    html! {
        p.crumb { a href="/sites" { "Sites" } " › " a href=(site_at(&site)) { (site) } }
        h1 { bdi { (short(title, 200)) } }
        p.address { (out_link(url)) " " (badge(text(doc, "state"))) }
        @if !text(doc, "description").is_empty() {
            p.lead { bdi { (short(text(doc, "description"), 300)) } @if doc["described_by"] == "links" { span.quiet { " (as others call it)" } } }
        }
        nav.row aria-label="Of this page" {
            a.button href=(text_of(url, "")) { "Read its text" }
            @if let Some(row) = kept {
                a.button.second href=(memento(url, text(row, "time"))) { "As it was kept" }
            }
            @if number(doc, "changes") > 0 { a.button.second href=(format!("/page/diff?url={}", encoded(url))) { "What changed" } }
            a href="#versions" { "Versions" }
            a href="#links" { "Links" }
            a href="#visits" { "Visits" }
            a href="#words" { "Words" }
        }
        dl.numbers {
            (figure("Links to it", doc["backlinks"].as_u64().map_or("-".into(), count)))
            (figure("Rank", doc["rank"].as_f64().map_or("-".into(), rank)))
            (figure("Visits", count(number(doc, "visits"))))
            (figure("Changes", count(number(doc, "changes"))))
            (figure("Size", doc["bytes"].as_u64().map_or("-".into(), bytes)))
        }
        (facts(doc))
        @for why in &known.untold { p.note { "Not all of it can be told just now: " (why) "." } }
        section id="versions" {
            h2 { "Versions" }
            @match &known.history {
                Err(why) => { p.note { "Its versions cannot be told: " (why) } }
                Ok(rows) => { (shown_versions(url, rows, &visits_of(url, rows), wanted, known.left_out)) }
            }
        }
        (links(known, url, title))
        (visits(known))
        (near(known))
        (words(known, url))
    }
}

fn rank(rank: f64) -> String {
    if rank >= 0.001 { format!("{rank:.4}") } else { format!("{rank:.1e}") }
}

/// The host of a URL with its scheme, as sites are named.
pub(crate) fn host_of(url: &str) -> String {
    let after = url.find("://").map_or(0, |at| at + 3);
    let end = url[after..].find(['/', '?', '#']).map_or(url.len(), |at| after + at);
    url[..end].to_owned()
}

/// A state in a word, coloured where that helps.
pub(crate) fn badge(state: &str) -> Markup {
    let class = match state.split(':').next().unwrap_or_default() {
        "fetched" | "ok" => "badge good",
        "failed" | "given up" | "failing" | "excluded" | "trap" => "badge bad",
        _ => "badge",
    };
    html! { span class=(class) { (state) } }
}

fn facts(doc: &Value) -> Markup {
    let time = |name: &str| doc[name].as_str().map(|t| html! { (clock(t)) " UTC" });
    let said = |name: &str| doc[name].as_str().map(|t| html! { (t) });
    let asks: Vec<&str> = list(doc, "asks").iter().filter_map(Value::as_str).collect();
    let outcome = doc["outcome"].as_str().map(|outcome| {
        html! {
            (outcome) @if let Some(status) = doc["status"].as_u64() { " " (status) }
            @if let Some(detail) = doc["detail"].as_str() {
                @if safe(detail).is_some() { ": " (page_link(detail)) } @else { ": " (detail) }
            }
        }
    });
    let rows: Vec<(&str, Option<Markup>)> = vec![
        ("Last modified (as the server says)", time("last_modified")),
        ("Last visit", time("fetched_at")),
        ("Last answer", outcome),
        ("Text last changed", time("changed_at")),
        ("First met", time("first_seen")),
        ("Type", said("type")),
        ("Language", doc["language"].as_str().map(|code| html! { (language(code)) })),
        (
            "Depth",
            doc["depth"]
                .as_u64()
                .map(|n| html! { (plural(n, "link", "links")) " from a start URL" }),
        ),
        ("Asks of its readers", (!asks.is_empty()).then(|| html! { (asks.join(", ")) })),
        (
            "Honesty",
            (doc["lied"] == true)
                .then(|| html! { "its server said it had not changed when it had" }),
        ),
        (
            "Tries since the last success",
            doc["attempts"].as_u64().filter(|n| *n > 0).map(|n| html! { (n) }),
        ),
        ("Number", Some(html! { (number(doc, "doc")) " (job " (number(doc, "job")) ")" })),
    ];
    html! {
        dl.facts.card {
            @for (name, value) in rows.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                dt { (name) } dd { (value) }
            }
        }
    }
}

fn links(known: &Known, url: &str, title: &str) -> Markup {
    let totals = known.incoming.first().filter(|row| row["backlinks"].is_u64());
    let of = |side: &str| {
        known.around.iter().find(|row| row["side"] == side).map_or(0, |row| number(row, "of"))
    };
    let linking = totals.map_or(of("in"), |row| number(row, "backlinks") + number(row, "others"));
    let sides = [side(&known.around, "in", AROUND), side(&known.around, "out", AROUND)];
    let rows: Vec<&Value> = known.incoming.iter().filter(|row| row["source"].is_string()).collect();
    html! {
        section id="links" {
            h2 { "Links" }
            @if sides.iter().all(Vec::is_empty) {
                p { "No page is known that links here, and it links nowhere." }
            } @else {
                figure {
                    (both(WHOLE, |width| neighbourhood(url, title, &sides, [linking, of("out")], width)))
                    figcaption.quiet { "The highest ranking neighbours: left those that link here, right those it links to. Each is a link." }
                }
            }
            h3 { "Who links here" }
            @if let Some(row) = totals {
                p { (plural(number(row, "backlinks"), "page", "pages")) " of " (plural(number(row, "sites"), "site", "sites"))
                    @if number(row, "others") > 0 { ", and " (count(number(row, "others"))) " in other ways (redirect, canonical …)" } "." }
            }
            (incoming_table(&rows))
            @if known.more_incoming { p { a href=(format!("/page/links?url={}", encoded(url))) { "All pages that link here" } } }
            h3 { "Where it links" }
            @if known.outgoing.is_empty() { p.quiet { "It links nowhere, as far as is known." } } @else {
                (outgoing_table(&known.outgoing[..known.outgoing.len().min(LINKED)]))
                @if known.outgoing.len() > LINKED {
                    p.quiet { "These are the first " (count(LINKED as u64)) " of " (count(known.outgoing.len() as u64)) " links. "
                        a href=(format!("/page/links?url={}#out", encoded(url))) { "All of them" } }
                }
            }
        }
    }
}

/// Links to a page, with their words.
pub(crate) fn incoming_table(rows: &[&Value]) -> Markup {
    html! {
        @if !rows.is_empty() {
            div.scroll {
                table {
                    thead { tr { th scope="col" { "Page" } th scope="col" { "Words of the link" } th scope="col" { "Kind" } th scope="col" { "Seen since" } } }
                    tbody { @for row in rows { tr {
                        td.wrap { (page_link(text(row, "source"))) }
                        td.wrap { (quoted(text(row, "words"))) }
                        td { (kind(row)) }
                        td.nowrap { (clock(text(row, "first_seen"))) }
                    } } }
                }
            }
        }
    }
}

/// Links of a page, with their words.
pub(crate) fn outgoing_table(rows: &[Value]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { th scope="col" { "Leads to" } th scope="col" { "Words of the link" } th scope="col" { "Kind" } } }
                tbody { @for row in rows { tr {
                    td.wrap { (page_link(text(row, "target"))) }
                    td.wrap { (quoted(text(row, "words"))) }
                    td { (kind(row)) }
                } } }
            }
        }
    }
}

fn quoted(words: &str) -> Markup {
    html! { @if words.trim().is_empty() { span.quiet { "no words" } } @else { bdi { (short(words, 160)) } } }
}

fn kind(row: &Value) -> Markup {
    let times = number(row, "count");
    html! { (text(row, "kind")) @if row["nofollow"] == true { ", nofollow" } @if times > 1 { " × " (count(times)) } }
}

fn visits(known: &Known) -> Markup {
    let doc = &known.doc;
    let last = known.explained.iter().find(|row| row["state"].is_string());
    html! {
        section id="visits" {
            h2 { "Why and when it is visited" }
            dl.facts {
                @if let Some(row) = last { dt { "How it stands" } dd { (with_minutes(text(row, "state"))) } }
                @if let Some(cycle) = doc["cycle"].as_str() { dt { "Visited" } dd { (cycle) } }
                @if let Some(due) = doc["due"].as_str() { dt { "Next visit from" } dd { (clock(due)) " UTC" } }
                @if let Some(rate) = doc["change_rate"].as_f64() {
                    dt { "Believed to change" } dd { (format!("{rate:.2}")) " times a day" }
                }
                @if let Some(fr) = doc["fr_max"].as_u64() { dt { "Under the policy fr" } dd { "every " (plural(fr, "round", "rounds")) ", from " (plural(number(doc, "records"), "record", "records")) } }
            }
            (explanation(&known.explained, false))
        }
    }
}

/// The rules that spoke of a URL, in their order.
pub(crate) fn explanation(rows: &[Value], open: bool) -> Markup {
    html! {
        details open[open] {
            summary { "Every rule that speaks of it" }
            div.scroll {
                table {
                    thead { tr { th scope="col" { "Rule" } th scope="col" { "Says" } th scope="col" { "Because" } } }
                    tbody { @for row in rows.iter().filter(|row| row["rule"].is_string()) { tr {
                        td { (text(row, "rule")) }
                        td { (verdict(text(row, "verdict"))) }
                        td.wrap { (with_minutes(text(row, "detail"))) }
                    } } }
                }
            }
        }
    }
}

fn verdict(said: &str) -> Markup {
    let class = match said {
        "yes" | "ok" => "good",
        "no" => "bad",
        _ => "quiet",
    };
    html! { span class=(class) { (said) } }
}

fn near(known: &Known) -> Markup {
    html! {
        @if !known.near.is_empty() {
            section {
                h2 { "Pages that are nearly the same" }
                ul.plain-list { @for row in known.near.iter().take(LINKED) { li {
                    span.n.quiet { (number(row, "same_percent")) " % " } (page_link(text(row, "url")))
                } } }
            }
        }
    }
}

fn words(known: &Known, url: &str) -> Markup {
    let places = |row: &Value| list(row, "positions").len();
    let mut rows: Vec<&Value> = known.words.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(places(row)));
    html! {
        section id="words" {
            h2 { "Its words" }
            @if number(&known.doc, "bytes") > LONG { p.quiet { "It is too long for its words to be listed here; " code { "argiope doc --words" } " lists them." } }
            @else if rows.is_empty() { p.quiet { "No words of it are in the index." } } @else {
                p.quiet { (plural(rows.len() as u64, "word", "different words")) ", the most frequent first." }
                p.cloud { @for row in rows.iter().take(WORDS) {
                    a href=(format!("/word?w={}", encoded(text(row, "word")))) { bdi { (short(text(row, "word"), 40)) } span.quiet { " " (count(places(row) as u64)) } } " "
                } }
                p { a href=(text_of(url, "")) { "Read its text" } }
            }
        }
    }
}

fn unmet_page(target: &str, unmet: &Unmet) -> Markup {
    let rows: Vec<&Value> = unmet.incoming.iter().filter(|row| row["source"].is_string()).collect();
    let last = unmet.explained.iter().find(|row| row["state"].is_string());
    html! {
        h1 { "Nothing is known of this page" }
        p.address { (out_link(target)) }
        p.lead { (unmet.why) "." }
        @if let Some(row) = last { p { "It was " (with_minutes(text(row, "state"))) "." } }
        @if !rows.is_empty() {
            h2 { "Pages that link there" }
            (incoming_table(&rows))
            p { a href=(format!("/page/links?url={}", encoded(target))) { "All pages that link there" } }
        }
        h2 { "What would become of it" }
        (explanation(&unmet.explained, true))
        p { a href="/" { "To the search" } " · " a href=(about(target)) { "Look again" } }
    }
}
