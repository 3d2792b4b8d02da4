//! The CDX server: captures as pywb and the Wayback Machine list them.
//!
//! What it takes and how it writes rows is pywb's way; `collapse`, `resumeKey` and the older names of fields are the
//! Wayback Machine's. A listing that goes on has a `Link` with `rel="next"`.

use super::given::Given;
use super::table::{Kind, Param};
use super::{cursor, memento, typed};
use crate::app::App;
use crate::failure::Failure;
use crate::words::text;
use argiope_archive::warc_date;
use argiope_crawl::{CdxFilter, CdxMatch, CdxOrder, CdxSort, CdxTest, Question};
use argiope_model::Time;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

/// Rows of one answer.
const MOST: u64 = 10_000;
/// Rows that can be reached by pages.
const PAGED: usize = 50_000;
/// The fields of a line, in the order of an index; `-` where a record has none.
const FIELDS: [&str; 11] = [
    "urlkey",
    "timestamp",
    "url",
    "mime",
    "status",
    "digest",
    "redirect",
    "metaflags",
    "length",
    "offset",
    "filename",
];
/// Other names of fields.
const NAMES: [(&str, &str); 9] = [
    ("statuscode", "status"),
    ("mimetype", "mime"),
    ("original", "url"),
    ("robotflags", "metaflags"),
    ("orig.length", "length"),
    ("s", "status"),
    ("m", "mime"),
    ("a", "url"),
    ("k", "digest"),
];

pub(crate) const PARAMS: &[Param] = &[
    Param::new(
        "url",
        Kind::Text(1, 2_000),
        "The URL; `example.org/*` is a prefix, `*.example.org` a domain.",
    )
    .needed(),
    Param::new(
        "matchType",
        Kind::Choice(&["exact", "prefix", "host", "domain"]),
        "What is meant by it.",
    )
    .default("exact"),
    Param::new("from", Kind::Digits, "Not before: 4 to 14 digits."),
    Param::new("to", Kind::Digits, "Not after: 4 to 14 digits."),
    Param::new("limit", Kind::Number(1, MOST), "How many."),
    Param::new(
        "sort",
        Kind::Choice(&["default", "reverse", "closest"]),
        "In which order; of one URL.",
    ),
    Param::new("closest", Kind::Digits, "The nearest to this first: 4 to 14 digits."),
    Param::new("output", Kind::Choice(&["cdxj", "json", "text", "link"]), "How rows are written.")
        .default("cdxj"),
    Param::new("fl", Kind::Text(1, 200), "The fields, with commas between them."),
    Param::new(
        "filter",
        Kind::Text(1, 300),
        "[!]field:part, [!]=field:text or [!]~field:expression.",
    )
    .many(10),
    Param::new(
        "collapse",
        Kind::Text(1, 40),
        "A field, or field:N: of neighbours that agree the first.",
    ),
    Param::new("page", Kind::Number(0, 1_000), "Which page, from 0."),
    Param::new("pageSize", Kind::Number(1, MOST), "Rows of a page.").default("1000"),
    Param::new("showNumPages", Kind::Flag, "Only how many pages there are."),
    Param::new("cursor", Kind::Cursor, "Where the listing before ended, as its Link header says."),
];

pub(crate) fn cdx(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let order = order(&given)?;
        let fields = fields(&given)?;
        if given.flag("showNumPages") {
            return number_of_pages(app, &given, order).await;
        }
        let after = cursor::opened(app, &given)?;
        let order = CdxOrder { after, ..order };
        let (rows, rest) = app.ask_piece(Question::Cdx(order)).await?;
        let rest = rest.and_then(|rest| match rest {
            Question::Cdx(rest) => rest.after,
            _ => None,
        });
        let (kind, body) = match given.text("output").unwrap_or("cdxj") {
            "json" => ("text/x-ndjson", lines(&rows, |row| in_json(row, &fields).to_string())),
            "text" => ("text/plain; charset=utf-8", lines(&rows, |row| in_text(row, &fields))),
            "link" => ("application/link-format", in_links(&given, &rows)),
            _ => ("text/x-cdxj", lines(&rows, |row| in_cdxj(row, &fields))),
        };
        let mut answer = typed(kind, body);
        if let (Some(rest), None) = (rest, given.text("page")) {
            let next = next(&given, &cursor::sealed(app, &given, &rest));
            if let Ok(value) = HeaderValue::from_str(&next) {
                answer.headers_mut().insert(header::LINK, value);
            }
        }
        Ok(answer)
    }
    .boxed()
}

/// The link to what comes next.
fn next(given: &Given, cursor: &str) -> String {
    let (path, query) = given.raw.split_once('?').unwrap_or((&given.raw, ""));
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("cursor=")).collect();
    format!("<{}{path}?{}&cursor={cursor}>; rel=\"next\"", given.base, kept.join("&"))
}

async fn number_of_pages(app: &App, given: &Given, order: CdxOrder) -> Result<Response, Failure> {
    let rows = app.ask(Question::Cdx(CdxOrder { count: true, ..order })).await?;
    let rows = rows.first().and_then(|row| row["rows"].as_u64()).unwrap_or(0);
    let size = given.number("pageSize", 1_000);
    let pages = rows.div_ceil(size);
    Ok(match given.text("output") {
        Some("json") => typed(
            "text/x-ndjson",
            format!("{}\n", json!({ "pages": pages, "pageSize": size, "blocks": pages })),
        ),
        _ => typed("text/plain; charset=utf-8", format!("{pages}\n")),
    })
}

fn order(given: &Given) -> Result<CdxOrder, Failure> {
    let wrong = |name: &str| Failure::wrong(format!("{name} is no time: write 20260131120000"));
    let time = |name: &str, end: bool| {
        let text = given.text(name);
        text.map(|text| from_digits(text, end).ok_or_else(|| wrong(name))).transpose()
    };
    let written = given.needed("url");
    let (url, meant) = if let Some(domain) = written.strip_prefix("*.") {
        (domain.to_owned(), CdxMatch::Domain)
    } else if let Some(prefix) = written.strip_suffix('*') {
        (prefix.to_owned(), CdxMatch::Prefix)
    } else {
        (written, CdxMatch::Exact)
    };
    let matching = match given.text("matchType") {
        Some("prefix") => CdxMatch::Prefix,
        Some("host") => CdxMatch::Host,
        Some("domain") => CdxMatch::Domain,
        Some(_) => CdxMatch::Exact,
        None => meant,
    };
    let closest = time("closest", false)?;
    let sort = match (given.text("sort"), closest) {
        (Some("reverse"), _) => CdxSort::Reverse,
        (Some("closest"), None) => {
            return Err(Failure::wrong("sort=closest needs closest=: nearest to which time?"));
        }
        (Some("closest") | None, Some(at)) => CdxSort::Closest(at),
        _ => CdxSort::Forward,
    };
    let page = given.text("page").map(|_| given.number("page", 0) as usize);
    let size = given.number("pageSize", 1_000) as usize;
    if page.is_some_and(|page| (page + 1) * size > PAGED) {
        return Err(Failure::wrong(format!(
            "pages end at row {PAGED}; without page= the Link header leads on"
        )));
    }
    Ok(CdxOrder {
        url,
        matching,
        from: time("from", false)?,
        to: time("to", true)?,
        sort,
        filters: given.all("filter").iter().map(|text| filter(text)).collect::<Result<_, _>>()?,
        collapse: given.text("collapse").map(collapse).transpose()?,
        limit: match page {
            Some(_) => size,
            None => given.number("limit", MOST) as usize,
        },
        skip: page.unwrap_or(0) * size,
        count: false,
        after: None,
    })
}

fn field(name: &str) -> Result<String, Failure> {
    let name = name.trim();
    let known = NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, field)| field);
    match FIELDS.contains(&known) {
        true => Ok(known.to_owned()),
        false => Err(Failure::wrong(format!(
            "{} is no field; there are {}",
            name.chars().take(40).collect::<String>(),
            FIELDS.join(", ")
        ))),
    }
}

fn fields(given: &Given) -> Result<Vec<String>, Failure> {
    let Some(text) = given.text("fl") else { return Ok(Vec::new()) };
    text.split(',').map(field).collect()
}

/// `!~status:[45]..` and the like.
fn filter(text: &str) -> Result<CdxFilter, Failure> {
    let (not, rest) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let (test, rest) = match (rest.strip_prefix('='), rest.strip_prefix('~')) {
        (Some(rest), _) => (CdxTest::Is, rest),
        (_, Some(rest)) => (CdxTest::Like, rest),
        _ => (CdxTest::Holds, rest),
    };
    let (name, text) = rest.split_once(':').ok_or_else(|| {
        Failure::wrong("filter is written field:part, =field:text or ~field:expression")
    })?;
    Ok(CdxFilter { field: field(name)?, not, test, text: text.to_owned() })
}

fn collapse(text: &str) -> Result<(String, Option<usize>), Failure> {
    let Some((name, first)) = text.split_once(':') else { return Ok((field(text)?, None)) };
    let first =
        first.parse().map_err(|_| Failure::wrong("collapse is written field or field:10"))?;
    Ok((field(name)?, Some(first)))
}

/// The beginning of what some digits mean, or its end.
pub(crate) fn from_digits(digits: &str, end: bool) -> Option<Time> {
    if !(4..=14).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let fill = if end { "1231235959" } else { "0101000000" };
    let all = format!("{digits}{}", &fill[digits.len() - 4..]);
    let part = |from: usize, to: usize| &all[from..to];
    let (y, mo, d) = (part(0, 4), part(4, 6), part(6, 8));
    let (h, mi, s) = (part(8, 10), part(10, 12), part(12, 14));
    // Of a month the last day there is.
    let days = if end && digits.len() <= 6 { vec!["31", "30", "29", "28"] } else { vec![d] };
    let time = days.iter().find_map(|d| warc_date(&format!("{y}-{mo}-{d}T{h}:{mi}:{s}Z")))?;
    Some(if end { Time(time.0 + 999) } else { time })
}

fn lines(rows: &[Value], write: impl Fn(&Value) -> String) -> String {
    rows.iter().map(|row| write(row) + "\n").collect()
}

/// The fields that are there, in their order.
fn in_json(row: &Value, fields: &[String]) -> Value {
    let wanted = FIELDS.iter().filter(|f| fields.is_empty() || fields.iter().any(|w| w == *f));
    let held = wanted.filter_map(|f| Some(((*f).to_owned(), json!(row[*f].as_str()?))));
    held.collect::<Map<_, _>>().into()
}

fn in_text(row: &Value, fields: &[String]) -> String {
    let value = |field: &str| row[field].as_str().unwrap_or("-").to_owned();
    let values: Vec<String> = match fields.is_empty() {
        true => FIELDS.iter().map(|field| value(field)).collect(),
        false => fields.iter().map(|field| value(field)).collect(),
    };
    values.join(" ")
}

fn in_cdxj(row: &Value, fields: &[String]) -> String {
    let mut rest = in_json(row, fields);
    if let Some(rest) = rest.as_object_mut() {
        rest.remove("urlkey");
        rest.remove("timestamp");
    }
    format!("{} {} {rest}", text(row, "urlkey"), text(row, "timestamp"))
}

fn in_links(given: &Given, rows: &[Value]) -> String {
    let versions = rows.iter().filter_map(|row| {
        let time = from_digits(text(row, "timestamp"), false)?;
        Some((time, memento::place(&given.base, time, text(row, "url"))))
    });
    memento::timemap(&given.base, &given.needed("url"), &versions.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_mean_the_beginning_or_the_end_of_a_time() {
        let at = |text: &str, end| from_digits(text, end).map(|t| t.digits14());
        for (text, from, to) in [
            ("2026", "20260101000000", "20261231235959"),
            ("202602", "20260201000000", "20260228235959"),
            ("20240229", "20240229000000", "20240229235959"),
            ("2026111510", "20261115100000", "20261115105959"),
            ("20261115100007", "20261115100007", "20261115100007"),
        ] {
            assert_eq!(at(text, false).as_deref(), Some(from), "{text}");
            assert_eq!(at(text, true).as_deref(), Some(to), "{text}");
        }
        for wrong in ["", "20", "20261301", "2026023", "20260230", "99999999999999"] {
            assert_eq!(at(wrong, true), None, "{wrong}");
        }
    }

    #[test]
    fn filters_are_read_as_pywb_reads_them() {
        let read = |text: &str| filter(text).map(|f| (f.not, f.test, f.field, f.text)).ok();
        let row = |not, test, field: &str, text: &str| Some((not, test, field.into(), text.into()));
        assert_eq!(read("!=statuscode:200"), row(true, CdxTest::Is, "status", "200"));
        assert_eq!(read("~mime:text/.*"), row(false, CdxTest::Like, "mime", "text/.*"));
        assert_eq!(read("url:a:b"), row(false, CdxTest::Holds, "url", "a:b"));
        assert!(read("200").is_none() && read("=nothing:1").is_none());
    }
}
