//! Memento (RFC 7089): the versions of a URL, and the one nearest to a time.
//!
//! The versions themselves are at `/memento/{14 digits}/{url}`, with the headers of [`memento_headers`].

use super::cdx;
use super::given::Given;
use super::{json, typed};
use crate::app::App;
use crate::failure::Failure;
use crate::words::text;
use argiope_crawl::{CdxOrder, Question};
use argiope_model::Time;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json as object};

/// Versions told of one URL.
const MOST: usize = 10_000;

/// A version: when, and where it is.
type Version = (Time, String);

/// The URL that a path ends with, its query included.
fn target(given: &Given) -> String {
    let start = given.path.split("{url}").next().unwrap_or_default();
    let raw = given.raw.strip_prefix(start).filter(|rest| rest.contains(":/"));
    let url = raw.map_or_else(|| given.needed("url"), str::to_owned);
    // Proxies and clients make one slash of two.
    let one =
        ["http:/", "https:/"].iter().find_map(|start| Some((*start, url.strip_prefix(start)?)));
    match one {
        Some((scheme, rest)) => format!("{scheme}/{}", rest.trim_start_matches('/')),
        None => url,
    }
}

/// The versions of a URL, oldest first.
async fn versions(app: &App, given: &Given, url: &str) -> Result<Vec<Version>, Failure> {
    let order = CdxOrder { url: url.to_owned(), limit: MOST, ..CdxOrder::default() };
    let rows = app.ask(Question::Cdx(order)).await?;
    let mut found: Vec<Version> = Vec::new();
    for row in &rows {
        // Of moves and failures no copy is given out.
        let status = text(row, "status");
        if !(status.starts_with('2') || status == "304" || text(row, "mime") == "warc/revisit") {
            continue;
        }
        let Some(time) = cdx::from_digits(text(row, "timestamp"), false) else { continue };
        found.push((time, place(&given.base, time, text(row, "url"))));
    }
    found.sort();
    found.dedup();
    match found.is_empty() {
        true => Err(Failure::unknown(format!("nothing of {url} is archived here"))),
        false => Ok(found),
    }
}

/// Where a version is.
pub(crate) fn place(base: &str, time: Time, url: &str) -> String {
    format!("{base}/memento/{}/{}", time.digits14(), tame(url))
}

/// What would end a link early is escaped.
fn tame(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '<' | '>' | '"' | ' ' => out.push_str(&format!("%{:02X}", c as u32)),
            c if c.is_ascii_graphic() => out.push(c),
            c => out.push_str(&crate::words::encoded(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

fn date(time: Time) -> String {
    time.http_date().unwrap_or_default()
}

fn link(url: &str, rel: &str, time: Option<Time>) -> String {
    let kind =
        if rel == "timemap" || rel == "self" { "; type=\"application/link-format\"" } else { "" };
    let time = time.map(|t| format!("; datetime=\"{}\"", date(t))).unwrap_or_default();
    format!("<{url}>; rel=\"{rel}\"{kind}{time}")
}

/// The links that lead from a version, or from the gate, to all others.
fn links(base: &str, url: &str, versions: &[Version], at: Option<Time>) -> String {
    let url = tame(url);
    let mut out = vec![
        link(&url, "original", None),
        link(&format!("{base}/timegate/{url}"), "timegate", None),
        link(&format!("{base}/timemap/link/{url}"), "timemap", None),
    ];
    let last = versions.len().saturating_sub(1);
    let here = at.and_then(|at| versions.iter().position(|(time, _)| time.0 / 1000 == at.0 / 1000));
    for (n, (time, place)) in versions.iter().enumerate() {
        let mut rel = Vec::new();
        if n == 0 {
            rel.push("first");
        }
        if n == last {
            rel.push("last");
        }
        if here.is_some_and(|here| n + 1 == here) {
            rel.push("prev");
        }
        if here.is_some_and(|here| n == here + 1) {
            rel.push("next");
        }
        if rel.is_empty() && here != Some(n) {
            continue;
        }
        rel.push("memento");
        out.push(link(place, &rel.join(" "), Some(*time)));
    }
    out.join(", ")
}

/// The headers of a version of `url` that was seen at `at`; `times` are those of all versions, oldest first, and
/// `base` is where we are (`http://127.0.0.1:7070`).
pub(crate) fn memento_headers(base: &str, url: &str, times: &[Time], at: Time) -> HeaderMap {
    let versions: Vec<Version> =
        times.iter().map(|time| (*time, place(base, *time, url))).collect();
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&date(at)) {
        headers.insert("memento-datetime", value);
    }
    if let Ok(value) = HeaderValue::from_str(&links(base, url, &versions, Some(at))) {
        headers.insert(header::LINK, value);
    }
    headers
}

pub(crate) fn timegate(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let url = target(&given);
        let wanted = given.text("accept-datetime").filter(|text| !text.is_empty());
        let at = wanted.map(|text| {
            let wrong =
                || Failure::wrong("Accept-Datetime is written so: Sun, 31 Jan 2026 12:00:00 GMT");
            Time::from_http_date(text).ok_or_else(wrong)
        });
        let at = at.transpose()?;
        let versions = versions(app, &given, &url).await?;
        let nearest = match at {
            Some(at) => versions.iter().min_by_key(|(time, _)| time.0.abs_diff(at.0)),
            None => versions.last(),
        };
        let (_, place) = nearest.ok_or_else(|| Failure::ours("no version"))?;
        let head = [
            (header::LOCATION, place.clone()),
            (header::VARY, "accept-datetime".to_owned()),
            (header::LINK, links(&given.base, &url, &versions, None)),
        ];
        Ok((StatusCode::FOUND, head).into_response())
    }
    .boxed()
}

pub(crate) fn timemap_link(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let url = target(&given);
        let versions = versions(app, &given, &url).await?;
        Ok(typed("application/link-format", timemap(&given.base, &url, &versions)))
    }
    .boxed()
}

/// A TimeMap in link format.
pub(crate) fn timemap(base: &str, url: &str, versions: &[Version]) -> String {
    let (first, last) = (versions.first(), versions.last());
    let span = match (first, last) {
        (Some(first), Some(last)) => {
            format!("; from=\"{}\"; until=\"{}\"", date(first.0), date(last.0))
        }
        _ => String::new(),
    };
    let url = tame(url);
    let own = link(&format!("{base}/timemap/link/{url}"), "self", None);
    let mut out = vec![
        link(&url, "original", None),
        format!("{own}{span}"),
        link(&format!("{base}/timegate/{url}"), "timegate", None),
    ];
    for (n, (time, place)) in versions.iter().enumerate() {
        let rel = match (n == 0, n + 1 == versions.len()) {
            (true, true) => "first last memento",
            (true, false) => "first memento",
            (false, true) => "last memento",
            (false, false) => "memento",
        };
        out.push(link(place, rel, Some(*time)));
    }
    out.join(",\n") + "\n"
}

pub(crate) fn timemap_json(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let url = target(&given);
        let versions = versions(app, &given, &url).await?;
        let (base, url) = (&given.base, tame(&url));
        let told = |(time, place): &Version| -> Value {
            object!({ "datetime": time.iso_seconds(), "uri": place })
        };
        let (link, own) =
            (format!("{base}/timemap/link/{url}"), format!("{base}/timemap/json/{url}"));
        Ok(json(&object!({
            "original_uri": url,
            "self": own,
            "timegate_uri": format!("{base}/timegate/{url}"),
            "timemap_uri": { "link_format": link, "json_format": own },
            "mementos": {
                "first": versions.first().map(told),
                "last": versions.last().map(told),
                "list": versions.iter().map(told).collect::<Vec<_>>(),
            },
        })))
    }
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_says_when_it_was_and_what_stands_beside_it() {
        let times = [Time(1_000), Time(5_000), Time(9_000)];
        let headers = memento_headers("http://h", "http://a.test/\">x", &times, Time(5_200));
        assert_eq!(headers["memento-datetime"], "Thu, 01 Jan 1970 00:00:05 GMT");
        let links = headers["link"].to_str().unwrap();
        for part in [
            "<http://a.test/%22%3Ex>; rel=\"original\"",
            "<http://h/timegate/http://a.test/%22%3Ex>; rel=\"timegate\"",
            "<http://h/memento/19700101000001/http://a.test/%22%3Ex>; rel=\"first prev memento\"",
            "19700101000005/http://a.test/%22%3Ex>; rel=\"memento\"; datetime=\"Thu, 01 Jan 1970 00:00:05 GMT\"",
            "rel=\"last next memento\"",
        ] {
            assert!(links.contains(part), "{part} in {links}");
        }
    }
}
