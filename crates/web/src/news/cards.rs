//! Stories and articles as cards, under their days.

use super::age::{age, day_heading, day_of};
use super::narrow::View;
use crate::app::App;
use crate::guard::Caller;
use crate::live::forms::button;
use crate::view::parts::{language, safe, short};
use crate::words::{list, minute, number, plural, text};
use argiope_crawl::is_private_address;
use argiope_model::{CanonicalUrl, Time};
use maud::{Markup, html};
use serde_json::Value;
use std::net::IpAddr;

/// Characters of a title and of a summary that are shown.
const TITLE: usize = 240;
const SUMMARY: usize = 400;
/// Sources that a card names.
const SOURCES: usize = 6;

/// What cards need to know of the page they stand on.
pub(super) struct Around<'a> {
    pub app: &'a App,
    pub caller: Caller,
    pub now: Time,
    pub view: &'a View,
    /// Whether there are news in several languages, so that each is named.
    pub languages: bool,
}

/// Where a story is shown.
pub(super) fn story_at(number: u64) -> String {
    format!("/news/story/{number}")
}

/// A picture, or the first letter of where it would come from. The letter stands behind the picture, so that one that cannot
/// be loaded leaves it to be seen.
pub(super) fn picture(row: &Value, source: &str) -> Markup {
    let letter = source.chars().find(|c| c.is_alphanumeric());
    let letter: String = letter.into_iter().flat_map(char::to_uppercase).collect();
    html! {
        span.letter aria-hidden="true" { (letter) }
        @if let Some(url) = safe(text(row, "picture")).filter(|url| is_public(url)) {
            img src=(url) alt="" loading="lazy" decoding="async" referrerpolicy="no-referrer";
        }
    }
}

/// Whether an address is one of the public web, as far as its name tells: a stranger's page must not make a reader's
/// browser ask in the reader's own network.
fn is_public(url: &str) -> bool {
    let Ok(url) = CanonicalUrl::parse(url) else { return false };
    let host = url.host().trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(ip) => !is_private_address(ip),
        Err(_) => {
            let last = host.trim_end_matches('.').rsplit_once('.').map(|(_, last)| last);
            last.is_some_and(|last| {
                !matches!(last, "localhost" | "local" | "internal" | "lan" | "arpa")
            })
        }
    }
}

/// A title, or the address where there is none.
pub(super) fn title(row: &Value) -> String {
    match text(row, "title").trim() {
        "" => short(text(row, "url"), TITLE),
        title => begun(title, TITLE),
    }
}

/// The beginning of a long text.
pub(super) fn begun(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

/// What is said of where something comes from.
pub(super) fn source(row: &Value) -> &str {
    Some(text(row, "source")).filter(|name| !name.is_empty()).unwrap_or_else(|| text(row, "site"))
}

/// A link to an article as it is on the web, in a window of its own; `data-out` has it marked as read.
pub(super) fn out(url: &str, name: &str) -> Markup {
    html! {
        @if let Some(url) = safe(url) {
            a.source href=(url) target="_blank" rel="noreferrer noopener" data-out { bdi { (name) } }
        } @else { span.source { bdi { (name) } } }
    }
}

/// Whether something of it was not read.
fn is_unread(row: &Value) -> bool {
    match row["unread"].as_u64() {
        Some(unread) => unread > 0,
        None => row["read"] == false,
    }
}

/// A name as it stands at the beginning of a line.
pub(super) fn with_capital(name: &str) -> String {
    let mut letters = name.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// What it is about: its subject, or the part of its site where it stands.
fn subject(row: &Value) -> Option<&str> {
    let part = |row: &Value| row["section"].is_string();
    let first = list(row, "articles").first().filter(|row| part(row)).unwrap_or(row);
    row["subject"].as_str().or_else(|| first["section"].as_str())
}

/// What rules and changes have left on it.
pub(super) fn marks(row: &Value, now: Time) -> Markup {
    let alerts: Vec<&str> = list(row, "alerts").iter().filter_map(Value::as_str).collect();
    html! {
        @if !alerts.is_empty() { span.badge.alert title={ "Has: " (short(&alerts.join(", "), 200)) } { "alert" } }
        @if row["kept"] == true { span.badge.good { "kept" } }
        @if row["hidden"] == true { span.badge { "hidden" } }
        @if !text(row, "gone").is_empty() { span.badge title={ "Its page was found gone on " (minute(text(row, "gone"))) " UTC" } { "gone" } }
        @if !text(row, "updated").is_empty() { span.badge.updated { "updated " (age(text(row, "updated"), now)) } }
    }
}

/// The sources of a story, each with its newest article; an article has one.
fn sources(row: &Value) -> Vec<(&str, &str)> {
    let mut out: Vec<(&str, &str)> = Vec::new();
    let own = std::slice::from_ref(row);
    let articles = list(row, "articles");
    for article in if articles.is_empty() { own } else { articles } {
        let name = source(article);
        if !out.iter().any(|(known, _)| *known == name) {
            out.push((name, text(article, "url")));
        }
    }
    out
}

/// A story, or an article by itself.
pub(super) fn card(row: &Value, around: &Around<'_>) -> Markup {
    let story = number(row, "story");
    let unread = is_unread(row);
    let is_story = row["articles"].is_array();
    let (href, name, said) = (story_at(story), source(row), sources(row));
    let all = list(row, "sources").len().max(said.len());
    let articles = number(row, "count");
    let code = text(row, "language");
    // An article by itself is marked by itself.
    let (kind, marked) = match row["doc"].as_u64() {
        Some(doc) if !is_story => ("doc", doc),
        _ => ("story", story),
    };
    html! {
        article.story.hit.unread[unread] id={ (kind) (marked) } data-kind=(kind) data-number=(marked) {
            a.thumb href=(href) tabindex="-1" aria-hidden="true" { (picture(row, name)) }
            div.told {
                p.kicker {
                    bdi.from { (short(name, 60)) }
                    (age(text(row, "time"), around.now))
                    @if let Some(subject) = subject(row) { span.subject { (short(&with_capital(subject), 40)) } }
                    @if around.languages && !code.is_empty() { span { (tongue(code)) } }
                    (marks(row, around.now))
                }
                h3 dir="auto" {
                    a href=(href) data-hit dir="auto" lang=[lang(code)] { (title(row)) }
                    span.unseen data-unread hidden[!unread] { " (unread)" }
                }
                @if !text(row, "summary").is_empty() {
                    p.summary dir="auto" lang=[lang(code)] { (begun(text(row, "summary"), SUMMARY)) }
                }
                div.under {
                    p.sources {
                        @if articles > 1 {
                            a href=(href) { (plural(articles, "article", "articles")) }
                            @if all > 1 { " from " (plural(all as u64, "source", "sources")) } ": "
                        } @else { span.quiet { "Read it at " } }
                        @for (n, (name, url)) in said.iter().take(SOURCES).enumerate() {
                            @if n > 0 { ", " }
                            (out(url, &short(name, 60)))
                        }
                        @if all > said.len().min(SOURCES) { " and " a href=(href) { (all - said.len().min(SOURCES)) " more" } }
                    }
                    @if around.caller.is_operator() { (toggle(around.app, kind, marked, unread, &around.view.query(), &title(row))) }
                }
            }
        }
    }
}

/// A language by its name alone.
pub(super) fn tongue(code: &str) -> String {
    let name = language(code);
    name.split_once(" (").map_or_else(|| name.clone(), |(name, _)| name.to_owned())
}

/// A language as an attribute takes it.
pub(super) fn lang(code: &str) -> Option<&str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (!code.is_empty() && code.len() <= 12 && code.chars().all(fits)).then_some(code)
}

/// A button that marks something as read, or as unread again.
pub(super) fn toggle(
    app: &App,
    kind: &str,
    marked: u64,
    unread: bool,
    view: &str,
    of: &str,
) -> Markup {
    let name = if unread { "Mark as read" } else { "Mark as unread" };
    let read = if unread { "1" } else { "0" };
    let fields = [("kind", kind), ("number", &*marked.to_string()), ("read", read), ("view", view)];
    html! {
        span.toggle { (button(app, "/news/read", &fields, "plain", name, &format!("{name}: {}", short(of, 80)))) }
    }
}

/// Cards under the days they belong to, in their order.
pub(super) fn by_day(rows: &[Value], around: &Around<'_>) -> Markup {
    let mut days: Vec<(String, Vec<&Value>)> = Vec::new();
    for row in rows {
        let day = day_of(text(row, "time"));
        match days.last_mut() {
            Some((last, rows)) if *last == day => rows.push(row),
            _ => days.push((day, vec![row])),
        }
    }
    html! {
        @for (day, rows) in days {
            section.day {
                h2 {
                    (day_heading(&day, around.now)) " "
                    span.quiet { (plural(rows.len() as u64, if around.view.get("articles").is_empty() { "story" } else { "article" },
                        if around.view.get("articles").is_empty() { "stories" } else { "articles" })) }
                }
                @for row in rows { (card(row, around)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_picture_comes_from_the_web_or_not_at_all() {
        for url in [
            "javascript:alert(1)",
            "data:image/png;base64,x",
            "//x.test/a.png",
            "",
            // Of the reader's own network, in whatever spelling.
            "http://127.0.0.1:7070/news/quick?site=x",
            "http://2130706433/a.png",
            "http://[::1]/a.png",
            "http://192.168.1.1/a.png",
            "http://localhost:7070/a.png",
            "http://router/a.png",
            "http://printer.local/a.png",
            "https://printer.local/a.png",
            "https://192.168.1.1/a.png",
        ] {
            let shown = picture(&json!({ "picture": url }), "«news»").into_string();
            assert!(!shown.contains("<img") && shown.contains(">N<"), "{shown}");
        }
        let shown = picture(&json!({ "picture": "https://a.test/\"><script>" }), "ä").into_string();
        assert!(!shown.contains("<script") && shown.contains(">Ä<"), "{shown}");
        assert!(shown.contains("no-referrer") && shown.contains("lazy"), "{shown}");
    }

    #[test]
    fn marks_are_words_in_attributes() {
        let row = json!({ "gone": "2026-11-16T10:00:00.000Z", "alerts": ["\"><b>"] });
        let shown = marks(&row, Time(0)).into_string();
        assert!(
            shown.contains("title=\"Its page was found gone on 2026-11-16 10:00 UTC\">gone<"),
            "{shown}"
        );
        assert!(!shown.contains("<b>") && !shown.contains("<time"), "{shown}");
    }

    #[test]
    fn each_source_is_named_once_with_its_newest_article() {
        let article = |source: &str, url: &str| json!({ "source": source, "url": url });
        let row = json!({ "articles": [article("A", "1"), article("B", "2"), article("A", "3")] });
        assert_eq!(sources(&row), [("A", "1"), ("B", "2")]);
        assert_eq!(sources(&json!({ "site": "a.test", "url": "4" })), [("a.test", "4")]);
    }

    #[test]
    fn only_languages_become_attributes() {
        assert_eq!((lang("zh-CN"), lang(""), lang("x\" y")), (Some("zh-CN"), None, None));
    }
}
