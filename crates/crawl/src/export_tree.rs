//! Pages as files in directories: one directory per crawl, named by its date and time, in it one
//! per host, in it the path of the URL.
//!
//! ```text
//!  OUT/index.jsonl                                  which file holds which URL
//!  OUT/2026-11-16T10-22-33Z/example.org/docs/a.html
//!  OUT/2026-11-16T10-22-33Z/example.org/docs/index.html           …/docs/
//!  OUT/2026-11-16T10-22-33Z/example.org/docs/ReadMe=11.html       capitals are told by their places
//!  OUT/2026-11-16T10-22-33Z/example.org/docs/a_q=h….html          a query, or what no file may be named
//! ```
//!
//! * Its place: `export tree`; page by page while a crawl runs, `live_tree`.
//! * Invariants: a path depends on its URL alone, so that two exports agree; no two URLs have one
//!   path, also where a file system takes capitals and small letters for the same; every path is
//!   legal on every file system that is in use, stays below the directory, and is short; a file
//!   holds the body byte for byte, without the content-encoding it was sent in.

use crate::data_dir::DataDir;
use crate::export::{Failure, each_url};
use crate::export_pages::{PageFilter, may_be_shown};
use crate::versions::{Shelf, VersionError, Versions};
use argiope_archive::{digest_base32, payload_digest};
use argiope_model::{CanonicalUrl, Capture, JobId, OutcomeKind, Role, Time};
use argiope_store::Store;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What a tree is to hold.
#[derive(Clone, Debug, Default)]
pub struct TreeOrder {
    /// Which pages.
    pub filter: PageFilter,
    /// Every version of them, not the latest alone.
    pub all_versions: bool,
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeExported {
    /// Files written.
    pub files: u64,
    /// Pages they are of.
    pub pages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Pages left out because they ask not to be shown.
    pub asked_not: u64,
    /// Versions left out because their bytes are not kept or cannot be read.
    pub unreadable: u64,
}

/// Writes the pages of a directory as files.
pub fn export_tree(
    dir: &DataDir,
    store: &dyn Store,
    order: &TreeOrder,
    out: &Path,
) -> Result<TreeExported, Failure> {
    fs::create_dir_all(out)?;
    let crawls: HashMap<JobId, String> =
        store.jobs()?.iter().map(|row| (row.job.id, crawl_name(row.job.created))).collect();
    let crawls = &apart(crawls);
    let captures_of = |url: &str| -> Result<Vec<Capture>, Failure> {
        Ok(store.captures(CanonicalUrl::parse(url)?.key(dir.suffixes()))?)
    };
    let shelf = Shelf { warc: dir.warc(), text: dir.text(), captures_of: &captures_of };
    let mut index = BufWriter::new(File::create(out.join("index.jsonl"))?);
    let mut done = TreeExported::default();
    each_url(store, |key, row| {
        if row.fetched_at.is_none() || row.role != Role::Page || !order.filter.wants_url(&row.url) {
            return Ok(());
        }
        let page = Versions { url: row.url.clone(), captures: store.captures(key)? };
        let wanted = |c: &Capture| {
            c.outcome.kind == OutcomeKind::Fetched && order.filter.since.is_none_or(|t| c.time >= t)
        };
        let mut chosen: Vec<usize> =
            (0..page.captures.len()).filter(|n| wanted(&page.captures[*n])).collect();
        if !order.all_versions {
            chosen.drain(..chosen.len().saturating_sub(1));
        }
        let mut seen: HashMap<JobId, u32> = HashMap::new();
        let mut of_page = 0;
        for n in chosen {
            let capture = &page.captures[n];
            if !order.filter.anyway && !may_be_shown(capture) {
                done.asked_not += 1;
                continue;
            }
            // Only the first version of a crawl has the plain name.
            let again = seen.entry(capture.job).or_default();
            let version = (*again > 0).then_some(capture.time);
            *again += 1;
            let crawl = crawls.get(&capture.job).map_or("crawl", String::as_str);
            let path = format!("{crawl}/{}", tree_path(&page.url, &capture.mime, version));
            let bytes = match write(&shelf, &page, n, &out.join(&path)) {
                Ok(bytes) => bytes,
                Err(Stop::Version(e)) => {
                    tracing::warn!("{} of {}: {e}", page.url, capture.time.iso_seconds());
                    done.unreadable += 1;
                    continue;
                }
                Err(Stop::Disk(e)) => return Err(format!("cannot write {path}: {e}").into()),
            };
            writeln!(index, "{}", line_of(&page.url, capture, &path, bytes))?;
            (done.files, done.bytes, of_page) = (done.files + 1, done.bytes + bytes, 1);
        }
        done.pages += of_page;
        Ok(())
    })?;
    index.flush()?;
    Ok(done)
}

/// The line that says what a file holds.
pub(crate) fn line_of(url: &CanonicalUrl, capture: &Capture, path: &str, bytes: u64) -> Value {
    json!({
        "url": url.as_str(),
        "path": path,
        "time": capture.time.to_string(),
        "status": capture.outcome.status,
        "type": &*capture.mime,
        "bytes": bytes,
        "digest": format!("sha1:{}", digest_base32(&capture.payload_digest)),
        "job": capture.job.0,
    })
}

pub(crate) enum Stop {
    Version(VersionError),
    Disk(io::Error),
}

pub(crate) fn write(
    shelf: &Shelf<'_>,
    page: &Versions,
    n: usize,
    path: &Path,
) -> Result<u64, Stop> {
    let opened = shelf.open(page, n).map_err(Stop::Version)?;
    let mut plain = opened.plain().map_err(Stop::Version)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Stop::Disk)?;
    }
    // A file is whole or not there.
    let part = path.with_extension("part=");
    let mut file = File::create(&part).map_err(Stop::Disk)?;
    let mut piece = vec![0; 64 << 10];
    let mut length = 0;
    loop {
        let n = match plain.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) => {
                let _ = fs::remove_file(&part);
                return Err(Stop::Version(e.into()));
            }
        };
        file.write_all(&piece[..n]).map_err(Stop::Disk)?;
        length += n as u64;
    }
    drop(file);
    fs::rename(&part, path).map_err(Stop::Disk)?;
    Ok(length)
}

/// The directory of a crawl: when it was begun, without what no file may be named.
pub(crate) fn crawl_name(begun: Time) -> String {
    begun.iso_seconds().replace(':', "-")
}

/// Two crawls of one second are told apart by their numbers.
pub(crate) fn apart(crawls: HashMap<JobId, String>) -> HashMap<JobId, String> {
    let mut first: HashMap<String, JobId> = HashMap::new();
    for (job, name) in &crawls {
        let known = first.entry(name.clone()).or_insert(*job);
        *known = (*known).min(*job);
    }
    let named = |(job, name): (JobId, String)| match first.get(&name) == Some(&job) {
        true => (job, name),
        false => (job, format!("{name}={}", job.0)),
    };
    crawls.into_iter().map(named).collect()
}

/// Longest name of a file or folder without what is added to tell it from others.
const MAX_NAME: usize = 80;
/// Longest path in a crawl's directory.
const MAX_PATH: usize = 180;

/// Endings by which a file is known: a page whose name has none is given one.
const ENDINGS: &[&str] = &[
    "html", "htm", "xhtml", "txt", "pdf", "xml", "json", "css", "js", "png", "jpg", "jpeg", "gif",
    "svg", "webp", "ico", "md", "csv", "zip", "gz", "mp3", "mp4", "woff", "woff2", "bin",
];

/// The path of a page in the directory of a crawl; `version` for one that is not the first there.
///
/// It depends on nothing but its arguments, and no two URLs have the same.
pub fn tree_path(url: &CanonicalUrl, mime: &str, version: Option<Time>) -> String {
    let origin = url.origin();
    let (scheme, host) = origin.split_once("://").unwrap_or(("http", origin));
    // No name of a host has a plus in it.
    let host = match host.rsplit_once(':').filter(|_| !host.ends_with(']')) {
        Some((name, port)) => format!("{name}+{port}"),
        None => host.to_owned(),
    };
    let mut out = match scheme {
        "https" => folder(&host),
        other => folder(&format!("{host}+{other}")),
    };
    let mut parts: Vec<&str> = url.path().split('/').skip(1).collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        out.push('/');
        out.push_str(&folder(part));
    }
    out.push('/');
    let mut name = file(last, url.query(), mime);
    if let Some(time) = version {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, "bin"));
        name = format!("{stem}={}{:03}v.{ending}", time.digits14(), time.0.rem_euclid(1000));
    }
    out.push_str(&name);
    match out.len() <= MAX_PATH {
        true => out,
        false => {
            let host = out.split('/').next().unwrap_or_default();
            let ending = name.rsplit('.').next().unwrap_or("bin");
            format!("{host}/=long/{}.{ending}", hash(&format!("{url} {version:?}")))
        }
    }
}

/// A folder: what could be a file says that it is none.
fn folder(part: &str) -> String {
    let name = legal(part, part);
    match ending(&name.to_ascii_lowercase()).is_some() {
        true => format!("{name}=dir"),
        false => name,
    }
}

/// A file: its name always has an ending of the list.
fn file(last: &str, query: Option<&str>, mime: &str) -> String {
    let own = ending(&last.to_ascii_lowercase()).map(|e| &last[last.len() - e.len()..]);
    if last.is_empty() && query.is_none() {
        return format!("index.{}", by_type(mime));
    }
    let stem = own.map_or(last, |own| &last[..last.len() - own.len() - 1]);
    let small = own.is_some_and(|own| own.bytes().all(|b| !b.is_ascii_uppercase()));
    if query.is_none() && small {
        // The plain name is that of the page whose URL ends with a slash.
        if stem == "index" {
            return format!("index=file.{}", own.unwrap_or_default());
        }
        return format!("{}.{}", legal(stem, last), own.unwrap_or_default());
    }
    let whole = match query {
        Some(query) => format!("{last}?{query}"),
        None => last.to_owned(),
    };
    let ending = own.map_or_else(|| by_type(mime).to_owned(), str::to_ascii_lowercase);
    let shown = match query {
        Some(query) => format!("{stem}_{query}"),
        None => stem.to_owned(),
    };
    format!("{}=h{}.{ending}", fine(&shown), hash(&whole))
}

fn ending(name: &str) -> Option<&'static str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let known = ENDINGS.iter().find(|known| **known == ending)?;
    (!stem.is_empty()).then_some(*known)
}

fn by_type(mime: &str) -> &'static str {
    match mime {
        "text/html" | "application/xhtml+xml" => "html",
        "text/plain" => "txt",
        "application/pdf" => "pdf",
        "text/xml" | "application/xml" | "application/rss+xml" | "application/atom+xml" => "xml",
        "application/json" => "json",
        "text/css" => "css",
        "text/javascript" | "application/javascript" => "js",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/svg+xml" => "svg",
        "image/webp" => "webp",
        _ => "bin",
    }
}

/// A name that every file system takes and that no other part of a URL has, capitals included.
///
/// `of` is all that tells it from others.
fn legal(part: &str, of: &str) -> String {
    let clean = fine(part);
    let device = is_device(&clean);
    if clean != part || device || part.is_empty() || part.len() > MAX_NAME {
        let mark = if device { "_" } else { "" };
        return format!("{mark}{clean}=h{}", hash(of));
    }
    // `%C3` is written with capitals everywhere.
    let mut mask: u128 = 0;
    let mut letters = part.bytes().enumerate();
    while let Some((at, byte)) = letters.next() {
        if byte == b'%' {
            letters.nth(1);
        } else if byte.is_ascii_uppercase() {
            mask |= 1 << at;
        }
    }
    match mask {
        0 => clean,
        mask => format!("{clean}={mask:x}"),
    }
}

/// Only what may stand in a name; the same as what is given, if all of it may.
fn fine(part: &str) -> String {
    let escape = |at: usize| {
        let digits = part.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|d| d.iter().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')))
    };
    let ok = |(at, c): (usize, char)| match c {
        '%' if escape(at) => c,
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | ',' | '@') => c,
        _ => '_',
    };
    let mut name: String = part.char_indices().map(ok).take(MAX_NAME).collect();
    // An escape is not cut in two.
    if let Some(at) = name.rfind('%').filter(|at| at + 3 > name.len()) {
        name.truncate(at);
    }
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    if name.ends_with('.') {
        name.pop();
        name.push('_');
    }
    name
}

/// Names that Windows takes for devices.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(&*stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || (stem.len() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")))
}

/// 80 bits of a text, in small letters and digits.
fn hash(text: &str) -> String {
    digest_base32(&payload_digest(text.as_bytes()))[..16].to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn path(url: &str) -> String {
        tree_path(&CanonicalUrl::parse(url).expect("a URL"), "text/html", None)
    }

    #[test]
    fn everyday_urls_keep_their_names() {
        assert_eq!(path("https://a.test/"), "a.test/index.html");
        assert_eq!(path("https://a.test/docs/x.html"), "a.test/docs/x.html");
        assert_eq!(path("https://a.test/docs/"), "a.test/docs/index.html");
        assert_eq!(path("https://a.test/a.html/b.html"), "a.test/a.html=dir/b.html");
        assert_eq!(path("https://a.test/HashMap.html"), "a.test/HashMap=11.html");
        assert!(path("http://a.test:8080/x.html") == "a.test+8080+http/x.html");
        assert_eq!(path("https://a.test/index.html"), "a.test/index=file.html");
        assert!(path("https://a.test/docs").starts_with("a.test/docs=h"));
        assert!(path("https://a.test/x.html?b=1&c=2").starts_with("a.test/x_b_1_c_2=h"));
    }

    #[test]
    fn no_two_urls_share_a_path_and_every_path_is_legal_everywhere() {
        let mut urls: Vec<String> = Vec::new();
        let names = [
            "",
            "a",
            "A",
            "a.",
            "a..",
            "a.html",
            "A.html",
            "a.HTML",
            "a.htm",
            "index",
            "index.html",
            "INDEX.html",
            "index.htm",
            ".git",
            "_git",
            "con",
            "CON",
            "con.html",
            "_con",
            "aux.txt",
            "nul",
            "com1",
            "lpt9.pdf",
            "a%20b",
            "a_b",
            "a+b",
            "a%3Fb",
            "a%3fb",
            "a%2Fb",
            "a%00b",
            "a%",
            "a%zz",
            "a:b",
            "a*b",
            "a|b",
            "a\"b",
            "a=dir",
            "a.html=dir",
            "a=1",
            "%2e%2e",
            "~u",
            "a~1",
            "ä",
            "%C3%A4",
            "%c3%a4",
            "a;v=1",
            "(a)",
            "x.tar.gz",
            "v1.2",
            "v1.2.3",
            "...",
            "a ",
            "%E2%80%AE",
            "a_q_1",
        ];
        for scheme in ["http", "https"] {
            for name in names {
                for rest in
                    ["", "/", "/b", "/index.html", "?", "?q=1", "?q=2", "?Q=1", "?../../etc", "/?q"]
                {
                    urls.push(format!("{scheme}://a.test/{name}{rest}"));
                }
            }
        }
        for long in [100, 101, 255, 256, 1000] {
            urls.push(format!("https://a.test/{}", "n".repeat(long)));
            urls.push(format!("https://a.test/{}.html", "n".repeat(long)));
            urls.push(format!("https://a.test/{}x.html", "d/".repeat(long)));
            urls.push(format!("https://a.test/x?{}", "q".repeat(long)));
        }
        let mut known: HashMap<String, String> = HashMap::new();
        let mut folders: HashMap<String, String> = HashMap::new();
        for url in &urls {
            let Ok(url) = CanonicalUrl::parse(url) else { continue };
            let path = tree_path(&url, "text/html", None);
            let before = known.insert(path.to_lowercase(), url.to_string());
            assert!(before.is_none_or(|b| b == url.as_str()), "{url}: {path}");
            assert!(path.len() <= MAX_PATH + 40, "{path}");
            let parts: Vec<&str> = path.split('/').collect();
            for n in 1..parts.len() {
                folders.insert(parts[..n].join("/").to_lowercase(), url.to_string());
            }
            for part in parts {
                assert!(
                    !part.is_empty() && !part.starts_with('.') && !part.ends_with(['.', ' ']),
                    "{path}"
                );
                assert!(part.len() <= 130 && !is_device(part), "{path}");
                let fine = |c: char| c.is_ascii_alphanumeric() || "-_.~+,@%=".contains(c);
                assert!(part.chars().all(fine), "{path}");
            }
        }
        let both: Vec<_> = known.keys().filter(|path| folders.contains_key(*path)).collect();
        assert!(both.is_empty(), "files that are folders too: {both:?}");
    }

    #[test]
    fn versions_of_one_crawl_have_names_of_their_own() {
        let url = CanonicalUrl::parse("https://a.test/x.html").expect("a URL");
        let at = |ms| tree_path(&url, "text/html", Some(Time(ms)));
        assert_eq!(at(1_769_860_800_123), "a.test/x=20260131120000123v.html");
        assert_ne!(at(1), at(2));
    }
}
