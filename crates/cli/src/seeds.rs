//! Start URLs from arguments, a file or standard input. One bad line does not stop the rest.

use anyhow::Context;
use argiope_model::CanonicalUrl;
use std::collections::HashSet;
use std::fs;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Start URLs and what was wrong with the others.
#[derive(Debug, Default)]
pub struct Seeds {
    /// The good ones, each once, in order.
    pub urls: Vec<CanonicalUrl>,
    /// One message a bad line.
    pub problems: Vec<String>,
    seen: HashSet<CanonicalUrl>,
}

impl Seeds {
    /// Takes in one URL; `place` names where it stood.
    fn take(&mut self, text: &str, place: &str) {
        match CanonicalUrl::parse(text) {
            Ok(url) if self.seen.insert(url.clone()) => self.urls.push(url),
            Ok(_) => {}
            Err(e) => self.problems.push(format!("{place}{text}: {e}")),
        }
    }

    /// Takes in lines: blank ones and those starting with `#` are passed over.
    fn lines(&mut self, bytes: &[u8], name: &str) {
        for (n, line) in bytes.split(|b| *b == b'\n').enumerate() {
            let line = String::from_utf8_lossy(line);
            let line = line.trim().trim_start_matches('\u{feff}');
            if !line.is_empty() && !line.starts_with('#') {
                self.take(line, &format!("{name}:{}: ", n + 1));
            }
        }
    }
}

/// Start URLs piped in without being asked for (`cat urls.txt | argiope crawl`).
///
/// A pipe that says nothing for a second is somebody else's, and nothing is read from it.
pub fn piped() -> Option<Seeds> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut first = [0; 4096];
        let n = std::io::stdin().read(&mut first).unwrap_or(0);
        let _ = tell.send(first[..n].to_vec());
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
        let _ = tell.send(rest);
    });
    let mut bytes = told.recv_timeout(Duration::from_secs(1)).ok().filter(|b| !b.is_empty())?;
    bytes.extend(told.recv().unwrap_or_default());
    let mut seeds = Seeds::default();
    seeds.lines(&bytes, "stdin");
    Some(seeds)
}

/// Collects the start URLs.
pub fn collect(urls: &[String], file: Option<&Path>) -> anyhow::Result<Seeds> {
    let mut seeds = Seeds::default();
    for url in urls {
        if url == "-" {
            seeds.lines(&stdin()?, "stdin");
        } else {
            seeds.take(url.trim(), "");
        }
    }
    match file {
        Some(file) if file == Path::new("-") => seeds.lines(&stdin()?, "stdin"),
        Some(file) => {
            let bytes = fs::read(file)
                .with_context(|| format!("cannot read the start URLs from {}", file.display()))?;
            seeds.lines(&bytes, &file.display().to_string());
        }
        None => {}
    }
    Ok(seeds)
}

fn stdin() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_bad_lines_are_three_messages_and_the_rest_loads() {
        let mut seeds = Seeds::default();
        let text = b"# start\nhttp://a.test/\nnope\n\nhttp://b.test/x#y\r\nftp://c.test/\nhttp://:80/\nhttp://a.test\n\xff\n";
        seeds.lines(text, "urls.txt");
        let urls: Vec<&str> = seeds.urls.iter().map(CanonicalUrl::as_str).collect();
        assert_eq!(urls, ["http://a.test/", "http://b.test/x"]);
        assert_eq!(seeds.problems.len(), 4, "{:?}", seeds.problems);
        assert!(seeds.problems[0].starts_with("urls.txt:3: nope: not a URL"));
    }
}
