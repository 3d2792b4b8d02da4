//! JSON Feed, and JSON as far as it can be read.
//!
//! * What this is: a reader of JSON that ends where the text breaks off or goes wrong and keeps
//!   what came before, and what the members of a feed are called.
//! * Its place: `feed` calls it for what begins with a brace.
//! * Invariants: no text makes it fail; depth is bounded.
//! * What is not here: numbers as numbers. Where one stands for a name, its digits are the name.

use super::text::Raw;
use super::{Enclosure, Feed, FeedEntry, FeedKind, MAX_NAMES, absolute, bounded, read_date};
use argiope_model::CanonicalUrl;
use std::borrow::Cow;

/// Values inside of values; what is deeper ends the reading.
const MAX_DEPTH: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    /// `null`, `true`, `false`, a number.
    Word(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

/// Reads a feed; `None` if the text is none.
pub(super) fn read(source: &str, url: Option<&CanonicalUrl>) -> Option<Feed> {
    let mut scan = Scan { rest: source.trim_start().trim_start_matches('\u{feff}'), broken: false };
    let feed = scan.value(0)?;
    let is_one = feed.text("version").is_some_and(|v| v.contains("jsonfeed.org"));
    if !is_one && feed.list("items").is_empty() {
        return None;
    }
    let home = feed.text("home_page_url").and_then(|u| absolute(&u, url));
    let base = url.cloned().or_else(|| home.clone());
    let base = base.as_ref();
    let author = feed.authors();
    Some(Feed {
        title: line(feed.text("title")),
        link: home,
        language: feed.text("language"),
        description: line(feed.text("description")),
        picture: feed.url(&["icon", "favicon"], base),
        ill_formed: scan.broken,
        entries: bounded(feed.list("items").iter().map(|item| item.entry(base, &author))),
        ..Feed::empty(FeedKind::Json)
    })
}

fn line(text: Option<String>) -> String {
    text.map(|t| Raw::Unsure(Cow::Owned(t)).line()).unwrap_or_default()
}

impl Json {
    fn member(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Map(members) => members.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    fn list(&self, name: &str) -> &[Json] {
        match self.member(name) {
            Some(Json::List(values)) => values,
            _ => &[],
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        self.member(name)?.name().map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned)
    }

    fn name(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            Json::Word(word) if word.starts_with(|c: char| c.is_ascii_digit()) => Some(word),
            _ => None,
        }
    }

    fn url(&self, names: &[&str], base: Option<&CanonicalUrl>) -> Option<CanonicalUrl> {
        names.iter().find_map(|name| absolute(&self.text(name)?, base))
    }

    /// The names of `authors`, or of the older `author`.
    fn authors(&self) -> String {
        let all = self.list("authors").iter().chain(self.member("author"));
        let mut names: Vec<String> = Vec::new();
        for name in all.filter_map(|a| a.text("name").or_else(|| a.name().map(str::to_owned))) {
            if !names.contains(&name) {
                names.push(name);
            }
            if names.len() == MAX_NAMES {
                break;
            }
        }
        names.join(", ")
    }

    fn entry(&self, base: Option<&CanonicalUrl>, feed_author: &str) -> FeedEntry {
        let link = self.url(&["url", "external_url"], base);
        let enclosures: Vec<Enclosure> = self
            .list("attachments")
            .iter()
            .take(MAX_NAMES)
            .filter_map(|a| {
                let kind = a.text("mime_type").unwrap_or_default().to_ascii_lowercase();
                let bytes = a.text("size_in_bytes").and_then(|b| b.parse().ok());
                Some(Enclosure { url: a.url(&["url"], base)?, kind, bytes })
            })
            .collect();
        let html = self.text("content_html").map(|html| Raw::Html(Cow::Owned(html)));
        let plain = || self.text("content_text").map(|text| Raw::Plain(Cow::Owned(text)));
        let picture = self.url(&["image", "banner_image"], base).or_else(|| {
            let enclosed = enclosures.iter().find(|e| e.is_picture()).map(|e| e.url.clone());
            enclosed.or_else(|| absolute(&html.as_ref()?.picture()?, base))
        });
        let author = Some(self.authors()).filter(|a| !a.is_empty());
        let linked = || link.as_ref().map(ToString::to_string);
        FeedEntry {
            id: self.text("id").or_else(linked).unwrap_or_default(),
            title: line(self.text("title")),
            summary: line(self.text("summary")),
            content: html.or_else(plain).map(|raw| raw.body()).unwrap_or_default(),
            author: author.unwrap_or_else(|| feed_author.to_owned()),
            published: self.text("date_published").and_then(|t| read_date(&t)),
            updated: self.text("date_modified").and_then(|t| read_date(&t)),
            categories: self
                .list("tags")
                .iter()
                .take(MAX_NAMES)
                .filter_map(|t| Some(t.name()?.to_owned()))
                .collect(),
            picture,
            enclosures,
            comments: None,
            link,
        }
    }
}

struct Scan<'t> {
    rest: &'t str,
    /// Whether the text ended or went wrong before a value was complete. Nothing is read then.
    broken: bool,
}

impl Scan<'_> {
    fn value(&mut self, depth: usize) -> Option<Json> {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.as_bytes().first() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => self.fail(),
            Some(b'{') => {
                let mut members = Vec::new();
                self.members(b'}', |scan| {
                    scan.rest = scan.rest.trim_ascii_start();
                    let name =
                        if scan.rest.starts_with('"') { scan.string() } else { return false };
                    scan.rest = scan.rest.trim_ascii_start();
                    let Some(rest) = scan.rest.strip_prefix(':') else { return false };
                    scan.rest = rest;
                    let value = scan.value(depth + 1);
                    members.extend(value.map(|value| (name, value)));
                    true
                });
                Some(Json::Map(members))
            }
            Some(b'[') => {
                let mut values = Vec::new();
                self.members(b']', |scan| {
                    let value = scan.value(depth + 1);
                    let read = value.is_some();
                    values.extend(value);
                    read
                });
                Some(Json::List(values))
            }
            Some(b'"') => Some(Json::Text(self.string())),
            Some(_) => {
                let end = self
                    .rest
                    .bytes()
                    .take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b));
                let (word, rest) = self.rest.split_at(end.count());
                if word.is_empty() {
                    return self.fail();
                }
                self.rest = rest;
                Some(Json::Word(word.to_owned()))
            }
            None => self.fail(),
        }
    }

    fn fail(&mut self) -> Option<Json> {
        self.broken = true;
        self.rest = "";
        None
    }

    /// Reads what stands between brackets, commas between, up to the end or to a break.
    fn members(&mut self, end: u8, mut one: impl FnMut(&mut Self) -> bool) {
        self.rest = &self.rest[1..];
        loop {
            self.rest = self.rest.trim_ascii_start();
            match self.rest.as_bytes().first() {
                Some(&b) if b == end => {
                    self.rest = &self.rest[1..];
                    return;
                }
                Some(b',') => self.rest = &self.rest[1..],
                Some(_) if one(self) => {}
                _ => {
                    self.fail();
                    return;
                }
            }
        }
    }

    /// A string; one that does not end takes the rest.
    fn string(&mut self) -> String {
        let mut out = String::new();
        let mut rest = &self.rest[1..];
        loop {
            let Some(at) = rest.find(['"', '\\']) else {
                out.push_str(rest);
                self.broken = true;
                self.rest = "";
                return out;
            };
            out.push_str(&rest[..at]);
            let is_end = rest.as_bytes()[at] == b'"';
            rest = &rest[at + 1..];
            if is_end {
                self.rest = rest;
                return out;
            }
            let mut letters = rest.chars();
            match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('b' | 'f') | None => {}
                Some('u') => {
                    let (c, used) = escaped(rest);
                    out.push(c);
                    rest = rest.get(used..).unwrap_or_default();
                    continue;
                }
                Some(c) => out.push(c),
            }
            rest = letters.as_str();
        }
    }
}

/// The character of `uXXXX`, of two of them when it takes two, and the bytes it is written in.
fn escaped(rest: &str) -> (char, usize) {
    let unit = |from: usize| u16::from_str_radix(rest.get(from..from + 4)?, 16).ok();
    let Some(first) = unit(1) else { return (char::REPLACEMENT_CHARACTER, 1) };
    let second = rest.get(5..7).filter(|s| *s == "\\u").and_then(|_| unit(7));
    if (0xD800..0xDC00).contains(&first)
        && let Some(second) = second
        && let Some(Ok(c)) = char::decode_utf16([first, second]).next()
    {
        return (c, 11);
    }
    (char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER), 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEED: &str = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "T \u00e9\ud83d\ude00",
        "home_page_url": "https://h.test/", "authors": [{"name": "A"}], "items": [
        {"id": 7, "url": "/a", "title": "One &amp; only", "content_html": "<p>x<img src='p.jpg'><p>y",
         "date_published": "2026-01-31T12:00:00+02:00", "tags": ["u", "v"]},
        {"id": "b", "external_url": "https://o.test/b", "content_text": "plain <b>"}]}"#;

    #[test]
    fn the_members_of_a_feed_are_read() {
        let feed = read(FEED, None).unwrap();
        assert_eq!((feed.title.as_str(), feed.ill_formed), ("T é😀", false));
        let first = &feed.entries[0];
        assert_eq!((first.id.as_str(), first.title.as_str()), ("7", "One & only"));
        assert_eq!((first.content.as_str(), first.author.as_str()), ("x\ny", "A"));
        assert_eq!(first.link.as_ref().unwrap().as_str(), "https://h.test/a");
        assert_eq!(first.picture.as_ref().unwrap().as_str(), "https://h.test/p.jpg");
        assert_eq!(first.published.unwrap().zone, Some(120));
        assert_eq!(feed.entries[1].content, "plain <b>");
    }

    #[test]
    fn a_feed_that_breaks_off_gives_what_it_has() {
        let mut most = 0;
        for end in 0..FEED.len() {
            if let Some(feed) = FEED.get(..end).and_then(|part| read(part, None)) {
                assert!(feed.ill_formed, "{end}");
                assert!(feed.entries.len() >= most);
                most = feed.entries.len();
            }
        }
        assert_eq!(most, 2);
        assert!(read("{", None).is_none());
        assert!(read(&"[".repeat(9999), None).is_none());
        assert!(read(r#"{"items": [{"id": "a" "b"}]}"#, None).is_some());
    }
}
