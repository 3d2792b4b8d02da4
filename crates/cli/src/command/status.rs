//! `status`: how a crawl stands, and what it is doing right now.
//!
//! The engine says what holds; this module puts it into lines of about a hundred columns: totals,
//! then what each visit is doing, the queues between the stages, and who is waited for.

use super::ask::ask;
use super::print_json;
use crate::args::{Format, Global};
use crate::output::{self, bytes, count, seconds, table};
use argiope_crawl::{Question, Snapshot};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// No line is longer, about.
const WIDTH: usize = 100;
/// Visits shown one by one.
const SHOWN: usize = 20;

pub fn status(global: &Global) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::Status)?;
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = rows.into_iter().next().unwrap_or_default();
    output::print(status_lines(&row)?)?;
    Ok(ExitCode::SUCCESS)
}

fn status_lines(row: &Value) -> anyhow::Result<Vec<String>> {
    let now: Snapshot = serde_json::from_value(row.clone())?;
    let totals = totals(&now, row);
    let mut lines: Vec<String> =
        totals.iter().map(|(name, value)| format!("{name:12} {value}")).collect();
    for part in [doing(row), queues(row), waiting(row)] {
        if !part.is_empty() {
            lines.push(String::new());
            lines.extend(part);
        }
    }
    Ok(lines)
}

fn totals(now: &Snapshot, row: &Value) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("state", now.state.clone()),
        ("pages", count(now.fetched)),
        ("queued", count(now.queued)),
        ("failed", count(now.failed)),
        ("errors", count(now.errors)),
        ("received", bytes(now.bytes)),
    ];
    let left_alone: Vec<String> = row["skipped"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(why, n)| Some((why, n.as_u64().filter(|n| *n > 0)?)))
        .map(|(why, n)| format!("{} {}", count(n), why.replace('_', " ")))
        .collect();
    if !left_alone.is_empty() {
        rows.push(("left alone", left_alone.join(", ")));
    }
    if now.state == "idle" {
        return rows;
    }
    if now.again.visited > 0 {
        let again = &now.again;
        rows.push((
            "again",
            format!(
                "{} visited: {} changed, {} as they were, {} gone, {} not had",
                count(again.visited),
                count(again.changed),
                count(again.unchanged),
                count(again.gone),
                count(again.failed)
            ),
        ));
    }
    if let Some(next) = now.next_visit {
        rows.push(("next visit", next.iso_seconds()));
    }
    rows.push(("speed", format!("{:.1} pages/s, {:.1} MB/min", now.pages_per_s, now.mb_per_min)));
    rows.push((
        "requests",
        format!("{} under way, {} connections open", now.requests, now.connections),
    ));
    rows.push((
        "hosts",
        format!(
            "{} loaded: {} asked, {} ready, {} waiting for their delay",
            now.hosts, now.hosts_asked, now.hosts_ready, now.hosts_waiting
        ),
    ));
    if now.traps > 0 || !now.suspects.is_empty() {
        let (paused, suspected) = (now.traps, now.suspects.len());
        let words = format!("{paused} paused, {suspected} suspected; `argiope sites` shows them");
        rows.push(("traps", words));
    }
    if let Some(brake) = &now.brake {
        rows.push(("brake", brake.clone()));
    }
    if let (Some(held @ 1..), Some(peak)) =
        (row["memory"]["now"].as_u64(), row["memory"]["peak"].as_u64())
    {
        rows.push(("memory", format!("{}, {} at most", bytes(held), bytes(peak))));
    }
    rows.push(("running for", seconds(now.elapsed_s)));
    if let Some(left) = now.left_s {
        rows.push(("time left", seconds(left as f64)));
    }
    if let Some(newest) = &now.newest {
        rows.push(("newest page", shorten(newest, WIDTH - 13)));
    }
    if let Some(note) = &now.note {
        rows.push(("note", note.clone()));
    }
    rows
}

/// What each visit is doing, the oldest first; beyond some, how many do what.
fn doing(row: &Value) -> Vec<String> {
    let workers = list(row, "workers");
    let cells: Vec<Vec<String>> = workers
        .iter()
        .take(SHOWN)
        .map(|worker| {
            let time = seconds(worker["for_s"].as_f64().unwrap_or(0.0));
            vec![text(worker, "stage"), time, shorten(&text(worker, "url"), WIDTH - 36)]
        })
        .collect();
    if cells.is_empty() {
        return cells.concat();
    }
    let mut lines = table(&["doing now", ">for", "URL"], &cells);
    if workers.len() > SHOWN {
        let mut more: BTreeMap<String, u64> = BTreeMap::new();
        workers[SHOWN..].iter().for_each(|w| *more.entry(text(w, "stage")).or_default() += 1);
        let more = more.into_iter().map(|(stage, n)| format!("{} {stage}", count(n)));
        lines.push(format!("and {}", more.collect::<Vec<_>>().join(", ")));
    }
    lines
}

/// The queues in the order a page passes them.
fn queues(row: &Value) -> Vec<String> {
    let queues = &row["queues"];
    if queues["requests"].is_null() {
        return Vec::new();
    }
    let number = |value: &Value| value.as_u64().map_or_else(|| "-".to_owned(), count);
    let line =
        |name: &str, now: &Value, most: &Value| vec![name.to_owned(), number(now), number(most)];
    let mut cells = Vec::new();
    for job in list(row, "jobs") {
        let name = format!("URLs queued (job {})", number(&job["job"]));
        cells.push(line(&name, &job["queued"], &Value::Null));
    }
    let commit = &queues["commit"];
    cells.extend([
        line("URLs in memory", &queues["rows_loaded"]["now"], &queues["rows_loaded"]["most"]),
        line("requests under way", &queues["requests"]["now"], &queues["requests"]["most"]),
        line("answers being parsed", &queues["parsing"]["now"], &queues["parsing"]["most"]),
        line("pages to be committed", &commit["waiting"], &commit["most"]),
        line("pages being committed", &commit["committing"], &commit["most"]),
    ]);
    let mut lines = table(&["queue", ">now", ">at most"], &cells);
    if let Some(took) = commit["last_ms"].as_u64() {
        lines.push(format!("the last commit took {took} ms"));
    }
    lines
}

/// Who is waited for.
fn waiting(row: &Value) -> Vec<String> {
    let cells: Vec<Vec<String>> = list(row, "waiting")
        .iter()
        .map(|host| {
            let time = |name: &str| seconds(host[name].as_f64().unwrap_or(0.0));
            let name = shorten(&text(host, "host"), WIDTH - 46);
            vec![name, time("in_s"), time("every_s"), text(host, "why")]
        })
        .collect();
    match cells.is_empty() {
        true => Vec::new(),
        false => table(&["waiting for", ">asked in", ">every", "why"], &cells),
    }
}

fn list<'a>(row: &'a Value, name: &str) -> &'a [Value] {
    row[name].as_array().map_or(&[], Vec::as_slice)
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_owned()
}

/// A text of at most so many characters: where it is longer, its middle is left out.
fn shorten(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let end = most / 3;
    let start: String = text.chars().take(most - end - 1).collect();
    let rest: String = text.chars().skip(length - end).collect();
    format!("{start}…{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn crawling() -> Value {
        let mut row = serde_json::to_value(Snapshot {
            state: "crawling".to_owned(),
            fetched: 1_200,
            ..Snapshot::default()
        })
        .unwrap();
        let url = format!("http://a.test/{}", "x".repeat(200));
        row["workers"] = json!([
            { "stage": "waiting for the answer", "host": "http://a.test", "url": url, "for_s": 12.34 },
            { "stage": "parsing", "host": "http://b.test", "url": "http://b.test/", "for_s": 0.1 },
        ]);
        row["queues"] = json!({
            "rows_loaded": { "now": 5, "most": 4096 },
            "requests": { "now": 1, "most": 16 },
            "parsing": { "now": 1, "most": 64 },
            "commit": { "waiting": 2, "committing": 3, "most": 64, "last_ms": 7 },
        });
        row["jobs"] = json!([{ "job": 1, "queued": 1_567 }]);
        row["waiting"] =
            json!([{ "host": "http://c.test", "in_s": 3.0, "every_s": 10.0, "why": "delay" }]);
        row["skipped"] = json!({ "excluded": 4, "given_up": 0, "type": 2 });
        row["memory"] = json!({ "now": 1_000_000, "peak": 2_000_000 });
        row
    }

    #[test]
    fn a_running_crawl_is_told_in_lines_that_fit() {
        let lines = status_lines(&crawling()).unwrap();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        for said in [
            "left alone   4 excluded, 2 type",
            "memory       1.0 MB, 2.0 MB at most",
            "doing now                  for  URL",
            "parsing                  0.1 s  http://b.test/",
            "URLs queued (job 1)    1,567        -",
            "pages to be committed      2       64",
            "the last commit took 7 ms",
            "http://c.test     3.0 s  10.0 s  delay",
        ] {
            assert!(lines.iter().any(|line| line == said), "{said}: {lines:#?}");
        }
    }

    #[test]
    fn many_visits_are_counted_and_none_leave_no_empty_table() {
        let mut row = crawling();
        let one = row["workers"][1].clone();
        row["workers"] = vec![one; 25].into();
        let lines = status_lines(&row).unwrap();
        assert!(lines.iter().any(|line| line == "and 5 parsing"), "{lines:#?}");
        let idle = Snapshot { state: "idle".to_owned(), ..Snapshot::default() };
        let mut row = serde_json::to_value(idle).unwrap();
        row["queues"] = json!({});
        let lines = status_lines(&row).unwrap();
        assert_eq!(lines.len(), 6, "{lines:#?}");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("äbcdefghijk", 10), "äbcdef…ijk");
    }
}
