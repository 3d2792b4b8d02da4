//! Archived copies, behind bars: `/memento/{14 digits}/{url}` is the bytes, `/copy?url=&at=` the page around them.
//!
//! * What came from the web is hostile. The bytes are given out under a policy of their own: an opaque origin, no
//!   script, no network, no forms, no frames of ours around or inside; styles and pictures only as they stand in them.
//! * Invariants: no header of the archived answer is given out again; its type is one of those named in [`shown_as`],
//!   everything else is a file to be saved. Pages that ask not to be shown are not shown. At most [`AT_ONCE`] copies are
//!   given out at a time, none longer than [`LONGEST`], and none is held in memory whole.
//! * Programs get the bytes as they were. For browsers hints to connect are taken out ([`super::defuse`]).

use super::defuse::Defused;
use crate::api::{base, memento_headers, place};
use crate::app::{Desk, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{encoded, minute};
use argiope_crawl::{Asked, Question, Shelf, Versions, version_at};
use argiope_model::{CanonicalUrl, Capture, OutcomeKind, Time};
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use futures_util::stream;
use maud::html;
use serde::Deserialize;
use std::io::Read;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Copies given out at once.
const AT_ONCE: usize = 16;
/// Nobody takes longer for one.
const LONGEST: Duration = Duration::from_secs(60);
/// Bytes read at a time.
const PIECE: usize = 64 << 10;
/// What a copy may do: be looked at.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; \
    form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

static ROOM: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(AT_ONCE));

/// How a type is given out: its name, whether a charset belongs to it, and whether it is shown or saved.
fn shown_as(mime: &str) -> (&'static str, bool, bool) {
    let mime = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match &*mime {
        "text/html" | "application/xhtml+xml" => ("text/html", true, true),
        "image/png" => ("image/png", false, true),
        "image/jpeg" => ("image/jpeg", false, true),
        "image/gif" => ("image/gif", false, true),
        "image/webp" => ("image/webp", false, true),
        "image/avif" => ("image/avif", false, true),
        "image/svg+xml" => ("image/svg+xml", false, true),
        "text/css"
        | "text/javascript"
        | "application/javascript"
        | "application/json"
        | "application/xml"
        | "text/xml"
        | "application/rss+xml"
        | "application/atom+xml" => ("text/plain", true, true),
        other if other.starts_with("text/") => ("text/plain", true, true),
        "application/pdf" => ("application/pdf", false, false),
        _ => ("application/octet-stream", false, false),
    }
}

/// The charset that an archived head names, where it is a plain word.
fn charset_of(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let line = head.lines().find(|line| line.starts_with("content-type:"))?;
    let (_, after) = line.split_once("charset=")?;
    let word = after.trim_start_matches(['"', '\'']);
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.:".contains(c)));
    let word = &word[..end.unwrap_or(word.len())];
    (!word.is_empty() && word.len() <= 40).then(|| word.to_owned())
}

/// All captures of a page.
fn versions(desk: &dyn Desk, target: &str) -> Result<Versions, Failure> {
    let mut rows =
        match desk.ask(&Question::Versions(target.to_owned())).map_err(Failure::nobody)? {
            Asked::Rows(rows) | Asked::Piece(rows, _) => rows.into_iter(),
            Asked::Unknown(why) => return Err(Failure::unknown(why)),
            Asked::Wrong(why) => return Err(Failure::wrong(why)),
            Asked::Sorry(why) => return Err(Failure::refused(why)),
        };
    let page = rows.next().unwrap_or_default();
    let url = CanonicalUrl::parse(page["url"].as_str().unwrap_or_default());
    let url = url.map_err(|_| Failure::unknown(format!("{target} is not known here")))?;
    let captures = rows.map(serde_json::from_value).collect::<Result<Vec<Capture>, _>>();
    let captures = captures.map_err(|e| Failure::ours(e.to_string()))?;
    if captures.is_empty() {
        return Err(Failure::unknown(format!("nothing of {url} is kept")));
    }
    Ok(Versions { url, captures })
}

/// The copy of a time: the version that held then, or the first one where none did yet.
fn chosen(page: &Versions, at: Option<Time>) -> Result<usize, Failure> {
    let kept = |c: &Capture| c.outcome.is_success();
    let of_time = match at {
        Some(at) => version_at(&page.captures, at),
        None => None,
    };
    // Who names the very visit wants what came, whatever it was.
    let meant = |n: usize| {
        let capture = &page.captures[n];
        let moved = capture.outcome.kind == OutcomeKind::Redirect;
        let named = at.is_some_and(|at| at.digits14() == capture.time.digits14());
        named && !moved && capture.record.is_some()
    };
    let n = match (at, of_time) {
        (_, Some(n)) if kept(&page.captures[n]) || meant(n) => Some(n),
        (Some(at), _) => {
            let before = page.captures.iter().rposition(|c| c.time <= at && kept(c));
            before.or_else(|| page.captures.iter().position(kept))
        }
        (None, _) => page.captures.iter().rposition(kept),
    };
    let n = n.ok_or_else(|| Failure::unknown(format!("no copy of {} is kept", page.url)))?;
    if page.captures[n].directives.noarchive {
        let why = format!("{} asks that no copy of it be shown (noarchive)", page.url);
        return Err(Failure::forbidden(why));
    }
    Ok(n)
}

/// 14 digits, or fewer for the beginning of a time, as a time: its last millisecond.
fn time_of(digits: &str) -> Result<Time, Failure> {
    let wrong = || Failure::wrong("the time of a copy is 14 digits: 20260301123000");
    if digits.len() != 14 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let n = |from: usize, to: usize| digits[from..to].parse::<i64>().unwrap_or(0);
    let (year, month, day) = (n(0, 4), n(4, 6), n(6, 8));
    let (hour, min, sec) = (n(8, 10), n(10, 12), n(12, 14));
    if hour > 23 || min > 59 || sec > 60 {
        return Err(wrong());
    }
    let Time(day) = Time::of_day(year, month, day).ok_or_else(wrong)?;
    Ok(Time(day + (hour * 3_600 + min * 60 + sec) * 1000 + 999))
}

/// The URL behind the time in a path, as it stands there or percent-encoded as a whole.
fn url_in(uri: &Uri) -> Result<String, Failure> {
    let whole = uri.path_and_query().map_or("", |p| p.as_str());
    let rest = whole.strip_prefix("/memento/").and_then(|rest| rest.split_once('/'));
    let rest = rest.map_or("", |(_, url)| url);
    let lower = rest.get(..8).unwrap_or(rest).to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Ok(rest.to_owned());
    }
    // Some make one slash of two.
    for scheme in ["http:/", "https:/"] {
        if lower.starts_with(scheme) {
            return Ok(format!("{scheme}/{}", &rest[scheme.len()..]));
        }
    }
    decoded(rest.split('?').next().unwrap_or_default())
        .ok_or_else(|| Failure::wrong("the URL of a copy stands behind its time"))
}

/// Without percent-encoding, where that leaves UTF-8.
fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1..at + 3)) {
            (b'%', Some(hex)) if hex.iter().all(u8::is_ascii_hexdigit) => {
                out.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// What is known of a copy before its bytes come.
struct Begun {
    url: String,
    time: Time,
    /// Of all copies of the page.
    times: Vec<Time>,
    mime: String,
    charset: Option<String>,
}

/// Reads a copy piece by piece, for as long as somebody takes them.
fn give_out(
    desk: &dyn Desk,
    target: &str,
    (at, browser): (Time, bool),
    begun: oneshot::Sender<Result<Begun, Failure>>,
    pieces: &mpsc::Sender<Bytes>,
) {
    let opened = versions(desk, target).and_then(|page| {
        let n = chosen(&page, Some(at))?;
        let captures_of = |url: &str| match versions(desk, url) {
            Ok(page) => Ok(page.captures),
            Err(failure) => Err(failure.why.into()),
        };
        let data = desk.data();
        let shelf =
            Shelf { warc: data.join("warc"), text: data.join("text"), captures_of: &captures_of };
        let opened = shelf.open(&page, n).map_err(|e| Failure::unknown(e.to_string()))?;
        let charset = charset_of(&opened.head);
        let plain = opened.plain().map_err(|e| Failure::refused(e.to_string()))?;
        let seen = page.captures[..=n].iter().rev().find(|c| !c.mime.is_empty());
        let mime = seen.map(|c| c.mime.to_string()).unwrap_or_default();
        let (url, time) = (page.url.to_string(), page.captures[n].time);
        let kept = page.captures.iter().filter(|c| c.outcome.is_success());
        let times = kept.map(|c| c.time).collect();
        Ok((Begun { url, time, times, mime, charset }, plain))
    });
    let (head, mut body) = match opened {
        Ok(opened) => opened,
        Err(failure) => return drop(begun.send(Err(failure))),
    };
    let mut defused = match shown_as(&head.mime).0 {
        "text/html" if browser => Some(Defused::html()),
        "image/svg+xml" if browser => Some(Defused::svg()),
        _ => None,
    };
    if begun.send(Ok(head)).is_err() {
        return;
    }
    let until = Instant::now() + LONGEST;
    let mut piece = vec![0; PIECE];
    loop {
        match body.read(&mut piece) {
            Ok(n @ 1..) if Instant::now() < until => {
                let bytes = match &mut defused {
                    Some(defused) => defused.feed(&piece[..n]).into(),
                    None => Bytes::copy_from_slice(&piece[..n]),
                };
                if pieces.blocking_send(bytes).is_err() {
                    return;
                }
            }
            Ok(0) => break,
            _ => return,
        }
    }
    if let Some(defused) = defused {
        let _ = pieces.blocking_send(defused.end().into());
    }
}

/// Whether a browser asks; they all say so.
fn is_browser(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT).map_or(&b""[..], HeaderValue::as_bytes);
    headers.contains_key("sec-fetch-dest") || agent.windows(8).any(|eight| eight == b"Mozilla/")
}

/// `/memento/{14 digits}/{url}`.
pub(super) async fn bytes(
    State(app): Shared,
    uri: Uri,
    asked: HeaderMap,
) -> Result<Response, Failure> {
    let digits = uri.path().split('/').nth(2).unwrap_or_default();
    let (at, target) = (time_of(digits)?, url_in(&uri)?);
    let room = ROOM.try_acquire().map_err(|_| Failure::busy())?;
    let (begun, begins) = oneshot::channel();
    let (pieces, from) = mpsc::channel(2);
    let how = (at, is_browser(&asked));
    app.apart(move |desk| give_out(desk, &target, how, begun, &pieces));
    let begun = begins.await.map_err(|_| Failure::ours("the copy could not be read"))??;
    // Each copy has one address: that of its own time.
    if begun.time.digits14() != digits {
        let own = place("", begun.time, &begun.url);
        return Ok((StatusCode::FOUND, [(header::LOCATION, own)]).into_response());
    }
    let (mime, with_charset, shown) = shown_as(&begun.mime);
    let mime = match begun.charset.filter(|_| with_charset) {
        Some(charset) => format!("{mime}; charset={charset}"),
        None => mime.to_owned(),
    };
    let until = tokio::time::Instant::now() + LONGEST;
    let body = stream::unfold((from, room), move |(mut from, room)| async move {
        let next = tokio::time::timeout_at(until, from.recv()).await;
        let piece = match next {
            Ok(piece) => Ok(piece?),
            Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut)),
        };
        Some((piece, (from, room)))
    });
    let mut answer = Body::from_stream(body).into_response();
    let headers = answer.headers_mut();
    let fixed = [
        ("content-security-policy", POLICY),
        ("x-frame-options", "SAMEORIGIN"),
        ("x-dns-prefetch-control", "off"),
        ("referrer-policy", "no-referrer"),
        ("content-disposition", if shown { "inline" } else { "attachment; filename=\"copy\"" }),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(&mime) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    headers.extend(memento_headers(&base(&uri, &asked), &begun.url, &begun.times, begun.time));
    Ok(answer)
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    url: String,
    /// 14 digits; the newest copy without them.
    #[serde(default)]
    at: String,
}

/// Where a copy lies.
fn memento_path(url: &CanonicalUrl, time: Time) -> String {
    format!("/memento/{}/{}", time.digits14(), url.as_str())
}

/// `/copy?url=&at=`: a copy with a note of what it is, and ways to the others.
pub(super) async fn frame(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(wanted): Query<Wanted>,
) -> Result<Html<String>, Failure> {
    let at = match &*wanted.at {
        "" => None,
        digits => Some(time_of(digits)?),
    };
    let page_of = app.with_desk(move |desk| versions(desk, &wanted.url)).await??;
    let n = chosen(&page_of, at)?;
    let (url, time) = (&page_of.url, page_of.captures[n].time);
    let near = |n: Option<usize>| n.map(|n| page_of.captures[n].time);
    let kept = |c: &Capture| c.outcome.is_success();
    let before = near(page_of.captures[..n].iter().rposition(kept));
    let after = near(page_of.captures[n + 1..].iter().position(kept).map(|k| n + 1 + k));
    let link = |time: Time| format!("/copy?url={}&at={}", encoded(url.as_str()), time.digits14());
    let when = minute(&time.to_string());
    let body = html! {
        link rel="stylesheet" href="/assets/crawl.css";
        h1 { "A copy" }
        p.note.wrap {
            "This is a copy of " a href={ "/page?url=" (encoded(url.as_str())) } { (url.as_str()) }
            " as of " time datetime=(time.to_string()) { (when) }
            " (UTC). The original may differ. Scripts, forms and anything that would be fetched from elsewhere are switched off."
        }
        nav.pager aria-label="Other copies" {
            @match before {
                Some(time) => { a rel="prev" href=(link(time)) { "← " (minute(&time.to_string())) } }
                None => { span.quiet { "This is the oldest copy." } }
            }
            @match after {
                Some(time) => { a rel="next" href=(link(time)) { (minute(&time.to_string())) " →" } }
                None => { span.quiet { "This is the newest copy." } }
            }
        }
        iframe.copy sandbox="" referrerpolicy="no-referrer" title="The copy" src=(memento_path(url, time)) {}
    };
    let frame = Frame { title: "A copy", tab: Tab::None, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for ms in [0, 951_782_400_000, 1_772_368_200_000, 4_102_444_799_000] {
            let time = Time(ms);
            assert_eq!(time_of(&time.digits14()).unwrap(), Time(ms + 999), "{}", time.digits14());
        }
        for wrong in
            ["", "2026", "20261301000000", "2026030112300x", "202603011230000", "20260301250000"]
        {
            assert!(time_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn urls_stand_behind_the_time_in_several_ways() {
        let url = |uri: &str| url_in(&uri.parse().unwrap()).unwrap();
        let at = "/memento/20260301123000/";
        assert_eq!(url(&format!("{at}http://a.test/x?y=1&z")), "http://a.test/x?y=1&z");
        assert_eq!(url(&format!("{at}https:/a.test/x")), "https://a.test/x");
        assert_eq!(url(&format!("{at}http%3A%2F%2Fa.test%2F%C3%A4")), "http://a.test/ä");
        assert!(url_in(&format!("{at}%FF%FE").parse().unwrap()).is_err());
    }

    #[test]
    fn nothing_that_runs_is_given_out_under_its_own_name() {
        for (mime, shown) in [
            ("text/html; charset=x", true),
            ("application/xhtml+xml", true),
            ("image/svg+xml", true),
            ("application/pdf", false),
            ("application/x-shockwave-flash", false),
            ("multipart/x-mixed-replace", false),
            ("text/javascript", true),
            ("text/xml", true),
            ("message/rfc822", false),
            ("", false),
        ] {
            assert_eq!(shown_as(mime).2, shown, "{mime}");
        }
        assert_eq!(shown_as("text/javascript").0, "text/plain");
        assert_eq!(shown_as("text/xml").0, "text/plain");
        assert_eq!(shown_as("application/xhtml+xml").0, "text/html");
    }

    #[test]
    fn a_charset_is_a_word_or_nothing() {
        let of = |value: &str| {
            charset_of(format!("HTTP/1.1 200 OK\r\nContent-Type: {value}\r\n\r\n").as_bytes())
        };
        assert_eq!(of("text/html; charset=\"ISO-8859-1\"").as_deref(), Some("iso-8859-1"));
        assert_eq!(of("text/html; charset=utf-8; x=y").as_deref(), Some("utf-8"));
        assert_eq!(of("text/html"), None);
        assert_eq!(of("text/html; charset=<script>"), None);
    }
}
