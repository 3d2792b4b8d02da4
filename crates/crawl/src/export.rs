//! Exports that other tools read: the archive as WARC files, its index as CDXJ.
//!
//! The other forms are beside this file: `export_pages`, `export_wacz`, `export_graph`.

use crate::data_dir::DataDir;
use argiope_archive::{cdxj_line, open_segment, warc_segment_name};
use argiope_model::{Capture, Location, UrlKey};
use argiope_store::{SegmentKind, Store, UrlRow};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Rows read from the store at a time.
const PAGE: usize = 512;
/// Index lines sorted in memory at a time; more are sorted in runs and merged.
const RUN: usize = 200_000;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Copies the committed part of every segment into a directory; returns files and bytes.
pub fn export_warc(
    dir: &DataDir,
    store: &dyn Store,
    out: &Path,
) -> Result<Vec<(PathBuf, u64)>, Failure> {
    fs::create_dir_all(out)?;
    // Where there is no archive yet there is nothing to lose.
    if fs::canonicalize(dir.warc()).is_ok_and(|own| fs::canonicalize(out).is_ok_and(|o| o == own)) {
        return Err(format!("{} is the archive itself; give another place", out.display()).into());
    }
    let mut written = Vec::new();
    for (segment, length) in store.segments(SegmentKind::Warc)? {
        let name = warc_segment_name(segment);
        let (from, to) = (dir.warc().join(&name), out.join(&name));
        let mut source = open_segment(&dir.warc(), &name)?.take(length);
        // The segments of a fleet lie with its workers.
        if fs::canonicalize(&from).is_ok_and(|own| fs::canonicalize(&to).is_ok_and(|o| o == own)) {
            return Err(format!(
                "{} is part of the archive itself; give another place",
                to.display()
            )
            .into());
        }
        let mut target = File::create(&to)?;
        let copied = io::copy(&mut source, &mut target)?;
        target.sync_all()?;
        if copied != length {
            return Err(format!("{} ends early: {copied} of {length} bytes", from.display()).into());
        }
        written.push((to, length));
    }
    Ok(written)
}

/// Writes the index of the archive, sorted, one line per record; returns the lines written.
pub fn export_cdxj(dir: &DataDir, store: &dyn Store, out: &mut dyn Write) -> Result<u64, Failure> {
    let scratch = dir.spool().join("cdxj");
    let place = |capture: &Capture| capture.record;
    let mut line = |line: &str| Ok(writeln!(out, "{line}")?);
    let count = index_lines(&scratch, store, &place, &mut line);
    let _ = fs::remove_dir_all(&scratch);
    count
}

/// Makes the lines of an index and gives them out sorted; `place` says where a capture's record
/// lies in the files that are indexed.
pub(crate) fn index_lines(
    scratch: &Path,
    store: &dyn Store,
    place: &dyn Fn(&Capture) -> Option<Location>,
    out: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let _ = fs::remove_dir_all(scratch);
    fs::create_dir_all(scratch)?;
    let mut lines: Vec<String> = Vec::new();
    let mut runs: Vec<PathBuf> = Vec::new();
    each_url(store, |key, row| {
        if row.fetched_at.is_none() {
            return Ok(());
        }
        for capture in store.captures(key)? {
            let Some(at) = place(&capture) else { continue };
            lines.push(cdxj_line(
                row.url.as_str(),
                capture.time,
                &capture.mime,
                capture.outcome.status,
                &capture.payload_digest,
                at,
                &warc_segment_name(at.segment),
                capture.revisit,
            ));
        }
        if lines.len() >= RUN {
            runs.push(write_run(scratch, runs.len(), &mut lines)?);
        }
        Ok(())
    })?;
    lines.sort_unstable();
    merge(&runs, lines, out)
}

/// Calls `each` for every URL that is known.
pub(crate) fn each_url(
    store: &dyn Store,
    mut each: impl FnMut(UrlKey, &UrlRow) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let page = store.scan_urls(after, PAGE)?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = Some(*last);
        for (key, row) in &page {
            each(*key, row)?;
        }
    }
}

fn write_run(scratch: &Path, n: usize, lines: &mut Vec<String>) -> io::Result<PathBuf> {
    lines.sort_unstable();
    let path = scratch.join(format!("run-{n}"));
    let mut file = io::BufWriter::new(File::create(&path)?);
    for line in lines.drain(..) {
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    Ok(path)
}

fn merge(
    runs: &[PathBuf],
    rest: Vec<String>,
    out: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    type Lines = Box<dyn Iterator<Item = io::Result<String>>>;
    let mut sources: Vec<Lines> = vec![Box::new(rest.into_iter().map(Ok))];
    for run in runs {
        sources.push(Box::new(io::BufRead::lines(io::BufReader::new(File::open(run)?))));
    }
    let mut heap = BinaryHeap::new();
    for (n, source) in sources.iter_mut().enumerate() {
        if let Some(line) = source.next() {
            heap.push(Reverse((line?, n)));
        }
    }
    let mut count = 0;
    while let Some(Reverse((line, n))) = heap.pop() {
        out(&line)?;
        count += 1;
        if let Some(line) = sources[n].next() {
            heap.push(Reverse((line?, n)));
        }
    }
    Ok(count)
}
