//! `/news/story/N`: a story with all its articles, newest first, and what changed in them.

use super::age::{age, ago};
use super::cards::{
    begun, lang, marks, out, picture, source, story_at, title, toggle, tongue, with_capital,
};
use super::notice::said;
use super::{head, now};
use crate::app::{App, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page_with};
use crate::view::parts::{about, diff_to, memento, out_link, safe, second, short, text_of};
use crate::view::reading::difference;
use crate::words::{count, encoded, list, minute, number, plural, text};
use argiope_archive::{TextBlob, warc_date};
use argiope_crawl::{Difference, Question};
use argiope_model::Time;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde_json::Value;

/// What an article was and is, the first version first: when it was first seen, title and text.
struct Told<'a> {
    time: &'a str,
    title: &'a str,
    text: &'a str,
}

fn told(row: &Value) -> Vec<Told<'_>> {
    let one = |row, time| Told { time, title: text(row, "title"), text: text(row, "text") };
    let mut all: Vec<Told<'_>> =
        list(row, "past").iter().map(|past| one(past, text(past, "time"))).collect();
    let now = row["updated"].as_str().unwrap_or_else(|| text(row, "seen"));
    all.push(one(row, now));
    all
}

/// What changed in the article from one version to the next, if its words may be shown.
fn between(url: &str, old: &Told<'_>, new: &Told<'_>) -> Option<Difference> {
    let blob = |told: &Told<'_>| TextBlob {
        title: told.title.to_owned(),
        text: told.text.to_owned(),
        ..TextBlob::default()
    };
    let times = [warc_date(old.time)?, warc_date(new.time)?];
    let is_shown = !old.text.is_empty() && !new.text.is_empty();
    is_shown.then(|| Difference::of(url.to_owned(), times, [blob(old), blob(new)]))
}

pub(super) async fn story(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Path(number): Path<String>,
) -> Result<Response, Failure> {
    let unknown = || Failure::unknown(format!("there is no story {}", short(&number, 40)));
    let number: u64 = number.parse().map_err(|_| unknown())?;
    let rows = app.ask(Question::Story(number)).await?;
    let Some((story, articles)) = rows.split_first() else {
        return Err(Failure::unknown(format!("there is no story {number}")));
    };
    // Joined into another one since.
    if let Some(other) = story["story"].as_u64().filter(|other| *other != number) {
        return Ok(Redirect::to(&story_at(other)).into_response());
    }
    let now = now();
    let languages: Vec<&str> = articles.iter().map(|row| text(row, "language")).collect();
    let several = languages.iter().any(|code| *code != languages[0]);
    let around = Around {
        app: &app,
        caller,
        now,
        story: number,
        several,
        alone: articles.len() == 1,
        first: false,
    };
    let name = title(story);
    let unread = crate::words::number(story, "unread") > 0;
    let body = html! {
        (said(&app, caller, &format!("story={number}")))
        p.crumb { a href="/news" { "News" }
            @if let Some(subject) = story["subject"].as_str() { " · " a href={ "/news?subject=" (encoded(subject)) } { (short(&with_capital(subject), 40)) } } }
        header.lead-story.unread[unread] data-open data-kind="story" data-number=(number) {
            div {
                h1 dir="auto" lang=[lang(text(story, "language"))] { (name) }
                p.kicker {
                    span { (summed(story, articles)) }
                    @if !text(story, "time").is_empty() { span { "newest " (age(text(story, "time"), now)) } }
                    (marks(story, now))
                }
                @if !text(story, "summary").is_empty() { p.lead dir="auto" lang=[lang(text(story, "language"))] { (begun(text(story, "summary"), 600)) } }
                @if caller.is_operator() { (toggle(&app, "story", number, unread, &format!("story={number}"), &name)) }
            }
            @if safe(text(story, "picture")).is_some() { div.thumb.wide { (picture(story, source(story))) } }
        }
        @for (n, row) in articles.iter().enumerate() {
            @let around = Around { first: n == 0, ..around };
            (article(row, &around))
        }
    };
    let frame = Frame { title: &short(&name, 60), tab: Tab::News, query: None };
    Ok(page_with(&app, caller, &frame, head(), body).into_response())
}

/// How many articles from how many sources, over what time.
fn summed(story: &Value, articles: &[Value]) -> String {
    let sources = list(story, "sources").len() as u64;
    let articles = articles.len() as u64;
    let mut said = plural(articles, "article", "articles");
    if sources > 1 {
        said = format!("{said} from {}", plural(sources, "source", "sources"));
    }
    let times = [text(story, "first"), text(story, "time")].map(warc_date);
    if let [Some(first), Some(last)] = times
        && articles > 1
        && last.0 - first.0 >= 3_600_000
    {
        let over = ago(first, last).replace(" ago", "");
        said = format!("{said} within {over}");
    }
    said
}

/// What the articles of a story need to know of it.
#[derive(Clone, Copy)]
struct Around<'a> {
    app: &'a App,
    caller: Caller,
    now: Time,
    story: u64,
    /// Whether it is told in several languages, so that each is named.
    several: bool,
    /// Whether there is one article only: what the head of the page says is not said again.
    alone: bool,
    /// Whether it is the newest, whose text is open.
    first: bool,
}

fn article(row: &Value, around: &Around<'_>) -> Markup {
    let Around { app, caller, now, story, several, alone, first } = *around;
    let (url, code, name) = (text(row, "url"), text(row, "language"), title(row));
    let unread = row["read"] == false;
    let authors: Vec<&str> = list(row, "authors").iter().filter_map(Value::as_str).collect();
    let (published, modified) = (text(row, "published"), text(row, "modified"));
    let many = number(row, "versions");
    let doc = number(row, "doc");
    html! {
        article.card.of-story.hit.unread[unread] id={ "doc" (doc) } data-kind="doc" data-number=(doc) {
            p.kicker {
                @if !alone { bdi.from { (short(source(row), 60)) } }
                (age(text(row, "time"), now))
                @if let Some(section) = row["section"].as_str().or(row["subject"].as_str()) { span.subject { (short(&with_capital(section), 40)) } }
                @if several && !code.is_empty() { span { (tongue(code)) } }
                @if !alone { (marks(row, now)) }
            }
            h2 {
                @if let Some(url) = safe(url) {
                    a href=(url) target="_blank" rel="noreferrer noopener" data-hit data-out dir="auto" lang=[lang(code).filter(|_| !alone)] { @if alone { (source(row)) } @else { (name) } }
                } @else { span dir="auto" { (name) } }
                span.unseen data-unread hidden[!unread] { " (unread)" }
            }
            @if !alone && !text(row, "summary").is_empty() { p.summary dir="auto" lang=[lang(code)] { (begun(text(row, "summary"), 600)) } }
            dl.facts.small {
                @if !authors.is_empty() { dt { "By" } dd { bdi { (short(&authors.join(", "), 200)) } } }
                @if !published.is_empty() { dt { "Published" } dd { (moment(published, text(row, "exact") == "day")) } }
                @if !modified.is_empty() && modified != published { dt { "Modified" } dd { (moment(modified, false)) } }
                @if !text(row, "seen").is_empty() { dt { "Taken in" } dd { (moment(text(row, "seen"), false)) } }
                @if number(row, "words") > 0 { dt { "Length" } dd { (plural(number(row, "words"), "word", "words")) } }
                dt { "Address" } dd { (out_link(url)) }
                @let others: Vec<&str> = list(row, "urls").iter().filter_map(Value::as_str).filter(|other| *other != url).collect();
                @if !others.is_empty() {
                    dt { "Also at" }
                    dd { ul.plain-list { @for other in others.iter().take(10) { li { (out_link(other)) } } }
                        @if others.len() > 10 { span.quiet { "and " (count(others.len() as u64 - 10)) " more" } } }
                }
            }
            @if let Some(text) = row["text"].as_str().filter(|text| !text.is_empty()) {
                details.reading open[first] {
                    summary { "Read it here" }
                    div dir="auto" lang=[lang(code)] { @for line in text.lines().filter(|line| !line.trim().is_empty()) { p dir="auto" { (line) } } }
                }
            }
            div.row.under {
                (out(url, "Read it at the source"))
                a href=(text_of(url, "")) { "The page as text" }
                a href=(about(url)) { "All that is known of it" }
                @if caller.is_operator() && !alone { (toggle(app, "doc", doc, unread, &format!("story={story}"), &name)) }
            }
            @if many > 1 { (versions_of(url, &told(row), many)) }
        }
    }
}

/// A moment in UTC; `news.js` writes it by the clock of the reader. Of a day alone there is no clock.
fn moment(time: &str, is_day: bool) -> Markup {
    let utc = warc_date(time).map_or_else(|| time.to_owned(), |at| at.to_string());
    match utc.get(..10).filter(|_| is_day) {
        Some(day) => html! { time datetime=(day) { (day) } },
        None => html! { time datetime=(utc) data-clock="16" { (minute(&utc)) " UTC" } },
    }
}

/// The versions of an article, the newest first, each with what changed with it in the words of the article.
fn versions_of(url: &str, all: &[Told<'_>], many: u64) -> Markup {
    html! {
        section.versions {
            h3 { (plural(many, "version", "versions")) }
            ul.plain-list {
                @for n in (0..all.len()).rev() {
                    @let time = all[n].time;
                    li {
                        time datetime=(time) data-clock="19" { (second(time)) " UTC" } " · "
                        a href=(text_of(url, time)) { "text of the page" } " · " a href=(memento(url, time)) { "as kept" }
                        @if n > 0 { " · " a href=(diff_to(url, time)) { "what changed on the page" } }
                        @if let Some(two) = n.checked_sub(1).and_then(|before| between(url, &all[before], &all[n])) {
                            details open[n + 1 == all.len()] {
                                summary { "What changed" }
                                (difference(&two))
                            }
                        }
                    }
                }
            }
            @if many > all.len() as u64 { p.quiet { "Earlier ones are not kept with the news." } }
            p { a href={ (about(url)) "#versions" } { "All visits and versions of the page" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_story_is_summed_up() {
        let story = json!({ "sources": ["A", "B"], "first": "2026-11-14T06:00:00Z", "time": "2026-11-16T12:00:00Z" });
        let articles = vec![Value::Null; 3];
        assert_eq!(summed(&story, &articles), "3 articles from 2 sources within 2 days");
        assert_eq!(summed(&json!({ "sources": ["A"] }), &articles[..1]), "1 article");
    }

    #[test]
    fn moments_are_told_in_utc_and_days_without_a_clock() {
        let shown = moment("2026-11-16T22:30:00-05:00", false).into_string();
        assert!(
            shown.contains("2026-11-17T03:30:00.000Z") && shown.contains(">2026-11-17 03:30 UTC<")
        );
        let shown = moment("2026-11-16T00:00:00.000Z", true).into_string();
        assert_eq!(shown, "<time datetime=\"2026-11-16\">2026-11-16</time>");
    }

    #[test]
    fn versions_lead_to_their_text_and_say_what_changed_in_the_article() {
        let row = json!({ "title": "A fire", "text": "Four dead.", "seen": "2026-11-15T10:00:00.000Z", "updated": "2026-11-16T10:00:00.000Z",
            "past": [{ "time": "2026-11-15T10:00:00.000Z", "title": "A fire", "text": "Three dead." }] });
        let shown = versions_of("http://a.test/", &told(&row), 2).into_string();
        assert!(
            shown.contains("2 versions") && shown.matches("/page/diff?").count() == 1,
            "{shown}"
        );
        assert!(shown.contains("<del>Three</del>") && shown.contains("<ins>Four</ins>"), "{shown}");
        let hidden = json!({ "title": "A fire", "text": null, "seen": "2026-11-15T10:00:00.000Z", "updated": "2026-11-16T10:00:00.000Z",
            "past": [{ "time": "2026-11-15T10:00:00.000Z", "title": "A fire", "text": null }] });
        assert!(
            !versions_of("http://a.test/", &told(&hidden), 2).into_string().contains("<details")
        );
    }
}
