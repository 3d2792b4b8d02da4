//! One picture of the crawl, in words and cells: what the page shows, and what events bring up to date.
//!
//! * Its place: made from the rows of `Status` and `Jobs`; `page` writes it as HTML, `watching` as JSON.
//! * Invariant: links are made here and lead to our own pages only; texts are plain.

use super::plot::{Plot, plot};
use crate::words::{bytes, count, encoded, list, minute, number, plural, seconds, text};
use serde::Serialize;
use serde_json::Value;

/// Visits shown one by one.
const WORKERS: usize = 24;
/// Jobs shown, the newest first.
const JOBS: usize = 50;

/// What is in a cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Cell {
    #[serde(rename = "t")]
    pub text: String,
    /// Where it leads, on our own pages.
    #[serde(rename = "h", skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
}

/// A table: what it is called, its columns (`>`: numbers, `~`: long texts), its rows, and what to say where there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Table {
    pub id: &'static str,
    #[serde(skip)]
    pub title: &'static str,
    #[serde(skip)]
    pub columns: &'static [&'static str],
    pub rows: Vec<Vec<Cell>>,
    #[serde(skip)]
    pub empty: &'static str,
    /// How many there are beyond those shown, in words.
    pub more: String,
}

/// A job and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Job {
    pub id: u64,
    pub state: String,
    pub cells: Vec<Cell>,
}

/// How the crawl stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Picture {
    pub state: String,
    /// The state as a sentence.
    pub lead: String,
    /// Why it waits, where it does.
    pub why: String,
    /// Whether something is being done.
    pub works: bool,
    /// Whether it can be told to stop.
    pub stops: bool,
    /// How far a collection of news is, as a sentence; empty where none is under way.
    pub gathering: String,
    pub numbers: Vec<(&'static str, String)>,
    pub jobs: Vec<Job>,
    pub tables: Vec<Table>,
    pub plot: Plot,
}

impl Picture {
    /// Nobody answers: that is all that can be said.
    pub fn nobody(why: &str) -> Self {
        let lead = "Nobody answers just now.".to_owned();
        Picture { state: "unknown".to_owned(), lead, why: why.to_owned(), ..Picture::default() }
    }

    /// From the row of `Status` and the rows of `Jobs`.
    pub fn new(status: &Value, jobs: &[Value]) -> Self {
        let state = text(status, "state").to_owned();
        let works = !matches!(&*state, "idle" | "following" | "");
        let why = [text(status, "note"), text(status, "brake")];
        let why: Vec<&str> = why.into_iter().filter(|w| !w.is_empty()).collect();
        let open = jobs.iter().filter(|job| text(job, "state") == "open");
        Picture {
            lead: lead(&state, open.map(|job| number(job, "queued")).sum()),
            why: sentence(&why.join("; ")),
            works,
            stops: matches!(&*state, "crawling" | "watching" | "paused"),
            gathering: if works { gathering(status) } else { String::new() },
            numbers: numbers(status, works),
            jobs: job_lines(status, jobs),
            tables: tables(status),
            plot: plot(&status["speed"]),
            state,
        }
    }
}

fn lead(state: &str, open: u64) -> String {
    match state {
        "crawling" => "A crawl is running.".to_owned(),
        "watching" => "Pages are being kept fresh.".to_owned(),
        "paused" => "The crawl waits for room on the disk.".to_owned(),
        "stopping" => {
            "The crawl is stopping: what is under way ends first, the rest stays queued.".to_owned()
        }
        "ending" => "The crawl is writing down its last pages.".to_owned(),
        "importing" => "An archive is being taken in.".to_owned(),
        "following" => "A fleet crawls; this process follows it.".to_owned(),
        "idle" if open > 0 => format!(
            "Nothing is being crawled just now; {} waiting to be fetched.",
            plural(open, "URL is", "URLs are")
        ),
        "idle" => "Nothing is being crawled just now.".to_owned(),
        other => format!("The crawl is {other}."),
    }
}

/// How far the news are, where any are waited for.
fn gathering(status: &Value) -> String {
    let of_news = |job: &&Value| text(job, "kind") == "news" && text(job, "state") == "open";
    let jobs = list(status, "jobs");
    let left: u64 = jobs.iter().filter(of_news).map(|job| number(job, "queued")).sum();
    if left == 0 {
        return String::new();
    }
    // The time left is that of all jobs together.
    let alone = jobs.iter().all(|job| of_news(&job) || number(job, "queued") == 0);
    let time = match status["left_s"].as_f64().filter(|_| alone) {
        Some(s) if s < 5_400.0 => {
            format!(", about {}", plural((s / 60.0).ceil().max(1.0) as u64, "minute", "minutes"))
        }
        Some(s) => format!(", about {}", seconds(s)),
        None => String::new(),
    };
    format!("The news are being collected: {} to go{time}.", plural(left, "page", "pages"))
}

/// With a capital letter and a full stop.
pub(super) fn sentence(words: &str) -> String {
    let mut chars = words.trim().chars();
    let Some(first) = chars.next() else { return String::new() };
    let rest = chars.as_str();
    let end = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{rest}{end}", first.to_uppercase())
}

fn numbers(status: &Value, works: bool) -> Vec<(&'static str, String)> {
    let n = |name: &str| count(number(status, name));
    let real = |name: &str| status[name].as_f64().unwrap_or(0.0);
    let mut out = vec![
        ("Pages", n("fetched")),
        ("URLs queued", n("queued")),
        ("Errors", n("errors")),
        ("Received", bytes(number(status, "bytes"))),
    ];
    if works {
        out.push(("Pages a second", format!("{:.1}", real("pages_per_s"))));
        out.push(("MB a minute", format!("{:.1}", real("mb_per_min"))));
        out.push(("Requests under way", n("requests")));
        out.push(("Hosts asked", n("hosts_asked")));
        out.push(("Hosts ready", n("hosts_ready")));
        out.push(("Hosts waiting", n("hosts_waiting")));
        out.push(("Running for", seconds(real("elapsed_s"))));
        let left = status["left_s"].as_f64().map_or("not known".to_owned(), seconds);
        out.push(("Time left", left));
        out.push(("Memory", bytes(number(&status["memory"], "now"))));
    }
    out
}

fn plain(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), href: None }
}

/// A URL that leads to what is known of it.
fn url_cell(url: &str) -> Cell {
    Cell { text: url.to_owned(), href: Some(format!("/page?url={}", encoded(url))) }
}

fn site_cell(host: &str) -> Cell {
    Cell { text: host.to_owned(), href: Some(format!("/site?name={}", encoded(host))) }
}

/// The columns of the jobs.
pub(super) const JOB_COLUMNS: [&str; 7] =
    [">Job", "State", "~Begins at", ">Pages", ">Queued", ">Failed", ">Under way"];

/// All jobs, with the newest numbers where they are worked on.
fn job_lines(status: &Value, jobs: &[Value]) -> Vec<Job> {
    let live = list(status, "jobs");
    let mut out: Vec<Job> = jobs
        .iter()
        .map(|job| {
            let id = number(job, "job");
            let now = live.iter().find(|l| number(l, "job") == id).unwrap_or(job);
            let state = text(now, "state").to_owned();
            let starts = list(job, if text(job, "kind") == "import" { "files" } else { "seeds" });
            let first = starts.first().and_then(Value::as_str).unwrap_or("nothing");
            let begins = match starts.len() {
                0 | 1 => first.to_owned(),
                n => format!("{first} and {}", plural(n as u64 - 1, "other", "others")),
            };
            let begins = Cell {
                text: begins,
                href: first.starts_with("http").then(|| format!("/page?url={}", encoded(first))),
            };
            let cells = vec![
                plain(id.to_string()),
                plain(state.clone()),
                begins,
                plain(count(number(now, "fetched"))),
                plain(count(number(now, "queued"))),
                plain(count(number(now, "failed"))),
                plain(count(number(now, "out"))),
            ];
            Job { id, state, cells }
        })
        .collect();
    out.reverse();
    out.truncate(JOBS);
    out
}

fn tables(status: &Value) -> Vec<Table> {
    vec![workers(status), queues(status), waiting(status), newest(status), errors(status)]
}

fn workers(status: &Value) -> Table {
    let all = list(status, "workers");
    let row = |w: &Value| {
        let time = seconds(w["for_s"].as_f64().unwrap_or(0.0));
        vec![plain(text(w, "stage")), plain(time), url_cell(text(w, "url"))]
    };
    let more = all.len().saturating_sub(WORKERS) as u64;
    Table {
        id: "workers",
        title: "Workers, and what each is doing",
        columns: &["Doing", ">For", "~Page"],
        rows: all.iter().take(WORKERS).map(row).collect(),
        empty: "No request is under way at this moment.",
        more: if more > 0 { format!("and {} more", count(more)) } else { String::new() },
    }
}

fn queues(status: &Value) -> Table {
    let all = &status["queues"];
    let bounded = |name: &str, v: &Value, now: &str| {
        let most = v["most"].as_u64().map_or("no bound".to_owned(), count);
        vec![plain(name), plain(count(number(v, now))), plain(most)]
    };
    let mut rows = Vec::new();
    if all["urls"].is_u64() {
        let commit = &all["commit"];
        rows.push(vec![
            plain("URLs in the store"),
            plain(count(number(all, "urls"))),
            plain("disk"),
        ]);
        rows.push(bounded("URLs loaded", &all["rows_loaded"], "now"));
        rows.push(bounded("Requests", &all["requests"], "now"));
        rows.push(bounded("Answers being parsed", &all["parsing"], "now"));
        rows.push(bounded("Pages waiting for a commit", commit, "waiting"));
        rows.push(bounded("Pages being committed", commit, "committing"));
        let held = bytes(number(commit, "bytes"));
        let most = bytes(number(commit, "most_bytes"));
        rows.push(vec![plain("Bytes waiting for a commit"), plain(held), plain(most)]);
        let took = format!("{} ms", count(number(commit, "last_ms")));
        rows.push(vec![plain("The last commit took"), plain(took), plain("")]);
    }
    Table {
        id: "queues",
        title: "Queues between the stages",
        columns: &["Queue", ">Now", ">At most"],
        rows,
        empty: "The crawl has no time to tell at this moment.",
        more: String::new(),
    }
}

fn waiting(status: &Value) -> Table {
    let row = |w: &Value| {
        let time = |name: &str| seconds(w[name].as_f64().unwrap_or(0.0));
        let why = match text(w, "why") {
            "delay" => "our delay",
            "robots.txt" => "its robots.txt asks for that",
            "slow or failing" => "it answers slowly or badly",
            "by hand" => "the delay set by hand",
            other => other,
        };
        vec![site_cell(text(w, "host")), plain(time("in_s")), plain(time("every_s")), plain(why)]
    };
    let rows: Vec<Vec<Cell>> = list(status, "waiting").iter().map(row).collect();
    let more = number(status, "hosts_waiting").saturating_sub(rows.len() as u64);
    Table {
        id: "waiting",
        title: "Hosts waiting, and why",
        columns: &["~Host", ">Asked again in", ">Asked every", "Because of"],
        rows,
        empty: "No host is being waited for.",
        more: if more > 0 { format!("and {} more", count(more)) } else { String::new() },
    }
}

fn newest(status: &Value) -> Table {
    let row = |p: &Value| {
        let took = format!("{} ms", count(number(p, "elapsed_ms")));
        vec![
            plain(clock(text(p, "time"))),
            url_cell(text(p, "url")),
            plain(text(p, "type")),
            plain(bytes(number(p, "bytes"))),
            plain(took),
        ]
    };
    Table {
        id: "newest",
        title: "Newest pages",
        columns: &["Time", "~Page", "Type", ">Size", ">Took"],
        rows: list(status, "newest_pages").iter().map(row).collect(),
        empty: "No page has come in yet.",
        more: String::new(),
    }
}

fn errors(status: &Value) -> Table {
    let row = |e: &Value| {
        let outcome = text(e, "outcome").replace(['-', '_'], " ");
        let outcome = match e["status"].as_u64() {
            Some(status) => format!("{outcome} ({status})"),
            None => outcome,
        };
        let what = vec![plain(clock(text(e, "time"))), url_cell(text(e, "url")), plain(outcome)];
        what.into_iter().chain([plain(text(e, "detail"))]).collect()
    };
    Table {
        id: "errors-list",
        title: "Newest errors",
        columns: &["Time", "~Page", "Outcome", "~In detail"],
        rows: list(status, "newest_errors").iter().map(row).collect(),
        empty: "Nothing has gone wrong yet.",
        more: String::new(),
    }
}

/// The time of day to the second, for what is of today.
fn clock(time: &str) -> String {
    time.get(11..19).map_or_else(|| minute(time), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_idle_directory_says_so_and_what_is_open() {
        let jobs = [json!({ "job": 1, "state": "open", "queued": 3, "seeds": ["http://a.test/"] })];
        let picture = Picture::new(&json!({ "state": "idle" }), &jobs);
        assert!(picture.lead.contains("3 URLs are waiting"), "{}", picture.lead);
        assert!(!picture.works && !picture.stops);
        assert_eq!(picture.jobs[0].cells[2].text, "http://a.test/");
    }

    #[test]
    fn a_collection_says_how_far_it_is() {
        let said = |state: &str, left: Value, jobs: Value| {
            let status = json!({ "state": state, "left_s": left, "jobs": jobs });
            Picture::new(&status, &[]).gathering
        };
        let news = json!({ "kind": "news", "state": "open", "queued": 31 });
        let crawl = json!({ "kind": "crawl", "state": "open", "queued": 5 });
        let alone = said("crawling", json!(100.0), json!([news]));
        assert_eq!(alone, "The news are being collected: 31 pages to go, about 2 minutes.");
        let beside = said("watching", json!(100.0), json!([news, crawl]));
        assert_eq!(beside, "The news are being collected: 31 pages to go.");
        assert_eq!(said("idle", Value::Null, json!([news])), "");
        assert_eq!(said("watching", Value::Null, json!([crawl])), "");
        assert_eq!(said("watching", Value::Null, Value::Null), "");
    }

    #[test]
    fn live_numbers_of_a_job_win_and_links_stay_here() {
        let jobs = [json!({ "job": 7, "state": "open", "queued": 3, "fetched": 1,
            "seeds": ["http://a.test/?\"><b>", "http://b.test/"] })];
        let status = json!({
            "state": "crawling",
            "jobs": [{ "job": 7, "state": "paused", "queued": 9, "fetched": 2, "out": 1 }],
            "workers": [{ "stage": "reading", "url": "http://a.test/\"><script>", "for_s": 1.25 }],
            "newest_errors": [{ "url": "javascript:alert(1)", "time": "2026-01-02T03:04:05.000Z",
                "outcome": "timed-out", "status": null, "detail": "<img>" }],
            "note": "the disk is full",
        });
        let picture = Picture::new(&status, &jobs);
        assert_eq!(picture.why, "The disk is full.");
        assert_eq!(picture.jobs[0].state, "paused");
        assert_eq!(picture.jobs[0].cells[4].text, "9");
        assert!(picture.jobs[0].cells[2].text.ends_with("and 1 other"));
        let links = picture.tables.iter().flat_map(|t| t.rows.iter().flatten());
        for href in links.filter_map(|cell| cell.href.as_deref()) {
            assert!(href.starts_with("/page?url=") || href.starts_with("/site?name="), "{href}");
            assert!(!href.contains(['"', '<', '>']), "{href}");
        }
        let errors = picture.tables.iter().find(|t| t.id == "errors-list").unwrap();
        assert_eq!(errors.rows[0][0].text, "03:04:05");
        assert_eq!(errors.rows[0][2].text, "timed out");
    }
}
