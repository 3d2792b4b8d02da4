//! Reading a page: the text of a version, what changed between two, and all of its links.
//!
//! A page that asks that no copy of it be shown is shown to operators who say that they want it all the same.

use super::page::{LINKING, incoming_table, outgoing_table};
use super::parts::{Asked, Wanted, about, clock, language, memento, second, short, text_of};
use super::past::{versions, with_shelf};
use super::versions::times;
use crate::app::{Desk, Shared, heard};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{count, encoded, number, plural};
use argiope_archive::{Piece, TextBlob};
use argiope_crawl::{
    Clock, DiffLine, Difference, LinkOrder, NoDifference, Question, Versions, history, moment_of,
    near_changes, pruned_between, version_at,
};
use argiope_model::{Capture, Time};
use axum::extract::{Extension, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

/// Captures that are offered, the newest.
const OFFERED: usize = 200;
/// Characters of a text that are shown.
const TEXT: usize = 400_000;
/// Lines without a change that are shown around one.
const AROUND: usize = 2;
/// Lines of a difference that are shown.
const LINES: usize = 2_000;
/// Words that are shown of those that stayed, at each end of a long line.
const ENDS: usize = 25;
/// Links of a page that are listed.
const LINKED: usize = 2_000;

/// What is asked for: a page that is named.
fn target(wanted: &Wanted) -> Result<String, Failure> {
    match wanted.get("url") {
        "" => Err(Failure::wrong("which page? Write url=https://example.org/")),
        url => Ok(url.to_owned()),
    }
}

fn time_of(wanted: &Wanted, name: &str) -> Result<Option<Time>, Failure> {
    let written = wanted.get(name);
    if written.is_empty() {
        return Ok(None);
    }
    let time = moment_of(written, Clock::System.now());
    time.map(Some).ok_or_else(|| {
        Failure::wrong(format!("{written} is no time: write 2026-01-31 or 2026-01-31T12:00"))
    })
}

/// Whether a page that asks not to be shown is shown all the same.
fn anyway(wanted: &Wanted, caller: Caller) -> bool {
    wanted.has("anyway") && caller.is_operator()
}

/// That a page asks not to be shown, and what an operator may do.
fn hidden(wanted: &Wanted, path: &str, caller: Caller) -> Markup {
    html! {
        p.note { "This page asks that no copy of it be shown (noarchive)." }
        @if caller.is_operator() { p { a href=(wanted.with("anyway", "1").at(path)) { "Show it to me alone" } } }
    }
}

/// A version that was read.
struct Read {
    url: String,
    capture: Capture,
    text: Option<TextBlob>,
    /// The versions before and after it that have a text of their own.
    beside: [Option<Time>; 2],
    note: Option<String>,
}

fn read(desk: &dyn Desk, target: &str, at: Option<Time>) -> Result<Read, Failure> {
    let page = versions(desk, target)?;
    let last = |has: fn(&Capture) -> bool| page.captures.iter().rposition(has);
    let Some(first) = page.captures.first() else {
        return Err(Failure::unknown(format!("{} is known and was not fetched yet", page.url)));
    };
    let n = match at {
        None => last(|c| c.text.is_some())
            .or(last(|c| c.outcome.is_success()))
            .unwrap_or(page.captures.len() - 1),
        Some(at) => version_at(&page.captures, at)
            .or(page.captures.iter().position(|c| c.time == at))
            .ok_or_else(|| {
                Failure::unknown(format!(
                    "there was no version of {} yet; its first visit was {}",
                    page.url,
                    second(&first.time.to_string())
                ))
            })?,
    };
    let capture = page.captures[n].clone();
    let pruned =
        at.and_then(|at| pruned_between(desk.data(), page.url.as_str(), Some(capture.time), at));
    let note = pruned.map(|(seen, _)| {
        format!(
            "A version that was seen {} was pruned; this is the one before it.",
            second(&seen.to_string())
        )
    });
    let text = with_shelf(desk, |shelf| shelf.text(&page, n))
        .map_err(|e| Failure::refused(e.to_string()))?;
    let own = |c: &&Capture| c.text.is_some();
    let before = page.captures[..n].iter().rev().find(own).map(|c| c.time);
    let after = page.captures[n + 1..].iter().find(own).map(|c| c.time);
    Ok(Read { url: page.url.to_string(), capture, text, beside: [before, after], note })
}

pub(crate) async fn text_view(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let (target, at) = (target(&wanted)?, time_of(&wanted, "at")?);
    let read = app.with_desk(move |desk| read(desk, &target, at)).await??;
    let (url, time) = (&*read.url, read.capture.time.to_string());
    let title = read.text.as_ref().map_or("", |text| text.title.trim());
    let title = if title.is_empty() { url } else { title };
    let code = read.text.as_ref().and_then(|text| text.language.as_deref());
    let to = |time: Option<Time>| time.map(|time| text_of(url, &time.to_string()));
    let body = html! {
        p.crumb { a href=(about(url)) { "What is known of this page" } }
        h1 { bdi { (short(title, 200)) } }
        p.address { bdi { (short(url, 200)) } }
        p.quiet {
            "Its text as it was seen " (clock(&time)) " UTC"
            @if let Some(code) = code { " · " (language(code)) }
            @if let Some(text) = &read.text { " · " (plural(text.text.split_whitespace().count() as u64, "word", "words")) }
        }
        nav.row aria-label="Versions" {
            @if let Some(href) = to(read.beside[0]) { a.button.second href=(href) { "← Earlier" } }
            @if let Some(href) = to(read.beside[1]) { a.button.second href=(href) { "Later →" } }
            a href=(memento(url, &time)) { "As it was kept" }
            a href=(format!("{}#versions", about(url))) { "All versions" }
            a href=(format!("/page/diff?url={}&to={}", encoded(url), encoded(&time))) { "What changed" }
        }
        @if let Some(note) = &read.note { p.note { (note) } }
        @match &read.text {
            _ if read.capture.directives.noarchive && !anyway(&wanted, caller) => { (hidden(&wanted, "/page/text", caller)) }
            None => { p.note { "No text was extracted from this version: " (read.capture.outcome) "." } }
            Some(blob) => {
                article.reading lang=[code] {
                    @for line in cut(&blob.text, TEXT).lines().filter(|line| !line.trim().is_empty()) { p dir="auto" { (line) } }
                }
                @if blob.text.len() > TEXT { p.note { "The rest is left out; “as it was kept” shows all of it." } }
            }
        }
    };
    let frame = Frame { title: &short(title, 60), tab: Tab::None, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Two versions that were compared, and what there is to choose from.
struct Compared {
    url: String,
    offered: Vec<(String, String)>,
    difference: Result<Difference, NoDifference>,
}

fn compare(
    desk: &dyn Desk,
    target: &str,
    from: Option<Time>,
    to: Option<Time>,
    shown: bool,
) -> Result<Compared, Failure> {
    let page = versions(desk, target)?;
    if page.captures.is_empty() {
        return Err(Failure::unknown(format!("{} is known and was not fetched yet", page.url)));
    }
    let newest = page.captures.len().saturating_sub(OFFERED);
    let offered = Versions { url: page.url.clone(), captures: page.captures[newest..].to_vec() };
    with_shelf(desk, |shelf| {
        let rows = history(shelf, &offered).map_err(|e| Failure::refused(e.to_string()))?;
        let difference = Difference::between(shelf, &page, from, to, shown);
        Ok(Compared { url: page.url.to_string(), offered: times(&rows), difference })
    })
}

pub(crate) async fn diff_view(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let target = target(&wanted)?;
    let (from, to) = (time_of(&wanted, "from")?, time_of(&wanted, "to")?);
    let shown = anyway(&wanted, caller);
    let compared = app.with_desk(move |desk| compare(desk, &target, from, to, shown)).await??;
    let url = &*compared.url;
    let times = compared.difference.as_ref().ok().map(|two| two.times.map(|time| time.to_string()));
    let body = html! {
        p.crumb { a href=(about(url)) { "What is known of this page" } }
        h1 { "What changed" }
        p.address { bdi { (short(url, 200)) } }
        (choose(&wanted, &compared.offered, times.as_ref()))
        @match &compared.difference {
            Err(NoDifference::Hidden(_)) => { (hidden(&wanted, "/page/diff", caller)) }
            Err(NoDifference::NoPair(_)) if compared.offered.len() < 2 => { p.note { "There is one version of this page only; nothing can be compared yet." } }
            Err(why) => { p.note { (sentence(&why.to_string())) } }
            Ok(two) => { (difference(two)) }
        }
    };
    let frame = Frame { title: "What changed", tab: Tab::None, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

/// What a library says, as the end of a sentence on a page.
fn sentence(why: &str) -> String {
    let why = why.split(" of --from").next().unwrap_or(why).split("; `").next().unwrap_or(why);
    let mut chars = why.chars();
    chars
        .next()
        .map(|c| c.to_uppercase().chain(chars).collect::<String>() + ".")
        .unwrap_or_default()
}

/// Two fields to choose versions with, and a button.
fn choose(wanted: &Wanted, offered: &[(String, String)], times: Option<&[String; 2]>) -> Markup {
    let field = |id: &str, label: &str, n: usize| {
        html! {
            div.field {
                label for=(id) { (label) }
                select id=(id) name=(id) {
                    @for (time, said) in offered { option value=(time) selected[times.is_some_and(|times| times[n] == *time)] { (said) } }
                }
            }
        }
    };
    html! {
        @if offered.len() > 1 {
            form.compare action="/page/diff" {
                input type="hidden" name="url" value=(wanted.get("url"));
                (field("from", "From the version of", 0))
                (field("to", "to the version of", 1))
                button type="submit" { "Compare" }
            }
        }
    }
}

/// What changed between two versions.
pub(crate) fn difference(two: &Difference) -> Markup {
    let rows = two.rows();
    let head = &rows[0];
    let [title, text] = two.lines();
    let near = near_changes(&text, AROUND);
    let still = title.is_empty() && text.iter().all(|line| !line.changed);
    let blocks = blocks(&text, &near);
    html! {
        p {
            (clock(&two.times[0].to_string())) " " del { (plural(number(head, "words_removed"), "word went", "words went")) } " · "
            (clock(&two.times[1].to_string())) " " ins { (plural(number(head, "words_added"), "word came", "words came")) }
            @if let Some(share) = head["change"].as_f64() { span.quiet { " · " (format!("{:.1}", share * 100.0)) " % of all words" } }
        }
        @if still { p.note { "The words of both versions are the same." } }
        div.diff lang=[two.language()] {
            @for line in &title { h2 { (written(line)) } }
            @for block in blocks.iter().take(LINES) {
                @match block {
                    Block::Line(line) => { p.same[!line.changed] dir="auto" { (written(line)) } }
                    Block::Gap(lines) => { p.gap.quiet { "… " (plural(*lines as u64, "line", "lines")) " without a change …" } }
                }
            }
        }
        @if blocks.len() > LINES { p.note { "The rest is left out: there is too much that changed." } }
    }
}

/// What is shown of a difference: lines near a change, and how many others lie between them.
enum Block<'a> {
    Line(&'a DiffLine<'a>),
    Gap(usize),
}

fn blocks<'a>(lines: &'a [DiffLine<'a>], near: &[bool]) -> Vec<Block<'a>> {
    let mut out: Vec<Block<'a>> = Vec::new();
    for (line, near) in lines.iter().zip(near) {
        match (near, out.last_mut()) {
            (true, _) => out.push(Block::Line(line)),
            (false, Some(Block::Gap(lines))) => *lines += 1,
            (false, _) => out.push(Block::Gap(1)),
        }
    }
    out
}

fn written(line: &DiffLine<'_>) -> Markup {
    html! {
        @for (spaced, piece) in &line.pieces {
            @if *spaced { " " }
            @match piece {
                Piece::Same(text) => { (ends(text)) }
                Piece::Gone(text) => { del { (text) } }
                Piece::Come(text) => { ins { (text) } }
            }
        }
    }
}

/// The ends of a long text that stayed.
fn ends(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() <= 3 * ENDS {
        return text.to_owned();
    }
    format!("{} … {}", words[..ENDS].join(" "), words[words.len() - ENDS..].join(" "))
}

pub(crate) async fn links_view(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let target = target(&wanted)?;
    let after = match wanted.get("after") {
        "" => None,
        place => {
            // Two numbers, as the address of the page before wrote them.
            let place = place.replace('-', ",");
            let place = serde_json::from_str(&format!("[{place}]"));
            Some(place.map_err(|_| {
                Failure::wrong("after= is no place in this list; begin at its first page")
            })?)
        }
    };
    let order = LinkOrder { after, pages: 5 * LINKING };
    let asked_for = target.clone();
    let (rows, rest, out) = app
        .with_desk(move |desk| {
            let (rows, rest) =
                heard(desk.ask(&Question::Links { target: asked_for.clone(), order }))?;
            let out = match after {
                None => heard(desk.ask(&Question::LinksOut { source: asked_for }))
                    .map(|(rows, _)| rows)
                    .unwrap_or_default(),
                Some(_) => Vec::new(),
            };
            Ok::<_, Failure>((rows, rest, out))
        })
        .await??;
    let next = rest.and_then(|rest| match rest {
        Question::Links { order: LinkOrder { after: Some(place), .. }, .. } => {
            serde_json::to_value(place).ok()
        }
        _ => None,
    });
    let next = next.map(|place| {
        let numbers: Vec<String> =
            place.as_array().into_iter().flatten().map(Value::to_string).collect();
        numbers.join("-")
    });
    let totals = rows.iter().find(|row| row["backlinks"].is_u64());
    let links: Vec<&Value> = rows.iter().filter(|row| row["source"].is_string()).collect();
    let body = html! {
        p.crumb { a href=(about(&target)) { "What is known of this page" } }
        h1 { "Links" }
        p.address { bdi { (short(&target, 200)) } }
        h2 { "Who links here" }
        @if let Some(row) = totals {
            p { (plural(number(row, "backlinks"), "page", "pages")) " of " (plural(number(row, "sites"), "site", "sites"))
                @if number(row, "others") > 0 { ", and " (count(number(row, "others"))) " in other ways (redirect, canonical …)" } "." }
        }
        @if links.is_empty() { p.quiet { "No page is known that links here." } }
        (incoming_table(&links))
        div.pager {
            @if after.is_some() { a href=(wanted.with("after", "").at("/page/links")) { "To the first ones" } }
            @if let Some(next) = next { a href=(wanted.with("after", &next).at("/page/links")) { "On →" } }
        }
        @if after.is_none() {
            h2 id="out" { "Where it links" }
            @if out.is_empty() { p.quiet { "It links nowhere, as far as is known." } } @else { (outgoing_table(&out[..out.len().min(LINKED)])) }
            @if out.len() > LINKED { p.quiet { "These are the first " (count(LINKED as u64)) " of " (count(out.len() as u64)) " links." } }
        }
    };
    let frame = Frame { title: "Links", tab: Tab::None, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(old: &str, new: &str) -> Difference {
        let blob = |text: &str| TextBlob { text: text.to_owned(), ..TextBlob::default() };
        Difference::of("http://a.test/".into(), [Time(0), Time(1000)], [blob(old), blob(new)])
    }

    #[test]
    fn a_difference_is_coloured_and_holds_no_markup_of_the_page() {
        let shown = difference(&two("a <script> b", "a <script>alert(1)</script> b")).into_string();
        assert!(
            !shown.contains("<script") && shown.contains("<ins>") && shown.contains("&lt;"),
            "{shown}"
        );
        let same = difference(&two("a b", "a b")).into_string();
        assert!(same.contains("the same"), "{same}");
    }

    #[test]
    fn what_is_far_from_a_change_is_counted() {
        let lines = "one\ntwo\nthree\nfour\nfive\nsix";
        let two = two(&format!("{lines}\nend"), &format!("{lines}\nEND"));
        let shown = difference(&two).into_string();
        assert!(shown.contains("4 lines without a change") && shown.contains(">five<"), "{shown}");
        assert!(!shown.contains(">one<"), "{shown}");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!((cut("äöü", 3), cut("abc", 9)), ("ä", "abc"));
    }
}
