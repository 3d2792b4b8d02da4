//! `sites` and `explain`: how hosts are treated, and why a URL stands as it does.
//!
//! Both ask the owner of the directory, as everything in `ask` does, and print its rows. Nothing
//! is decided here: the engine says what holds, this module puts it into columns and sentences.

use super::ask::ask;
use super::{now, print_json};
use crate::Usage;
use crate::args::{Explain, Format, Global};
use crate::args_sites::{SiteAction, Sites};
use crate::config::parse_duration;
use crate::output::{self, bytes, count, plural, seconds, table};
use argiope_crawl::Question;
use argiope_model::Time;
use argiope_model::figures::with_times;
use serde_json::Value;
use std::process::ExitCode;

pub fn sites(global: &Global, args: &Sites) -> anyhow::Result<ExitCode> {
    match &args.action {
        Some(SiteAction::Forgive { name }) => return forgive(global, name),
        Some(SiteAction::Exclude { name }) => return exclude(global, name),
        Some(SiteAction::Delay { name, delay }) => return set_delay(global, name, delay),
        None => {}
    }
    let rows = ask(global, &Question::Sites { filter: args.name.clone() })?;
    if global.format == Format::Json {
        print_json(&rows)?;
    } else if rows.is_empty() {
        output::talk("No host is known here yet.");
    } else {
        output::print(site_lines(&rows, now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn forgive(global: &Global, name: &str) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::Forgive { name: name.to_owned() })?;
    if global.format == Format::Json {
        print_json(&rows)?;
    } else {
        rows.iter().for_each(|row| output::talk(forgiven(row, name)));
    }
    Ok(ExitCode::SUCCESS)
}

fn exclude(global: &Global, name: &str) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::Exclude { name: name.to_owned() })?;
    if global.format == Format::Json {
        print_json(&rows)?;
    } else {
        rows.iter().for_each(|row| output::talk(excluded(row, name)));
    }
    Ok(ExitCode::SUCCESS)
}

fn set_delay(global: &Global, name: &str, delay: &str) -> anyhow::Result<ExitCode> {
    let delay_ms = match delay.trim() {
        "none" => None,
        text => Some(parse_duration(text).map_err(|e| Usage(format!("{text} is {e}")))?),
    };
    let delay_ms = delay_ms.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
    let rows = ask(global, &Question::Delay { name: name.to_owned(), delay_ms })?;
    if global.format == Format::Json {
        print_json(&rows)?;
    } else {
        rows.iter().for_each(|row| output::talk(delayed(row, name)));
    }
    Ok(ExitCode::SUCCESS)
}

fn delayed(row: &Value, name: &str) -> String {
    let unmet = if row["hosts"] == 0 { ", though no host of it is known here yet" } else { "" };
    match row["delay_by_hand_s"].as_f64() {
        Some(s) => format!(
            "{name} is asked every {} from now on{unmet}, or as rarely as its robots.txt and its server ask for; `argiope sites delay {name} none` undoes that.",
            seconds(s)
        ),
        None => format!("{name} is asked as the configuration says."),
    }
}

fn excluded(row: &Value, name: &str) -> String {
    let undo = format!("`argiope sites forgive {name}` undoes that");
    match (row["hosts"].as_u64().unwrap_or(0), row["queued"].as_u64().unwrap_or(0)) {
        (0, _) => format!("{name} is excluded, though no host of it is known here yet; {undo}."),
        (hosts, queued) => {
            let (hosts, queued) = (plural(hosts, "host", "hosts"), plural(queued, "URL", "URLs"));
            format!("{name} is excluded: {hosts} with {queued} queued; {undo}.")
        }
    }
}

fn forgiven(row: &Value, name: &str) -> String {
    let hosts = plural(row["hosts"].as_u64().unwrap_or(0), "host", "hosts");
    match row["urls"].as_u64() {
        Some(urls @ 1..) => {
            let urls = plural(urls, "URL", "URLs");
            format!(
                "{hosts} of {name} will be asked again, for {urls} too; `argiope crawl` goes on."
            )
        }
        _ if row["hosts"] == 0 => format!("{name} is no longer excluded."),
        _ => format!("{hosts} of {name} will be asked again."),
    }
}

/// The delay that holds, marked where it was set by hand.
fn delay(row: &Value) -> String {
    let by_hand = if row["delay_by_hand_s"].is_null() { "" } else { " by hand" };
    row["delay_s"].as_f64().map_or_else(|| "-".to_owned(), |s| format!("{}{by_hand}", seconds(s)))
}

/// The table of hosts; a last column says what is the matter where something is.
fn site_lines(rows: &[Value], now: Time) -> Vec<String> {
    let noted = rows.iter().any(|row| !note(row, now).is_empty());
    let mut head = vec![
        "host",
        "state",
        ">pages",
        ">queued",
        ">errors",
        ">received",
        ">on disk",
        ">delay",
        "next",
        "robots",
    ];
    if noted {
        head.push("note");
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let number = |name: &str| row[name].as_u64().unwrap_or(0);
            let mut cells = vec![
                text(row, if row["host"].is_null() { "site" } else { "host" }),
                text(row, "state"),
                count(number("pages")),
                count(number("queued")),
                count(number("errors")),
                bytes(number("bytes")),
                bytes(number("disk")),
                delay(row),
                next(row, now),
                dash(with_clocks(&text(row, "robots"), now)),
            ];
            if noted {
                cells.push(note(row, now));
            }
            cells
        })
        .collect();
    let mut lines = table(&head, &cells);
    if rows.len() > 1 {
        lines.push(String::new());
        lines.push(totals(rows));
    }
    lines.extend(trap_lines(rows, now));
    lines
}

/// The series without end, each once, with what speaks against it and what to do about it.
fn trap_lines(rows: &[Value], now: Time) -> Vec<String> {
    let mut all: Vec<(&Value, &Value)> = Vec::new();
    for row in rows {
        for trap in row["traps"].as_array().into_iter().flatten() {
            if all.iter().all(|(known, _)| known["pattern"] != trap["pattern"]) {
                all.push((trap, row));
            }
        }
    }
    let mut lines = Vec::new();
    for (trap, row) in all {
        let (pattern, state) = (text(trap, "pattern"), text(trap, "state"));
        let since = trap["since"].as_str().map(|at| format!(" since {}", with_clocks(at, now)));
        lines.push(String::new());
        lines.push(format!(
            "{pattern}  {state}{}, suspicion {} of 100",
            since.unwrap_or_default(),
            trap["suspicion"]
        ));
        lines.push(format!("  {}", text(trap, "evidence")));
        let examples = trap["examples"].as_array().into_iter().flatten();
        lines.extend(examples.filter_map(Value::as_str).map(|url| format!("  {url}")));
        let host = text(row, if row["host"].is_null() { "site" } else { "host" });
        lines.extend(match &*state {
            "paused" => Some(format!(
                "  `argiope sites forgive '{pattern}'` asks for them after all, \
                 `argiope sites exclude {host}` leaves the whole host alone"
            )),
            "suspected" => {
                Some("  they are asked for behind everything else of their host".to_owned())
            }
            _ => None,
        });
    }
    lines
}

/// What all of them come to.
fn totals(rows: &[Value]) -> String {
    let sum = |name: &str| rows.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
    // A name that is excluded and that nobody has met is no host.
    let hosts = rows.iter().filter(|row| !row["host"].is_null()).count();
    let hosts = plural(hosts as u64, "host", "hosts");
    let pages = plural(sum("pages"), "page", "pages");
    let (queued, errors) = (count(sum("queued")), plural(sum("errors"), "error", "errors"));
    format!(
        "{hosts}: {pages}, {queued} queued, {errors}, {} received, {} on disk",
        bytes(sum("bytes")),
        bytes(sum("disk"))
    )
}

/// When the host is asked next.
fn next(row: &Value, now: Time) -> String {
    match (row["next"].as_str(), row["queued"].as_u64()) {
        _ if row["state"] == "excluded" => "-".to_owned(),
        // Both are written in one form, which sorts by time.
        (Some(at), _) if at > now.to_string().as_str() => with_clocks(at, now),
        (None, None | Some(0)) => "-".to_owned(),
        _ => "now".to_owned(),
    }
}

/// What is the matter with a host.
fn note(row: &Value, now: Time) -> String {
    match (&row["note"], &row["since"]) {
        (Value::String(note), _) => with_clocks(note, now),
        (_, Value::String(since)) => format!("since {}", with_clocks(since, now)),
        _ => String::new(),
    }
}

pub fn explain(global: &Global, args: &Explain) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::Explain { url: args.url.trim().to_owned() })?;
    if global.format == Format::Json {
        print_json(&rows)?;
    } else {
        output::print(explanation(&rows, now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The rules in the order they were asked, and what follows as a sentence.
fn explanation(rows: &[Value], now: Time) -> Vec<String> {
    let (rules, last): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["rule"].is_string());
    let cells: Vec<Vec<String>> = rules
        .iter()
        .map(|row| {
            vec![text(row, "rule"), text(row, "verdict"), with_clocks(&text(row, "detail"), now)]
        })
        .collect();
    let mut lines = Vec::new();
    if !cells.is_empty() {
        lines = table(&["rule", "verdict", "detail"], &cells);
        lines.push(String::new());
    }
    lines.extend(last.iter().map(|row| sentence(row, now)));
    lines
}

/// How a URL stands, as a sentence.
fn sentence(row: &Value, now: Time) -> String {
    let state = text(row, "state");
    let verb = match state.split([' ', ':', ';']).next() {
        Some("failed") => "",
        Some("never" | "skipped" | "fetched" | "redirected") => "was ",
        _ => "is ",
    };
    let due = match row["due"].as_str() {
        Some(at) if at <= now.to_string().as_str() => "; its turn has come".to_owned(),
        Some(at) => format!("; its turn comes not before {}", with_clocks(at, now)),
        None => String::new(),
    };
    format!("{} {verb}{state}{due}.", text(row, "url"))
}

/// A text in which every time is shortened: one of today to its clock, another to its minute.
/// All are UTC, as in the rows.
fn with_clocks(text: &str, now: Time) -> String {
    let today = now.to_string();
    with_times(text, |time| match time[..10] == today[..10] {
        true => format!("{} UTC", &time[11..19]),
        false => format!("{} {} UTC", &time[..10], &time[11..16]),
    })
}

fn text(row: &Value, name: &str) -> String {
    match &row[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// 2026-01-31, one second before midnight.
    const NOW: Time = Time(1_769_903_999_000);

    fn row(host: &str) -> Value {
        json!({ "site": "example.org", "host": host, "state": "ok", "pages": 1200, "queued": 7,
            "errors": 0, "bytes": 1_500_000, "disk": 400_000, "delay_s": 10.0, "robots": "4 rules",
            "next": null, "since": null, "note": null })
    }

    #[test]
    fn hosts_stand_in_columns_and_notes_only_where_there_are_any() {
        let lines = site_lines(&[row("https://example.org")], NOW);
        let words: Vec<&str> = lines[0].split_whitespace().collect();
        assert_eq!(words.last(), Some(&"robots"));
        assert!(lines[1].starts_with("https://example.org  ok"), "{}", lines[1]);
        assert!(lines[1].contains("1,200       7       0    1.5 MB  400.0 kB"), "{}", lines[1]);
        assert!(lines[1].ends_with("10.0 s  now   4 rules"), "{}", lines[1]);
        let mut failing = row("https://far.example.org");
        failing["state"] = json!("failing");
        failing["since"] = json!("2026-01-31T23:10:00.123Z");
        failing["next"] = json!("2026-02-01T00:20:00.000Z");
        failing["note"] = json!("no good answer to 3 requests since 2026-01-31T23:10:00.123Z");
        failing["robots"] = Value::Null;
        let lines = site_lines(&[row("https://example.org"), failing], NOW);
        let end = "2026-02-01 00:20 UTC  -        no good answer to 3 requests since 23:10:00 UTC";
        assert!(lines[2].ends_with(end), "{}", lines[2]);
        assert!(lines[0].ends_with("note"));
        let all = "2 hosts: 2,400 pages, 14 queued, 0 errors, 3.0 MB received, 800.0 kB on disk";
        assert_eq!(lines[4], all);
        let unmet = json!({ "site": "b.test", "host": null, "state": "excluded", "queued": 0 });
        let lines = site_lines(&[row("https://example.org"), unmet], NOW);
        assert!(lines[2].starts_with("b.test               excluded"), "{}", lines[2]);
        assert!(lines[4].starts_with("1 host: "), "{}", lines[4]);
    }

    #[test]
    fn an_explanation_is_its_rules_and_a_sentence() {
        let rows = [
            json!({ "rule": "scope", "verdict": "yes", "detail": "domain: example.org" }),
            json!({ "rule": "robots.txt", "verdict": "no", "detail": "Disallow: /private" }),
            json!({ "url": "https://example.org/private", "state": "forbidden", "due": null }),
        ];
        assert_eq!(
            explanation(&rows, NOW),
            [
                "rule        verdict  detail",
                "scope       yes      domain: example.org",
                "robots.txt  no       Disallow: /private",
                "",
                "https://example.org/private is forbidden.",
            ]
        );
        for (state, due, said) in [
            (
                "queued",
                json!("2026-01-31T23:59:59.500Z"),
                "is queued; its turn comes not before 23:59:59 UTC.",
            ),
            ("queued", json!("2026-01-31T23:59:58.500Z"), "is queued; its turn has come."),
            ("failed: 404", Value::Null, "failed: 404."),
            ("skipped: robots", Value::Null, "was skipped: robots."),
            (
                "never met; a link to it would be followed",
                Value::Null,
                "was never met; a link to it would be followed.",
            ),
        ] {
            let row = json!({ "url": "https://a.test/", "state": state, "due": due });
            assert_eq!(explanation(&[row], NOW), [format!("https://a.test/ {said}")]);
        }
    }

    #[test]
    fn times_are_shortened_wherever_they_stand_and_nothing_else_is() {
        let said = |text| with_clocks(text, NOW);
        assert_eq!(said("read 2026-01-31T01:02:03.004Z"), "read 01:02:03 UTC");
        assert_eq!(said("(2025-12-31T01:02:03.004Z)"), "(2025-12-31 01:02 UTC)");
        for text in ["Test", "T", "ÄÄÄÄÄÄÄÄÄÄT", "2026-01-31T", "0123456789T12345678901234", ""]
        {
            assert_eq!(said(text), text);
        }
    }

    #[test]
    fn excluding_says_what_it_concerns_and_how_to_undo_it() {
        let row = json!({ "site": "a.test", "hosts": 2, "queued": 1 });
        let said = "a.test is excluded: 2 hosts with 1 URL queued; `argiope sites forgive a.test` undoes that.";
        assert_eq!(excluded(&row, "a.test"), said);
        let unmet = excluded(&json!({ "hosts": 0, "queued": 0 }), "a.test");
        assert!(unmet.contains("no host of it is known here yet"), "{unmet}");
        assert_eq!(forgiven(&json!({ "hosts": 0 }), "a.test"), "a.test is no longer excluded.");
    }

    #[test]
    fn forgiving_says_how_many() {
        let running = json!({ "site": "a.test", "hosts": 1 });
        assert_eq!(forgiven(&running, "a.test"), "1 host of a.test will be asked again.");
        let nothing = json!({ "site": "a.test", "hosts": 1, "urls": 0 });
        assert_eq!(forgiven(&nothing, "a.test"), forgiven(&running, "a.test"));
        let idle = json!({ "site": "a.test", "hosts": 2, "urls": 3 });
        let said =
            "2 hosts of a.test will be asked again, for 3 URLs too; `argiope crawl` goes on.";
        assert_eq!(forgiven(&idle, "a.test"), said);
    }
}
