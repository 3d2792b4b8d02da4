//! Pages as text: what their latest captures say, for programs (JSON lines) and for people (a
//! tree of files, or one after the other).
//!
//! * Its place: `export text` and `export jsonl`; `export wacz` lists pages with the same walk.
//! * A page is a URL whose latest answer is a document; redirects, errors and sitemaps are none.
//!   Where that answer is an error, the page's last document is what counts.
//! * Pages that ask not to be shown (noarchive, nosnippet) stay out unless told otherwise.
//! * Invariant: one page is in memory at a time.

use crate::data_dir::DataDir;
use crate::export::{Failure, each_url};
use argiope_archive::{TextBlob, digest_base32, read_text};
use argiope_model::{CanonicalUrl, Capture, OutcomeKind, Role, Time};
use argiope_store::{Store, UrlRow};
use serde::Serialize;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Which pages are wanted.
#[derive(Clone, Debug, Default)]
pub struct PageFilter {
    /// Only pages of these sites or hosts; of all without any.
    pub sites: Vec<String>,
    /// Only pages captured at this time or later.
    pub since: Option<Time>,
    /// Also pages that ask not to be shown.
    pub anyway: bool,
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PagesExported {
    /// Pages written.
    pub pages: u64,
    /// Pages left out because they ask not to be shown.
    pub asked_not: u64,
}

/// One line of `export jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    doc: u64,
    url: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
    language: Option<&'a str>,
    #[serde(rename = "type")]
    mime: &'a str,
    status: u16,
    bytes: u64,
    digest: String,
    first_seen: String,
    fetched_at: String,
    last_modified: Option<String>,
    depth: u16,
    headings: &'a [String],
    text: Option<&'a str>,
}

impl PageFilter {
    pub(crate) fn wants_url(&self, url: &CanonicalUrl) -> bool {
        let host = url.host();
        let below = |site: &String| {
            let site = site.trim_start_matches("*.");
            host.eq_ignore_ascii_case(site)
                || host.len() > site.len()
                    && host.as_bytes()[host.len() - site.len() - 1] == b'.'
                    && host[host.len() - site.len()..].eq_ignore_ascii_case(site)
        };
        self.sites.is_empty() || self.sites.iter().any(below)
    }

    fn wants_time(&self, time: Time) -> bool {
        self.since.is_none_or(|since| time >= since)
    }
}

/// Whether a capture may be shown to others.
pub(crate) fn may_be_shown(capture: &Capture) -> bool {
    !(capture.directives.noarchive || capture.directives.nosnippet)
}

/// Calls `each` for every page that is wanted, with its latest document and the text of it.
pub(crate) fn each_page(
    dir: &DataDir,
    store: &dyn Store,
    filter: &PageFilter,
    mut each: impl FnMut(&UrlRow, &Capture, Option<&TextBlob>) -> Result<(), Failure>,
) -> Result<PagesExported, Failure> {
    let text_dir = dir.text();
    let mut out = PagesExported::default();
    each_url(store, |key, row| {
        if row.fetched_at.is_none() || row.role != Role::Page || !filter.wants_url(&row.url) {
            return Ok(());
        }
        let captures = store.captures(key)?;
        let document = |c: &&Capture| c.outcome.kind == OutcomeKind::Fetched;
        let Some(capture) = captures.iter().rev().find(document) else { return Ok(()) };
        if !filter.wants_time(capture.time) {
            return Ok(());
        }
        if !filter.anyway && !may_be_shown(capture) {
            out.asked_not += 1;
            return Ok(());
        }
        let text = capture.text.map(|at| read_text(&text_dir, at)).transpose()?;
        each(row, capture, text.as_ref())?;
        out.pages += 1;
        Ok(())
    })?;
    Ok(out)
}

/// Writes one JSON object a page.
pub fn export_jsonl(
    dir: &DataDir,
    store: &dyn Store,
    filter: &PageFilter,
    out: &mut dyn Write,
) -> Result<PagesExported, Failure> {
    each_page(dir, store, filter, |row, capture, text| {
        let line = Line {
            doc: row.doc.0,
            url: row.url.as_str(),
            title: text.map(|t| &*t.title),
            description: text.map(|t| &*t.description).filter(|d| !d.is_empty()),
            language: text.and_then(|t| t.language.as_deref()),
            mime: &capture.mime,
            status: capture.outcome.status,
            bytes: capture.bytes,
            digest: format!("sha1:{}", digest_base32(&capture.payload_digest)),
            first_seen: row.first_seen.to_string(),
            fetched_at: capture.time.to_string(),
            last_modified: capture.last_modified.map(|t| t.to_string()),
            depth: row.depth,
            headings: text.map_or(&[], |t| &t.headings),
            text: text.map(|t| &*t.text),
        };
        // A pipe that is closed must be told as one: the writer of JSON would hide it.
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        Ok(out.write_all(&bytes)?)
    })
}

/// Writes the text of every page that has one, one page after the other. Each begins with a line
/// of its URL and one of its title; a line with a form feed ends it.
pub fn export_text(
    dir: &DataDir,
    store: &dyn Store,
    filter: &PageFilter,
    out: &mut dyn Write,
) -> Result<PagesExported, Failure> {
    let mut without = 0;
    let mut done = each_page(dir, store, filter, |row, _, text| {
        let Some(text) = text else {
            without += 1;
            return Ok(());
        };
        write_text(out, row, text)?;
        Ok(out.write_all(b"\x0c\n")?)
    })?;
    done.pages -= without;
    Ok(done)
}

/// Writes the text of every page that has one into a file of its own: `host/path/name.DOC.txt`.
pub fn export_text_tree(
    dir: &DataDir,
    store: &dyn Store,
    filter: &PageFilter,
    out: &Path,
) -> Result<PagesExported, Failure> {
    fs::create_dir_all(out)?;
    let mut without = 0;
    let mut done = each_page(dir, store, filter, |row, _, text| {
        let Some(text) = text else {
            without += 1;
            return Ok(());
        };
        let path = out.join(file_name(&row.url, row.doc.0));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut bytes = Vec::new();
        write_text(&mut bytes, row, text)?;
        Ok(fs::write(&path, bytes).map_err(|e| format!("cannot write {}: {e}", path.display()))?)
    })?;
    done.pages -= without;
    Ok(done)
}

fn write_text(out: &mut dyn Write, row: &UrlRow, text: &TextBlob) -> Result<(), Failure> {
    let title = text.title.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(writeln!(out, "{}\n{title}\n\n{}", row.url, text.text.trim_end())?)
}

/// Longest name of a file or folder, its number aside.
const MAX_NAME: usize = 100;
/// Deepest folder.
const MAX_DEPTH: usize = 12;

/// A legal path for a page: the folders of its URL, and its number, which no two pages share.
fn file_name(url: &CanonicalUrl, doc: u64) -> PathBuf {
    let origin = url.origin();
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    let mut path = PathBuf::from(folder(host));
    let mut parts: Vec<&str> = url.path().split('/').skip(1).collect();
    let last = parts.pop().filter(|name| !name.is_empty()).unwrap_or("index");
    for part in parts.iter().take(MAX_DEPTH) {
        path.push(folder(part));
    }
    path.push(format!("{}.{doc}.txt", legal(last)));
    path
}

/// Folders never end as our files do.
fn folder(part: &str) -> String {
    let mut name = legal(part);
    if name.to_ascii_lowercase().ends_with(".txt") {
        name.push('_');
    }
    name
}

/// A name that every file system takes.
fn legal(part: &str) -> String {
    let fine =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '%' | '+');
    let mut name: String = part.chars().map(|c| if fine(c) { c } else { '_' }).collect();
    name.truncate(MAX_NAME);
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let device = matches!(&*stem, "con" | "prn" | "aux" | "nul")
        || (stem.len() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")));
    if name.is_empty() || name.starts_with('.') || device {
        name.insert(0, '_');
    }
    // A dot at the end is dropped by some, and then two names are one.
    if name.ends_with('.') {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(url: &str) -> String {
        let url = CanonicalUrl::parse(url).expect("a URL");
        file_name(&url, 7).to_string_lossy().into_owned()
    }

    #[test]
    fn file_names_follow_the_url_and_are_legal_everywhere() {
        assert_eq!(name("http://a.test/"), "a.test/index.7.txt");
        assert_eq!(name("https://a.test:8080/x/y.html?q=1"), "a.test_8080/x/y.html.7.txt");
        assert_eq!(name("http://a.test/a.txt/b"), "a.test/a.txt_/b.7.txt");
        assert_eq!(name("http://a.test/nul/com1/*"), "a.test/_nul/_com1/_.7.txt");
        assert_eq!(name("http://[::1]/.git/x."), "___1_/_.git/x._.7.txt");
        let long = name(&format!("http://a.test/{}/{}", "d/".repeat(99), "n".repeat(999)));
        assert!(long.len() < 200 && long.split('/').count() < 20, "{long}");
    }

    #[test]
    fn a_site_filter_takes_hosts_below_it() {
        let filter = PageFilter { sites: vec!["Example.org".into()], ..PageFilter::default() };
        let wants = |u: &str| filter.wants_url(&CanonicalUrl::parse(u).expect("a URL"));
        assert!(wants("http://example.org/") && wants("http://www.example.org/"));
        assert!(!wants("http://badexample.org/") && !wants("http://org/"));
    }
}
