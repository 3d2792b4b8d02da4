//! The archive as one WACZ file, to be opened by replay tools in a browser.
//!
//! Segments go in as they are, without unpacking. Records of captures that ask not to be shown
//! (noarchive), and what is left of forgotten ones, are left out of them: what lies behind moves
//! forward, and the index knows by how much.

use crate::data_dir::DataDir;
use crate::export::{Failure, each_url, index_lines};
use crate::export_pages::{PageFilter, PagesExported, each_page};
use argiope_archive::{
    WaczIndex, WaczInfo, WaczPage, WaczPages, WaczWriter, WarcReader, is_tombstone, open_segment,
    warc_segment_name,
};
use argiope_model::{Capture, Location, Time};
use argiope_store::{SegmentKind, Store};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
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
    let left_out = LeftOut::find(dir, store, order.anyway)?;
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
            let file = open_segment(&dir.warc(), &name)?;
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
    let asked_not = left_out.asked_not;
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

/// Records that are not copied: those of pages that ask not to be shown, and what is left of
/// those that were removed.
#[derive(Default)]
struct LeftOut {
    /// By segment and in order.
    gone: BTreeMap<u32, Vec<Gone>>,
    asked_not: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Gone {
    offset: u64,
    length: u64,
    /// Lengths of this and of all before it.
    so_far: u64,
}

impl LeftOut {
    fn find(dir: &DataDir, store: &dyn Store, anyway: bool) -> Result<Self, Failure> {
        let mut out = LeftOut::default();
        let mut captured: HashMap<u32, u64> = HashMap::new();
        each_url(store, |key, row| {
            if row.fetched_at.is_none() {
                return Ok(());
            }
            for capture in store.captures(key)? {
                let Some(at) = capture.record else { continue };
                *captured.entry(at.segment).or_default() += at.length;
                if capture.directives.noarchive && !anyway {
                    out.asked_not += 1;
                    out.leave_out(at);
                }
            }
            Ok(())
        })?;
        for (segment, length) in store.segments(SegmentKind::Warc)? {
            let captured = captured.get(&segment).copied().unwrap_or(0);
            out.leave_out_tombstones(dir, segment, length, captured)?;
        }
        for gone in out.gone.values_mut() {
            gone.sort_unstable();
            let mut sum = 0;
            for one in gone {
                sum += one.length;
                one.so_far = sum;
            }
        }
        Ok(out)
    }

    fn leave_out(&mut self, at: Location) {
        let gone = Gone { offset: at.offset, length: at.length, so_far: 0 };
        self.gone.entry(at.segment).or_default().push(gone);
    }

    /// Looks through a segment that holds more than its captures and what it begins with.
    fn leave_out_tombstones(
        &mut self,
        dir: &DataDir,
        segment: u32,
        length: u64,
        captured: u64,
    ) -> Result<(), Failure> {
        let file = open_segment(&dir.warc(), &warc_segment_name(segment))?.take(length);
        let mut others = length.saturating_sub(captured);
        for entry in WarcReader::new(io::BufReader::with_capacity(256 << 10, file)).flatten() {
            let Some(size) = entry.length else { continue };
            if entry.headers.record_type() == "warcinfo" {
                others = others.saturating_sub(size);
            } else if is_tombstone(&entry.headers) {
                others = others.saturating_sub(size);
                self.leave_out(Location { segment, offset: entry.offset, length: size });
            }
            if others == 0 {
                break;
            }
        }
        Ok(())
    }

    fn of(&self, segment: u32) -> &[Gone] {
        self.gone.get(&segment).map_or(&[], Vec::as_slice)
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
