//! The archive as one WACZ file, to be opened by replay tools in a browser.
//!
//! Segments go in as they are, without unpacking. Records of captures that ask not to be shown
//! (noarchive) are left out of them: what lies behind moves forward, and the index knows by how
//! much.

use crate::data_dir::DataDir;
use crate::export::{Failure, each_url, index_lines};
use crate::export_pages::{PageFilter, PagesExported, each_page};
use argiope_archive::{WaczIndex, WaczInfo, WaczPage, WaczPages, WaczWriter, warc_segment_name};
use argiope_model::{Capture, Location, Time};
use argiope_store::{SegmentKind, Store};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// What a WACZ is to hold.
#[derive(Clone, Debug, Default)]
pub struct WaczOrder {
    /// A title; one is made of the number of pages without it.
    pub title: Option<String>,
    /// Whether the list of pages holds their texts, so that readers can search them.
    pub text: bool,
    /// Also pages that ask not to be shown.
    pub anyway: bool,
    /// Name and version of the program.
    pub software: String,
    /// The time now.
    pub now: Time,
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WaczExported {
    /// WARC files in it.
    pub segments: u64,
    /// Records in its index.
    pub records: u64,
    /// Pages in its list.
    pub pages: u64,
    /// Captures left out because their pages ask not to be shown.
    pub asked_not: u64,
    /// Length of the file.
    pub bytes: u64,
}

/// Writes the archive into one WACZ file.
pub fn export_wacz(
    dir: &DataDir,
    store: &dyn Store,
    order: &WaczOrder,
    out: &Path,
) -> Result<WaczExported, Failure> {
    let scratch = dir.spool().join("wacz");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch)?;
    let done = write(dir, store, order, out, &scratch);
    let _ = fs::remove_dir_all(&scratch);
    done
}

fn write(
    dir: &DataDir,
    store: &dyn Store,
    order: &WaczOrder,
    out: &Path,
    scratch: &Path,
) -> Result<WaczExported, Failure> {
    let left_out = if order.anyway { LeftOut::default() } else { LeftOut::find(store)? };
    let mut index = WaczIndex::create(scratch)?;
    let place = |capture: &Capture| capture.record.and_then(|at| left_out.place(at));
    let mut line = |line: &str| Ok(index.push(line)?);
    let records = index_lines(&scratch.join("runs"), store, &place, &mut line)?;
    let mut pages = WaczPages::create(scratch, order.text)?;
    let mut first: Option<(String, Time, u16)> = None;
    let listed = list_pages(dir, store, order, &mut pages, &mut first)?;
    let title = order.title.clone();
    let info = WaczInfo {
        software: order.software.clone(),
        title: title.unwrap_or_else(|| format!("{} pages", listed.pages)),
        created: order.now,
        main_page: first.map(|(url, time, _)| (url, time)),
    };
    let mut wacz = WaczWriter::create(out, info)?;
    let mut add = || -> Result<u64, Failure> {
        let mut segments = 0;
        for (segment, length) in store.segments(SegmentKind::Warc)? {
            let name = warc_segment_name(segment);
            let file = File::open(dir.warc().join(&name))?;
            let gone = left_out.of(segment);
            let kept = length - gone.last().map_or(0, |last| last.so_far);
            let mut source = Holes { file, at: 0, end: length, gone };
            wacz.add_warc(&name, &mut source, kept)?;
            segments += 1;
        }
        Ok(segments)
    };
    let added = add();
    let finish = |mut wacz: WaczWriter| -> Result<u64, Failure> {
        wacz.add_index(index)?;
        wacz.add_pages(pages)?;
        Ok(wacz.finish()?)
    };
    let segments = match added {
        Ok(segments) => segments,
        Err(e) => {
            wacz.abandon();
            return Err(e);
        }
    };
    let bytes = finish(wacz)?;
    let asked_not = left_out.count();
    Ok(WaczExported { segments, records, pages: listed.pages, asked_not, bytes })
}

/// Lists the pages and finds the one to show first: the nearest to a start URL.
fn list_pages(
    dir: &DataDir,
    store: &dyn Store,
    order: &WaczOrder,
    pages: &mut WaczPages,
    first: &mut Option<(String, Time, u16)>,
) -> Result<PagesExported, Failure> {
    let filter = PageFilter { anyway: order.anyway, ..PageFilter::default() };
    let mut others = 0;
    let mut listed = each_page(dir, store, &filter, |row, capture, text| {
        if !capture.mime.contains("html") || capture.record.is_none() {
            others += 1;
            return Ok(());
        }
        let url = row.url.as_str();
        let nearer = first.as_ref().is_none_or(|(known, _, depth)| {
            (row.depth, url.len(), url) < (*depth, known.len(), known.as_str())
        });
        if nearer {
            *first = Some((url.to_owned(), capture.time, row.depth));
        }
        pages.push(&WaczPage {
            id: row.doc.0.to_string(),
            url,
            ts: capture.time.iso_seconds(),
            title: text.map_or("", |t| &t.title),
            text: text.map(|t| &*t.text).filter(|_| order.text),
        })?;
        Ok(())
    })?;
    listed.pages -= others;
    Ok(listed)
}

/// Records that are not copied, by segment and in order.
#[derive(Default)]
struct LeftOut(BTreeMap<u32, Vec<Gone>>);

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Gone {
    offset: u64,
    length: u64,
    /// Lengths of this and of all before it.
    so_far: u64,
}

impl LeftOut {
    fn find(store: &dyn Store) -> Result<Self, Failure> {
        let mut out = LeftOut::default();
        each_url(store, |key, row| {
            if row.fetched_at.is_none() {
                return Ok(());
            }
            let asked = |c: &Capture| c.directives.noarchive;
            for at in store.captures(key)?.iter().filter(|c| asked(c)).filter_map(|c| c.record) {
                out.0.entry(at.segment).or_default().push(Gone {
                    offset: at.offset,
                    length: at.length,
                    so_far: 0,
                });
            }
            Ok(())
        })?;
        for gone in out.0.values_mut() {
            gone.sort_unstable();
            let mut sum = 0;
            for one in gone {
                sum += one.length;
                one.so_far = sum;
            }
        }
        Ok(out)
    }

    fn of(&self, segment: u32) -> &[Gone] {
        self.0.get(&segment).map_or(&[], Vec::as_slice)
    }

    fn count(&self) -> u64 {
        self.0.values().map(|gone| gone.len() as u64).sum()
    }

    /// Where a record lies in the copy; `None` if it is not there.
    fn place(&self, at: Location) -> Option<Location> {
        let gone = self.of(at.segment);
        let before = gone.partition_point(|one| one.offset < at.offset);
        if gone.get(before).is_some_and(|one| one.offset == at.offset) {
            return None;
        }
        let moved = gone[..before].last().map_or(0, |one| one.so_far);
        Some(Location { offset: at.offset - moved, ..at })
    }
}

/// A file read without some of its parts.
struct Holes<'a> {
    file: File,
    at: u64,
    end: u64,
    gone: &'a [Gone],
}

impl Read for Holes<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some((first, rest)) = self.gone.split_first()
            && first.offset == self.at
        {
            self.at = first.offset + first.length;
            self.file.seek(SeekFrom::Start(self.at))?;
            self.gone = rest;
        }
        let until = self.gone.first().map_or(self.end, |one| one.offset);
        let left = usize::try_from(until - self.at).unwrap_or(usize::MAX);
        let most = left.min(out.len());
        let n = self.file.read(&mut out[..most])?;
        self.at += n as u64;
        Ok(n)
    }
}
