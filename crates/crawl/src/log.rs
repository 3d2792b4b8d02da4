//! The crawl log: one line per attempt, for people and for `grep`.
//!
//! * What this is: `log/crawl.log` in the data directory. A line is written when the attempt it
//!   tells of is durable. Full files are renamed, `crawl.1.log` being the newest; the oldest of
//!   them goes.
//! * Fields, separated by one space: time, outcome, HTTP status (`-` for none), bytes of the body,
//!   milliseconds, links from a start URL, job, address (`-`), URL, and the rest of the line is
//!   what there is to say.
//! * Invariant: the log is no record. Losing it loses nothing, and a full disk does not stop a
//!   crawl because of it.

use crate::group::{PageDone, RobotsDone};
use crate::robots::Asker;
use crate::traps::trap_words;
use argiope_frontier::{Entry, Trap};
use argiope_model::{FetchOutcome, Time};
use argiope_store::{Next, UrlState};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// A file this large is put aside.
const FULL: u64 = 64 << 20;
/// So many files are kept aside.
const ASIDE: u32 = 4;

pub(crate) struct CrawlLog {
    path: PathBuf,
    file: Option<File>,
    length: u64,
}

impl CrawlLog {
    pub(crate) fn open(dir: &Path) -> Self {
        let path = dir.join("crawl.log");
        let _ = std::fs::create_dir_all(dir);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|e| tracing::warn!("no crawl log: {}: {e}", path.display())).ok();
        let length = file.as_ref().and_then(|f| f.metadata().ok()).map_or(0, |m| m.len());
        CrawlLog { path, file, length }
    }

    /// Adds lines; each ends with its line feed.
    pub(crate) fn add(&mut self, lines: &str) {
        let Some(file) = self.file.as_mut().filter(|_| !lines.is_empty()) else { return };
        if let Err(e) = file.write_all(lines.as_bytes()) {
            tracing::debug!("the crawl log could not be written: {e}");
        }
        self.length += lines.len() as u64;
        if self.length > FULL {
            self.put_aside();
        }
    }

    fn put_aside(&mut self) {
        let aside = |n: u32| self.path.with_file_name(format!("crawl.{n}.log"));
        for n in (1..ASIDE).rev() {
            let _ = std::fs::rename(aside(n), aside(n + 1));
        }
        let _ = std::fs::rename(&self.path, aside(1));
        let dir = self.path.parent().unwrap_or(Path::new(".")).to_owned();
        *self = CrawlLog::open(&dir);
    }
}

/// Cuts what servers said, where a redirect led for one, from the lines of these URLs; that they
/// were asked for stays. A file is replaced whole.
pub(crate) fn forget_details(dir: &Path, urls: &HashSet<&str>) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != "log") {
            continue;
        }
        let part = path.with_extension("log.part");
        let mut out = BufWriter::new(File::create(&part)?);
        let mut input = BufReader::new(File::open(&path)?);
        let (mut line, mut cut) = (Vec::new(), false);
        while input.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            let said = text.trim_end_matches('\n');
            let mut fields = said.splitn(FIELDS + 1, ' ');
            let url = fields.nth(FIELDS - 1);
            match fields.next().filter(|_| url.is_some_and(|url| urls.contains(url))) {
                Some(detail) => {
                    cut = true;
                    let rest = said.strip_suffix(detail).unwrap_or_default();
                    writeln!(out, "{}", rest.trim_end())?;
                }
                None => out.write_all(&line)?,
            }
            line.clear();
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        match cut {
            true => std::fs::rename(&part, &path)?,
            false => std::fs::remove_file(&part)?,
        }
    }
    Ok(())
}

/// Fields of a line before what there is to say; the last is the URL.
const FIELDS: usize = 9;

/// One attempt.
struct Attempt<'a> {
    time: Time,
    outcome: &'a str,
    status: u16,
    bytes: u64,
    ms: u64,
    depth: u16,
    job: u32,
    ip: Option<IpAddr>,
    url: &'a str,
    detail: &'a str,
}

impl Attempt<'_> {
    fn line(&self) -> String {
        let status = if self.status == 0 { "-".to_owned() } else { self.status.to_string() };
        let ip = self.ip.map_or("-".to_owned(), |ip| ip.to_string());
        let Attempt { time, outcome, bytes, ms, depth, job, url, .. } = self;
        let mut line = format!("{time} {outcome} {status} {bytes} {ms} {depth} {job} {ip} {url}");
        if !self.detail.is_empty() {
            line.push(' ');
            // One attempt is one line, whatever a server sent.
            line.extend(self.detail.chars().map(|c| if c.is_control() { ' ' } else { c }));
        }
        line.push('\n');
        line
    }
}

/// The line that says that a pattern is paused.
pub(crate) fn trap_line(name: &str, trap: &Trap, page: &Entry, now: Time) -> String {
    let detail = format!("{name} is paused: {}", trap_words(trap));
    Attempt {
        time: now,
        outcome: "trap",
        status: 0,
        bytes: 0,
        ms: 0,
        depth: page.depth,
        job: page.job.0,
        ip: None,
        url: page.url.as_str(),
        detail: &detail,
    }
    .line()
}

/// The line of a page; `now` where nothing was requested.
pub(crate) fn page_line(page: &PageDone, now: Time) -> String {
    let entry = &page.entry;
    let attempt = Attempt {
        time: now,
        outcome: "expanded",
        status: 0,
        bytes: 0,
        ms: 0,
        depth: entry.depth,
        job: entry.job.0,
        ip: page.ip,
        url: entry.url.as_str(),
        detail: "",
    };
    let Some(capture) = &page.capture else {
        let outcome = match page.next {
            Next::Done(UrlState::Skipped(reason)) => format!("skipped-{}", reason.name()),
            Next::Later(_) => "held-back".to_owned(),
            _ => "expanded".to_owned(),
        };
        return Attempt { outcome: &outcome, ..attempt }.line();
    };
    let again = match page.next {
        Next::Retry(due) => format!("tried again at {due}"),
        _ => String::new(),
    };
    let detail = capture.outcome.detail.as_deref().unwrap_or_default();
    let detail = [detail, &again].into_iter().filter(|d| !d.is_empty()).collect::<Vec<_>>();
    let first = Attempt {
        time: capture.time,
        outcome: capture.outcome.kind.name(),
        status: capture.outcome.status,
        bytes: capture.bytes,
        ms: u64::from(capture.elapsed_ms),
        detail: &detail.join("; "),
        ..attempt
    };
    let mut line = first.line();
    for (time, ms) in &page.looks {
        line += &Attempt { time: *time, ms: *ms, detail: "looked at again", ..first }.line();
    }
    line
}

/// The line of a robots.txt.
pub(crate) fn robots_line(done: &RobotsDone) -> String {
    let FetchOutcome { kind, status, detail } = done.outcome();
    let job = match &done.asker {
        Asker::Entry(entry) => entry.job,
        Asker::Errand(errand) => errand.job,
    };
    Attempt {
        time: done.started,
        outcome: kind.name(),
        status,
        bytes: done.bytes,
        ms: u64::try_from(done.elapsed.as_millis()).unwrap_or(u64::MAX),
        depth: 0,
        job: job.0,
        ip: done.ip,
        url: done.url.as_str(),
        detail: detail.as_deref().unwrap_or_default(),
    }
    .line()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line_and_its_fields_stand_where_they_belong() {
        let attempt = Attempt {
            time: Time(0),
            outcome: "timed-out",
            status: 0,
            bytes: 12,
            ms: 60_000,
            depth: 2,
            job: 1,
            ip: None,
            url: "http://a.test/x",
            detail: "no answer\nwithin 60s",
        };
        let line = attempt.line();
        let fields: Vec<&str> = line.trim_end().splitn(10, ' ').collect();
        assert_eq!(
            &fields[1..9],
            ["timed-out", "-", "12", "60000", "2", "1", "-", "http://a.test/x"]
        );
        assert_eq!(fields[9], "no answer within 60s");
        assert_eq!(line.matches('\n').count(), 1);
    }

    #[test]
    fn what_servers_said_of_forgotten_urls_is_cut_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let line = |url: &str, rest: &str| format!("t redirect 302 0 1 0 1 - {url}{rest}\n");
        let (a, b) = ("http://a.test/", "http://b.test/");
        let all = [line(a, " /secret place"), line(b, " /open"), line(a, ""), line(b, "")];
        let path = dir.path().join("crawl.1.log");
        std::fs::write(&path, all.concat()).unwrap();
        std::fs::write(dir.path().join("notes.txt"), line(a, " /x")).unwrap();
        forget_details(dir.path(), &HashSet::from([a])).unwrap();
        let want = [line(a, ""), line(b, " /open"), line(a, ""), line(b, "")];
        assert_eq!(std::fs::read_to_string(&path).unwrap(), want.concat());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left over");
        forget_details(&dir.path().join("none"), &HashSet::new()).unwrap();
    }

    #[test]
    fn full_files_are_put_aside_and_the_oldest_goes() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = CrawlLog::open(dir.path());
        for n in 0..7 {
            log.length = FULL;
            log.add(&format!("line {n}\n"));
        }
        log.add("last\n");
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
        assert_eq!(read("crawl.log").as_deref(), Some("last\n"));
        assert_eq!(read("crawl.1.log").as_deref(), Some("line 6\n"));
        assert_eq!(read("crawl.4.log").as_deref(), Some("line 3\n"));
        assert_eq!(read("crawl.5.log"), None);
    }
}
