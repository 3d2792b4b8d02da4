//! `links`, `top`, `broken`: who links where, in columns, as JSON lines or as CSV.
//!
//! Rows come in pieces, so that a page that a million others link to is listed without being
//! held in memory. In text a first look is enough: counts are exact, lists are cut short and say
//! so.

use super::ask::{ask, ask_pieces};
use super::print_json;
use crate::args::{Broken, Format, Global, Links, Top, TopBy, TopOf};
use crate::output::{self, count, csv_line, plural, table};
use argiope_crawl::{LinkOrder, Question};
use serde_json::Value;
use std::collections::HashMap;
use std::process::ExitCode;

/// Linking pages read at a time.
const PIECE: usize = 1_000;
/// Links listed in text.
const SHOWN: usize = 20;
/// Different words shown in text.
const GROUPS: usize = 10;
/// Broken URLs shown in text.
const BROKEN: usize = 50;
/// Pages named for each of them.
const HOLDERS: usize = 5;

const LINK_FIELDS: [&str; 8] =
    ["source", "target", "words", "kind", "nofollow", "first_seen", "last_seen", "count"];
const TOP_FIELDS: [&str; 5] = ["doc", "url", "backlinks", "sites", "rank"];
const BROKEN_FIELDS: [&str; 5] = ["url", "outcome", "source", "words", "malformed"];

pub fn links(global: &Global, args: &Links) -> anyhow::Result<ExitCode> {
    let target = args.target.trim().to_owned();
    if args.out {
        let rows = ask(global, &Question::LinksOut { source: target.clone() })?;
        links_out(global, args, &target, rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let limit = limit(args.limit, SHOWN);
    let question =
        |pages| Question::Links { target: target.clone(), order: LinkOrder { after: None, pages } };
    if global.format == Format::Text {
        let (mut total, mut rows) = (Value::Null, Vec::new());
        ask_pieces(global, &question(limit.clamp(PIECE, 10 * PIECE)), |piece| {
            let (totals, links): (Vec<Value>, Vec<Value>) =
                piece.into_iter().partition(|row| row["source"].is_null());
            total = totals.into_iter().next().unwrap_or(total.take());
            rows.extend(links);
            Ok(rows.len() < limit)
        })?;
        output::print(incoming(&total, &rows, limit))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut left = args.limit.filter(|n| *n > 0).unwrap_or(usize::MAX);
    let mut head = true;
    ask_pieces(global, &question(left.min(PIECE)), |mut piece| {
        piece.retain(|row| !row["source"].is_null());
        piece.truncate(left);
        left -= piece.len();
        print_rows(global.format, &LINK_FIELDS, &piece, std::mem::take(&mut head))?;
        Ok(left > 0)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The links of a page, which are one piece.
fn links_out(
    global: &Global,
    args: &Links,
    source: &str,
    mut rows: Vec<Value>,
) -> anyhow::Result<()> {
    if global.format != Format::Text {
        rows.truncate(args.limit.filter(|n| *n > 0).unwrap_or(usize::MAX));
        return print_rows(global.format, &LINK_FIELDS, &rows, true);
    }
    let mut lines = vec![format!("{} of {source}.", plural(rows.len() as u64, "link", "links"))];
    let limit = limit(args.limit, SHOWN);
    if !rows.is_empty() {
        lines.push(String::new());
        lines.extend(link_table("target", &rows[..rows.len().min(limit)]));
    }
    if rows.len() > limit {
        lines.push(format!(
            "… and {} more; --limit 0 lists all.",
            count((rows.len() - limit) as u64)
        ));
    }
    output::print(lines)
}

/// The limit given, 0 meaning none.
fn limit(given: Option<usize>, default: usize) -> usize {
    match given {
        None => default,
        Some(0) => usize::MAX,
        Some(n) => n,
    }
}

/// Who links to a URL, in words and columns.
fn incoming(total: &Value, rows: &[Value], limit: usize) -> Vec<String> {
    let number = |name: &str| total[name].as_u64().unwrap_or(0);
    let target = total["target"].as_str().unwrap_or_default();
    let (pages, others) = (number("backlinks"), number("others"));
    if pages + others == 0 {
        return vec![format!("No page links to {target}.")];
    }
    let refer = plural(others, "page refers", "pages refer");
    let mut first = match pages {
        0 => format!("No page links to {target}"),
        1 => format!("1 page links to {target}"),
        n => {
            let sites = plural(number("sites"), "site", "sites");
            format!("{} pages of {sites} link to {target}", count(n))
        }
    };
    if others > 0 {
        first.push_str(&format!("; {refer} to it in another way"));
    }
    let mut lines = vec![format!("{first}.")];
    let read = rows.len();
    let groups = grouped(rows);
    if !groups.is_empty() {
        let cells: Vec<Vec<String>> =
            groups.iter().take(GROUPS).map(|(words, n)| vec![count(*n), shown(words)]).collect();
        lines.push(String::new());
        lines.extend(table(&[">links", "words"], &cells));
        if groups.len() > GROUPS {
            let more = count((groups.len() - GROUPS) as u64);
            lines.push(format!("… and {more} other wordings."));
        }
    }
    lines.push(String::new());
    lines.extend(link_table("source", &rows[..read.min(limit)]));
    let mut seen: Vec<&Value> = rows.iter().map(|row| &row["source"]).collect();
    seen.dedup();
    let unread = pages + others > seen.len() as u64;
    if read > limit || unread {
        let words = if unread { "; the words are those of the first pages" } else { "" };
        lines.push(format!("… --limit 0 lists all{words}."));
    }
    lines
}

/// How often each wording is used by links that count, most frequent first.
fn grouped(rows: &[Value]) -> Vec<(&str, u64)> {
    let mut words: HashMap<&str, u64> = HashMap::new();
    for row in rows {
        if matches!(row["kind"].as_str(), Some("a" | "area" | "frame" | "iframe")) {
            *words.entry(row["words"].as_str().unwrap_or_default()).or_default() +=
                row["count"].as_u64().unwrap_or(1);
        }
    }
    let mut words: Vec<(&str, u64)> = words.into_iter().collect();
    words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    words
}

fn link_table(end: &str, rows: &[Value]) -> Vec<String> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let kind = row["kind"].as_str().unwrap_or_default();
            let nofollow = row["nofollow"] == true;
            vec![
                if nofollow { format!("{kind} nofollow") } else { kind.to_owned() },
                row["first_seen"].as_str().map_or("-", |time| &time[..10]).to_owned(),
                row["last_seen"].as_str().map_or("-", |time| &time[..10]).to_owned(),
                row[end].as_str().unwrap_or_default().to_owned(),
                shown(row["words"].as_str().unwrap_or_default()),
            ]
        })
        .collect();
    table(&["by", "first seen", "last seen", end, "words"], &cells)
}

/// Words on one line of bounded length.
fn shown(words: &str) -> String {
    match words {
        "" => "-".to_owned(),
        words => output::cut(words, 60),
    }
}

pub fn top(global: &Global, args: &Top) -> anyhow::Result<ExitCode> {
    let by = match args.by {
        TopBy::Backlinks => argiope_crawl::TopBy::Backlinks,
        TopBy::Sites => argiope_crawl::TopBy::Sites,
        TopBy::Rank => argiope_crawl::TopBy::Rank,
        TopBy::Harmonic => argiope_crawl::TopBy::Harmonic,
    };
    let of_sites = args.of == TopOf::Sites;
    let rows = ask(global, &Question::Top { by, of_sites, limit: args.limit, all: args.all })?;
    // What they stand in the order of, where that is not a count.
    let value = match args.by {
        TopBy::Harmonic => "harmonic",
        _ => "rank",
    };
    if global.format != Format::Text {
        let mut fields: Vec<&str> = match of_sites {
            true => vec!["site", "pages", value],
            false => TOP_FIELDS.to_vec(),
        };
        if !of_sites && args.by == TopBy::Harmonic {
            fields.push(value);
        }
        print_rows(global.format, &fields, &rows, true)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        output::talk("No page here links to another yet.");
        return Ok(ExitCode::SUCCESS);
    }
    let figure = |row: &Value, name: &str| match row[name].as_f64() {
        None => "-".to_owned(),
        Some(value) if name == "rank" => format!("{value:.9}"),
        Some(value) => format!("{value:.2}"),
    };
    let number = |row: &Value, name: &str| count(row[name].as_u64().unwrap_or(0));
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| match of_sites {
            true => vec![figure(row, value), number(row, "pages"), text(row, "site")],
            false => vec![
                figure(row, value),
                number(row, "backlinks"),
                number(row, "sites"),
                row["doc"].as_u64().map_or_else(|| "-".to_owned(), |doc| doc.to_string()),
                text(row, "url"),
            ],
        })
        .collect();
    let value = format!(">{value}");
    output::print(match of_sites {
        true => table(&[&value, ">pages", "site"], &cells),
        false => table(&[&value, ">back-links", ">sites", ">doc", "url"], &cells),
    })?;
    Ok(ExitCode::SUCCESS)
}

pub fn broken(global: &Global, args: &Broken) -> anyhow::Result<ExitCode> {
    let text = global.format == Format::Text;
    let limit = match (args.limit, text) {
        (None, false) => usize::MAX,
        (given, _) => limit(given, BROKEN),
    };
    let (mut urls, mut places, mut head, mut cut) = (0, 0, true, false);
    let mut group: Vec<Value> = Vec::new();
    let finish = |group: &mut Vec<Value>| match text {
        true if !group.is_empty() => output::print(broken_lines(&std::mem::take(group))),
        _ => Ok(()),
    };
    ask_pieces(global, &Question::Broken { after: None, limit: PIECE }, |piece| {
        let mut wanted = Vec::with_capacity(piece.len());
        for row in piece {
            let same = group.last().is_some_and(|last| is_same(last, &row));
            if !same {
                if urls == limit {
                    cut = true;
                    break;
                }
                urls += 1;
                finish(&mut group)?;
                group.clear();
            }
            places += 1;
            match text {
                true => group.push(row),
                false => {
                    group = vec![row.clone()];
                    wanted.push(row);
                }
            }
        }
        if !text {
            print_rows(global.format, &BROKEN_FIELDS, &wanted, std::mem::take(&mut head))?;
        }
        Ok(!cut)
    })?;
    finish(&mut group)?;
    if text {
        output::talk(match (urls, cut) {
            (0, _) => "No link is broken.".to_owned(),
            (_, true) => {
                format!(
                    "\n… the first {}; --limit 0 lists all.",
                    plural(urls as u64, "URL", "URLs")
                )
            }
            _ => format!(
                "\n{} in {}.",
                plural(urls as u64, "broken URL", "broken URLs"),
                plural(places, "place", "places")
            ),
        });
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether two rows are of one URL; a malformed one belongs to its page.
fn is_same(a: &Value, b: &Value) -> bool {
    let page = a["malformed"] == true && a["source"] != b["source"];
    a["url"] == b["url"] && a["malformed"] == b["malformed"] && !page
}

/// One broken URL and the pages that lead to it.
fn broken_lines(rows: &[Value]) -> Vec<String> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let Some(first) = rows.first() else { return Vec::new() };
    let kind = if first["malformed"] == true { "malformed: " } else { "" };
    let mut lines = vec![format!("{}  {kind}{}", text(first, "url"), text(first, "outcome"))];
    for row in rows.iter().take(HOLDERS) {
        lines.push(match row["source"].as_str() {
            Some(source) => format!("    on {source}  {}", shown(&text(row, "words"))),
            None => "    no page links to it: a start URL".to_owned(),
        });
    }
    if rows.len() > HOLDERS {
        lines.push(format!("    and {} more", count((rows.len() - HOLDERS) as u64)));
    }
    lines
}

/// Prints rows as JSON lines or as CSV, which begins with the names of its columns.
/// Rows as lines of JSON or of CSV; a list stands in one cell.
pub fn print_rows(
    format: Format,
    fields: &[&str],
    rows: &[Value],
    head: bool,
) -> anyhow::Result<()> {
    if format == Format::Json {
        return print_json(rows);
    }
    let head = head.then(|| csv_line(fields.iter().map(|name| (*name).to_owned())));
    let line = |row: &Value| {
        csv_line(fields.iter().map(|name| match &row[*name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Array(list) => {
                let texts = list
                    .iter()
                    .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
                texts.collect::<Vec<_>>().join("; ")
            }
            other => other.to_string(),
        }))
    };
    output::print(head.into_iter().chain(rows.iter().map(line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn link(source: &str, words: &str, kind: &str) -> Value {
        json!({ "source": source, "target": "http://a.test/", "words": words, "kind": kind,
            "nofollow": kind == "area", "first_seen": "2026-01-31T00:00:00.000Z",
            "last_seen": "2026-02-01T00:00:00.000Z" })
    }

    #[test]
    fn incoming_links_are_counted_grouped_and_listed() {
        let total = json!({ "target": "http://a.test/", "backlinks": 3, "sites": 2, "others": 1 });
        let rows = [
            link("http://a.test/1", "Home", "a"),
            link("http://a.test/2", "", "a"),
            link("http://b.test/", "Home", "area"),
            link("http://a.test/3", "Elsewhere", "canonical"),
        ];
        assert_eq!(
            incoming(&total, &rows, 3),
            [
                "3 pages of 2 sites link to http://a.test/; 1 page refers to it in another way.",
                "",
                "links  words",
                "    2  Home",
                "    1  -",
                "",
                "by             first seen  last seen   source           words",
                "a              2026-01-31  2026-02-01  http://a.test/1  Home",
                "a              2026-01-31  2026-02-01  http://a.test/2  -",
                "area nofollow  2026-01-31  2026-02-01  http://b.test/   Home",
                "… --limit 0 lists all.",
            ]
        );
        let none = json!({ "target": "http://a.test/", "backlinks": 0, "sites": 0, "others": 0 });
        assert_eq!(incoming(&none, &[], 3), ["No page links to http://a.test/."]);
    }

    #[test]
    fn a_link_counts_as_often_as_it_stands_on_its_page() {
        let mut often = link("http://a.test/1", "Home", "a");
        often["count"] = json!(4);
        let rows = [often, link("http://a.test/2", "Start", "a")];
        assert_eq!(grouped(&rows), [("Home", 4), ("Start", 1)]);
    }

    #[test]
    fn a_broken_url_is_told_with_the_pages_that_hold_it() {
        let row = |source: Value| {
            json!({ "url": "http://a.test/x", "outcome": "404",
            "source": source, "words": "Look", "malformed": false })
        };
        let rows: Vec<Value> = (0..7).map(|n| row(json!(format!("http://a.test/{n}")))).collect();
        let lines = broken_lines(&rows);
        assert_eq!(lines[0], "http://a.test/x  404");
        assert_eq!(lines[1], "    on http://a.test/0  Look");
        assert_eq!(lines.last().map(String::as_str), Some("    and 2 more"));
        assert!(broken_lines(&[row(Value::Null)])[1].contains("start URL"));
    }
}
