//! Small pieces that many pages are made of: addresses, times, pagers, what was asked for.
//!
//! * Invariants: whatever was fetched is escaped, and leads out of here only where a browser may follow it (`http`,
//!   `https`). Titles and addresses stand in `bdi`, so that their writing direction stays their own.

use crate::words::{count, encoded, minute};
use argiope_model::figures::with_times;
use axum::extract::Query;
use maud::{Markup, html};

/// Where a match begins and ends in a row.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];
/// Characters of an address that are shown of a long one.
const SHOWN: usize = 110;

/// The query of a request, as handlers get it: nothing in it is wrong by itself.
pub(crate) type Asked = Query<Vec<(String, String)>>;

/// What was asked for by name, and the address of a page that differs in a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted(Vec<(String, String)>);

impl Wanted {
    /// The named parts of a query that are not empty, the first of each name.
    pub fn of(asked: Vec<(String, String)>) -> Self {
        let mut out = Wanted::default();
        for (name, value) in asked {
            let value = value.trim();
            if !value.is_empty() && out.get(&name).is_empty() {
                out.0.push((name, value.to_owned()));
            }
        }
        out
    }

    /// A value; empty where there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// A number from 1 on.
    pub fn number(&self, name: &str) -> u64 {
        self.get(name).parse().ok().filter(|n| *n > 0).unwrap_or(1)
    }

    /// Whether something is said, whatever it is.
    pub fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// The same with another value; empty takes it away. Whoever leafs begins anew.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let stays = |(known, _): &&(String, String)| known != name && known != "page";
        let mut pairs: Vec<(String, String)> = self.0.iter().filter(stays).cloned().collect();
        if !value.is_empty() {
            pairs.push((name.to_owned(), value.to_owned()));
        }
        Wanted(pairs)
    }

    /// As an address of the page at `path`.
    pub fn at(&self, path: &str) -> String {
        let pairs: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
    }

    /// As the address of one page of a list at `path`.
    pub fn at_page(&self, path: &str, page: u64) -> String {
        let mut here = self.with("page", "");
        here.0.push(("page".to_owned(), page.to_string()));
        here.at(path)
    }

    /// As hidden fields of a form, without those that it asks for itself.
    pub fn hidden(&self, but: &[&str]) -> Markup {
        html! {
            @for (name, value) in self.0.iter().filter(|(name, _)| !but.contains(&&**name) && name != "page") {
                input type="hidden" name=(name) value=(value);
            }
        }
    }
}

/// Where we tell what we know of a URL.
pub(crate) fn about(url: &str) -> String {
    format!("/page?url={}", encoded(url))
}

/// Where the text of a version is.
pub(crate) fn text_of(url: &str, at: &str) -> String {
    match at {
        "" => format!("/page/text?url={}", encoded(url)),
        at => format!("/page/text?url={}&at={}", encoded(url), encoded(at)),
    }
}

/// Where the bytes of a version are shown, as archive tools write it.
pub(crate) fn memento(url: &str, time: &str) -> String {
    let digits: String = time.chars().filter(char::is_ascii_digit).take(14).collect();
    format!("/memento/{digits}/{url}")
}

/// Where what changed with a version is shown.
pub(crate) fn diff_to(url: &str, to: &str) -> String {
    format!("/page/diff?url={}&to={}", encoded(url), encoded(to))
}

/// Where a site is shown.
pub(crate) fn site_at(name: &str) -> String {
    format!("/site?name={}", encoded(name))
}

/// A URL that a browser may be sent to.
pub(crate) fn safe(url: &str) -> Option<&str> {
    let begins = |with: &str| url.get(..with.len()).is_some_and(|b| b.eq_ignore_ascii_case(with));
    (begins("http://") || begins("https://")).then_some(url)
}

/// A text cut in its middle where it is long.
pub(crate) fn short(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most * 2 / 3).collect();
    let tail: String = text.chars().skip(length - (most - most * 2 / 3 - 1)).collect();
    format!("{head}…{tail}")
}

/// A link to what we know of a URL; no link where it is none.
pub(crate) fn page_link(url: &str) -> Markup {
    html! {
        @if safe(url).is_some() { a.wrap href=(about(url)) { bdi { (short(url, SHOWN)) } } }
        @else { span.wrap { bdi { (short(url, SHOWN)) } } }
    }
}

/// A link out of here.
pub(crate) fn out_link(url: &str) -> Markup {
    html! {
        @if let Some(url) = safe(url) {
            a.wrap.out href=(url) rel="noreferrer noopener" { bdi { (short(url, SHOWN)) } }
        } @else { span.wrap { bdi { (short(url, SHOWN)) } } }
    }
}

/// A time to the minute.
pub(crate) fn clock(time: &str) -> Markup {
    html! { time datetime=(time) { (minute(time)) } }
}

/// A time to the second, where visits lie close together.
pub(crate) fn second(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace('T', " ")
}

/// A text in which every time, as rows write it, is cut to the minute.
pub(crate) fn with_minutes(text: &str) -> String {
    with_times(text, minute)
}

/// A text with its matches marked.
pub(crate) fn marked(text: &str) -> Markup {
    let mut parts: Vec<(bool, &str)> = Vec::new();
    for (n, piece) in text.split(MARKS[0]).enumerate() {
        match piece.split_once(MARKS[1]) {
            Some((inside, after)) if n > 0 => parts.extend([(true, inside), (false, after)]),
            _ => parts.push((false, piece)),
        }
    }
    html! {
        @for (hit, part) in parts {
            @if hit { mark { (part) } } @else { (part) }
        }
    }
}

/// The pages that a pager names: the first, the last, those around this one, and `None` for a gap.
pub(crate) fn pages(here: u64, last: u64) -> Vec<Option<u64>> {
    let mut out: Vec<Option<u64>> = Vec::new();
    for page in 1..=last {
        let near = page == 1 || page == last || page.abs_diff(here) <= 2;
        if near {
            out.push(Some(page));
        } else if out.last() != Some(&None) {
            out.push(None);
        }
    }
    out
}

/// Links to the other pages of a list; `address` gives that of a page.
pub(crate) fn pager(here: u64, last: u64, address: impl Fn(u64) -> String) -> Markup {
    html! {
        @if last > 1 {
            nav.pager aria-label="Pages" {
                @if here > 1 { a.step rel="prev" href=(address(here - 1)) { "← Back" } }
                @else { span.step.quiet { "← Back" } }
                span.numbers-row {
                    @for page in pages(here, last) {
                        @match page {
                            Some(page) if page == here => { span.here aria-current="page" { (count(page)) } }
                            Some(page) => { a href=(address(page)) { (count(page)) } }
                            None => { span.quiet { "…" } }
                        }
                    }
                }
                @if here < last { a.step rel="next" href=(address(here + 1)) { "On →" } }
                @else { span.step.quiet { "On →" } }
            }
        }
    }
}

/// A list with links that ask for another order: each its value, its name, and what it is for the reader.
pub(crate) fn choice(
    label: &str,
    here: &str,
    of: &[(&str, &str)],
    to: impl Fn(&str) -> String,
) -> Markup {
    html! {
        p.choice {
            span.quiet { (label) }
            @for (value, name) in of {
                @if *value == here { strong aria-current="true" { (name) } }
                @else { a href=(to(value)) { (name) } }
            }
        }
    }
}

/// A number and its unit as a small figure with its name.
pub(crate) fn figure(name: &str, value: impl Into<String>) -> Markup {
    html! { div { dt { (name) } dd { (value.into()) } } }
}

/// The English name of a language where it is one of the common ones.
pub(crate) fn language(code: &str) -> String {
    let name = match code {
        "ar" => "Arabic",
        "cs" => "Czech",
        "da" => "Danish",
        "de" => "German",
        "el" => "Greek",
        "en" => "English",
        "es" => "Spanish",
        "fi" => "Finnish",
        "fr" => "French",
        "he" => "Hebrew",
        "hi" => "Hindi",
        "hu" => "Hungarian",
        "it" => "Italian",
        "ja" => "Japanese",
        "ko" => "Korean",
        "nb" | "no" => "Norwegian",
        "nl" => "Dutch",
        "pl" => "Polish",
        "pt" => "Portuguese",
        "ro" => "Romanian",
        "ru" => "Russian",
        "sv" => "Swedish",
        "tr" => "Turkish",
        "uk" => "Ukrainian",
        "zh" => "Chinese",
        other => return other.to_owned(),
    };
    format!("{name} ({code})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_is_linked_to() {
        for url in ["http://a.test/", "HTTPS://a.test"] {
            assert!(safe(url).is_some(), "{url}");
        }
        for url in
            ["javascript:alert(1)", " http://a.test", "data:text/html,x", "//a.test", "", "ht"]
        {
            assert!(safe(url).is_none(), "{url}");
            assert!(!page_link(url).into_string().contains("href"), "{url}");
            assert!(!out_link(url).into_string().contains("href"), "{url}");
        }
    }

    #[test]
    fn matches_are_marked_and_everything_is_escaped() {
        let shown = marked("a \u{2}<b>\u{3} c & \u{2}d\u{3}").into_string();
        assert_eq!(shown, "a <mark>&lt;b&gt;</mark> c &amp; <mark>d</mark>");
        assert_eq!(marked("\u{3}a\u{2}b").into_string(), "\u{3}ab");
    }

    #[test]
    fn a_pager_names_ends_and_neighbours() {
        let named = |here, last| {
            let name = |page: Option<u64>| page.map_or("…".to_owned(), |page| page.to_string());
            pages(here, last).into_iter().map(name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(named(1, 1), "1");
        assert_eq!(named(1, 9), "1 2 3 … 9");
        assert_eq!(named(5, 9), "1 … 3 4 5 6 7 … 9");
        assert_eq!(named(9, 9), "1 … 7 8 9");
        assert!(pager(1, 1, |_| String::new()).into_string().is_empty());
    }

    #[test]
    fn what_is_asked_for_changes_part_by_part() {
        let pairs = [("q", " a b "), ("page", "3"), ("q", "c"), ("lang", ""), ("x", "<")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let wanted = Wanted::of(pairs.to_vec());
        assert_eq!((wanted.get("q"), wanted.number("page"), wanted.has("lang")), ("a b", 3, false));
        assert_eq!(wanted.with("lang", "en").at("/search"), "/search?q=a%20b&x=%3C&lang=en");
        assert_eq!(wanted.with("q", "").with("x", "").at("/search"), "/search");
    }

    #[test]
    fn times_are_cut_wherever_they_stand() {
        let said = "Test of 2026-01-31T01:02:03.004Z, Thursday";
        assert_eq!(with_minutes(said), "Test of 2026-01-31 01:02, Thursday");
        assert_eq!(
            memento("http://a.test/?x", "2026-01-31T01:02:03.004Z"),
            "/memento/20260131010203/http://a.test/?x"
        );
    }
}
