//! Feeds of every form, broken and mislabelled ones included.
//!
//! The cases ask for more than this crate keeps: each field that is not kept belongs to a class
//! below, and each case that is read otherwise on purpose stands in `ON_PURPOSE`.

use crate::{assert_none, bytes, cases};
use argiope_model::CanonicalUrl;
use argiope_parse::{Feed, FeedEntry, FeedTime, parse_feed, parse_html};
use serde_json::Value;
use std::collections::BTreeMap;

/// Where the reading differs from the suite, and why.
const ON_PURPOSE: [(&str, &str); 8] = [
    (
        "tests/encoding/http_application_atom_xml_gb2312_charset",
        "GBK, as the Encoding Standard says",
    ),
    ("tests/encoding/http_text_", "text/xml is no longer ASCII by itself (RFC 7303)"),
    ("tests/encoding/bozo_http_i18n", "text/xml is no longer ASCII by itself (RFC 7303)"),
    ("tests/wellformed/atom10/entry_author_map_author", "an author is a name, without the address"),
    ("tests/wellformed/base/http_entry_id_base", "an identity is kept as it is written"),
    ("tests/wellformed/lang/http_content_language", "the header is the caller's"),
    ("tests/wellformed/rss/item_description_and_summary", "one of two summaries counts"),
    ("tests/wellformed/rss/item_madeup_tags_element", "no element of any format"),
];

/// What is left of the disagreements without those on purpose, and how many these are.
fn unexplained(wrong: Vec<String>) -> Vec<String> {
    let all = wrong.len();
    let is_explained = |w: &String| ON_PURPOSE.iter().any(|(id, _)| w.contains(&format!("/{id}")));
    let left: Vec<String> = wrong.into_iter().filter(|w| !is_explained(w)).collect();
    println!("{} read otherwise on purpose", all - left.len());
    left
}

fn feed(case: &Value) -> Option<Feed> {
    let input = &case["input"];
    let header = |name: &str| {
        let headers = input["headers"].as_object()?;
        headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?.1.as_str()
    };
    // The cases with headers were served from here.
    let own = CanonicalUrl::parse("http://127.0.0.1:8097/").unwrap();
    let url = input["headers"]
        .is_object()
        .then(|| header("Content-Location").and_then(|place| own.join(place).ok()).unwrap_or(own));
    parse_feed(&bytes(&input["bytes"]), header("Content-Type"), url.as_ref())
}

/// Whether a feed declares an encoding that no browser reads either.
fn is_beyond_browsers(case: &Value) -> bool {
    let body = bytes(&case["input"]["bytes"]);
    let text = String::from_utf8_lossy(&body);
    let label = text.split("encoding=").nth(1).and_then(|rest| rest[1..].split(['"', '\'']).next());
    label.is_some_and(|label| encoding_rs::Encoding::for_label(label.as_bytes()).is_none())
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn without_markup(text: &str) -> String {
    folded(&parse_html(text.as_bytes(), Some("utf-8")).text)
}

/// Whether a text of ours says the same: with or without markup, as a URL or as a time.
fn agrees(ours: &str, expected: &Value) -> bool {
    let Some(text) = expected.as_str() else { return expected.is_null() && ours.is_empty() };
    let url = |t: &str| CanonicalUrl::parse(t.trim()).ok();
    let ours = folded(ours);
    ours == folded(text)
        || ours == without_markup(text)
        || url(&ours).is_some() && url(&ours) == url(text)
}

/// What we have for a field of an entry; `None` if it is none that is kept.
fn of_entry(entry: &FeedEntry, path: &[&str]) -> Option<Vec<String>> {
    let link = |url: &Option<CanonicalUrl>| url.iter().map(ToString::to_string).collect();
    Some(match path {
        ["title"] | ["title_detail", "value"] => vec![entry.title.clone()],
        ["link"] => link(&entry.link),
        ["id" | "guid"] => vec![entry.id.clone()],
        ["summary" | "description"] | ["summary_detail", "value"] | ["content", _, "value"] => {
            vec![entry.summary.clone(), entry.content.clone()]
        }
        ["author"] | ["author_detail", "name"] => vec![entry.author.clone()],
        ["authors", _, "name"] => entry.author.split(", ").map(str::to_owned).collect(),
        ["tags", _, "term"] => entry.categories.clone(),
        ["comments"] => link(&entry.comments),
        ["enclosures", _, "href"] => entry.enclosures.iter().map(|e| e.url.to_string()).collect(),
        ["enclosures", _, "type"] => entry.enclosures.iter().map(|e| e.kind.clone()).collect(),
        ["image", "href"] => link(&entry.picture),
        _ => return None,
    })
}

fn of_feed(feed: &Feed, path: &[&str]) -> Option<Vec<String>> {
    let link = |url: &Option<CanonicalUrl>| url.iter().map(ToString::to_string).collect();
    Some(match path {
        ["title"] | ["title_detail", "value"] => vec![feed.title.clone()],
        ["link"] => link(&feed.link),
        ["language"] => feed.language.iter().cloned().collect(),
        ["description" | "subtitle" | "tagline"]
        | ["subtitle_detail" | "tagline_detail", "value"] => vec![feed.description.clone()],
        ["image", "href" | "url"] => link(&feed.picture),
        ["ttl"] => feed.minutes.iter().map(ToString::to_string).collect(),
        _ => return None,
    })
}

/// The time of a field, if it is one that is kept.
fn time_of(feed: &Feed, path: &[&str]) -> Option<Vec<FeedTime>> {
    let both = |entry: &FeedEntry| entry.published.into_iter().chain(entry.updated).collect();
    match path {
        ["feed", "updated" | "published" | "updated_parsed"] => {
            Some(feed.updated.into_iter().collect())
        }
        [
            "entries",
            n,
            "updated" | "published" | "created" | "updated_parsed" | "published_parsed",
        ] => Some(feed.entries.get(n.parse::<usize>().unwrap()).map(both).unwrap_or_default()),
        _ => None,
    }
}

/// The year to the second of a time, as the suite lists it.
fn same_time(ours: FeedTime, expected: &Value) -> bool {
    let wanted = match expected {
        Value::Array(parts) => {
            let part = |n: usize| parts[n].as_i64().unwrap();
            format!(
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                part(0),
                part(1),
                part(2),
                part(3),
                part(4),
                part(5)
            )
        }
        other => {
            let text =
                format!("<rss><item><pubDate>{}</pubDate></item></rss>", other.as_str().unwrap());
            let read = parse_feed(text.as_bytes(), None, None).unwrap();
            read.entries[0].published.unwrap().time.iso_seconds()
        }
    };
    ours.time.iso_seconds() == wanted
}

/// `Ok(None)`: the field is not kept.
fn check(case: &Value) -> Option<Result<(), String>> {
    let (path, value) = (case["expected"]["path"].as_array().unwrap(), &case["expected"]["value"]);
    let path: Vec<String> =
        path.iter().map(|p| p.as_str().map_or_else(|| p.to_string(), str::to_owned)).collect();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let feed = feed(case);
    if path == ["encoding"] {
        let got = feed.as_ref().map_or("none", |f| f.charset);
        let label = |l: &str| {
            encoding_rs::Encoding::for_label(l.as_bytes())
                .map_or(l.to_ascii_lowercase(), |e| e.name().to_owned())
        };
        let want = value.as_str().unwrap();
        return Some((label(got) == label(want)).then_some(()).ok_or(format!("{got}, not {want}")));
    }
    let Some(feed) = feed else { return Some(Err("no feed".to_owned())) };
    if let Some(times) = time_of(&feed, &path) {
        let right = times.iter().any(|t| same_time(*t, value));
        return Some(right.then_some(()).ok_or(format!("{times:?}, not {value}")));
    }
    let ours = match &path[..] {
        ["feed", rest @ ..] => of_feed(&feed, rest)?,
        ["entries", n, rest @ ..] => match feed.entries.get(n.parse::<usize>().unwrap()) {
            Some(entry) => of_entry(entry, rest)?,
            None => of_entry(&FeedEntry::default(), rest)?,
        },
        _ => return None,
    };
    let right = ours.iter().any(|text| agrees(text, value)) || ours.is_empty() && value == "";
    Some(right.then_some(()).ok_or(format!("{path:?} {ours:?}, not {value}")))
}

#[test]
fn fields_are_found() {
    let Some(cases) = cases("feed-feedparser", "feed-field") else { return };
    let mut not_kept: BTreeMap<String, usize> = BTreeMap::new();
    let (mut asked, mut beyond, mut wrong) = (0, 0, Vec::new());
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        match check(case) {
            None => {
                let path = case["expected"]["path"].as_array().unwrap();
                let names: Vec<&str> = path.iter().filter_map(Value::as_str).collect();
                *not_kept.entry(names.join(".")).or_default() += 1;
            }
            Some(_) if is_beyond_browsers(case) => {
                beyond += 1;
                assert!(feed(case).is_some_and(|f| f.ill_formed), "{id} is read and marked");
            }
            Some(result) => {
                asked += 1;
                if let Err(e) = result {
                    wrong.push(format!("{id} {e}"));
                }
            }
        }
    }
    let others: usize = not_kept.values().sum();
    println!("{asked} asked, {beyond} in unknown encodings, {others} not kept: {not_kept:?}");
    assert_none(&unexplained(wrong), asked);
}

#[test]
fn ill_formed_feeds_are_known_as_such() {
    let Some(cases) = cases("feed-feedparser", "feed-bozo") else { return };
    let is_wrong = |case: &&Value| !feed(case).is_some_and(|f| f.ill_formed);
    let wrong: Vec<String> = cases.iter().filter(is_wrong).map(|c| c["id"].to_string()).collect();
    assert_none(&unexplained(wrong), cases.len());
}

#[test]
fn whole_feeds_give_their_entries() {
    let Some(cases) = cases("feed-feedrs", "feed-entries") else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        let (id, want) = (&case["id"], &case["expected"]);
        let Some(feed) = feed(case) else {
            wrong.push(format!("{id} no feed"));
            continue;
        };
        if !agrees(&feed.title, &want["feed_title"]) {
            wrong.push(format!("{id} title {:?}, not {}", feed.title, want["feed_title"]));
        }
        let entries = want["entries"].as_array().unwrap();
        if entries.len() > feed.entries.len() {
            wrong.push(format!("{id} {} entries, not {}", feed.entries.len(), entries.len()));
        }
        for (ours, want) in feed.entries.iter().zip(entries) {
            let link = ours.link.as_ref().map(ToString::to_string).unwrap_or_default();
            for (name, ours) in [("title", &ours.title), ("link", &link), ("id", &ours.id)] {
                // A link leads to the web, and an entry without an identity has its link.
                let is_loose = match name {
                    "link" => !want[name].as_str().is_some_and(|l| l.starts_with("http")),
                    "id" => want[name].is_null(),
                    _ => false,
                };
                if !is_loose && !agrees(ours, &want[name]) {
                    wrong.push(format!("{id} {name} {ours:?}, not {}", want[name]));
                }
            }
        }
    }
    assert_none(&wrong, cases.len());
}

#[test]
fn no_feed_is_too_strange() {
    for (suite, kind) in [
        ("feed-feedparser", "feed-bytes"),
        ("feed-feedparser", "feed-sanitize"),
        ("feed-feedrs", "feed-bytes"),
    ] {
        let Some(cases) = cases(suite, kind) else { return };
        for case in &cases {
            let body = bytes(&case["input"]["bytes"]);
            parse_feed(&body, None, None);
            // Cut off anywhere, it is read as far as it goes.
            parse_feed(&body[..body.len() / 2], None, None);
        }
    }
}
