//! The receipt: what went, from which places, and what the files were before and are now.
//!
//! What it proves: the digests say that exactly these files were changed and let anybody check
//! that they are still as they were left. With an old copy of a file, whose digest is the one
//! before, the listed places are the only bytes that differ up to its old length. It cannot prove
//! what happened to copies made earlier; it names them as what remains.

use super::ForgetError;
use super::io_error;
use super::look::ForgetPlan;
use super::prune::PruneOrder;
use crate::data_dir::DataDir;
use argiope_archive::{BodyHasher, text_segment_name, warc_segment_name};
use argiope_model::{Location, Time};
use argiope_store::{SegmentKind, Store};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;

/// What stays, in sentences.
const REMAINS: [&str; 5] = [
    "the URLs themselves, their numbers and when they were first seen: that is what keeps a crawl \
     from fetching them again",
    "lines of log/ that name them: when they were asked for, how it ended, how long it was",
    "other pages' own links to them, in those pages' words, and other pages with the same bytes",
    "URLs that were first found on them",
    "exports, backups and copies of the archive made earlier, which are out of reach from here",
];

/// What stays of pages that have lost versions, in sentences.
const REMAINS_PRUNED: [&str; 4] = [
    "the pages' other versions, byte for byte, and bytes of these that others have too",
    "how often the pages were visited and had changed, and the lines of log/",
    "the length of the files: what was removed is blank, and takes no room where the file system \
     knows holes",
    "exports, backups and copies of the archive made earlier",
];

/// A page that has lost versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Its URL.
    pub url: String,
    /// When the captures that went were made.
    pub times: Vec<String>,
    /// Those at which the page was otherwise than what is shown for them now.
    pub lost: Vec<String>,
}

/// What was forgotten, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its name: the file in `receipts/`.
    pub id: String,
    /// When it was asked for.
    pub time: String,
    /// What was asked for.
    pub asked: Vec<String>,
    /// The URLs.
    pub urls: Vec<String>,
    /// Hosts that were forgotten whole, with their robots.txt.
    pub hosts: Vec<String>,
    /// The rule, where versions went and not pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<PruneOrder>,
    /// Pages that stay, and which versions of them went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<Pruned>,
    /// Captures that went.
    pub captures: u64,
    /// Records blanked, references that were replaced included.
    pub records: u64,
    /// Texts blanked.
    pub texts: u64,
    /// Bytes blanked.
    pub bytes: u64,
    /// Captures of other pages that were given a record of their own.
    pub moved: Vec<String>,
    /// The files of the archive and of the texts that were changed.
    pub files: Vec<FileReceipt>,
    /// Size of the store, which was written anew, before and after.
    pub store_bytes: (u64, u64),
    /// What remains.
    pub remains: Vec<String>,
}

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReceipt {
    /// Its path in the data directory.
    pub file: String,
    /// Offset and length of each place that was blanked.
    pub places: Vec<(u64, u64)>,
    /// Bytes blanked.
    pub bytes: u64,
    /// Its length before and after; it grows where copies were moved.
    pub length: (u64, u64),
    /// SHA-256 of it before and after; not taken where versions went and not pages.
    #[serde(default, skip_serializing_if = "are_empty")]
    pub sha256: (String, String),
}

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileBefore {
    file: String,
    length: u64,
    sha256: String,
}

impl FileBefore {
    /// The files that a plan changes, up to their committed lengths.
    pub(super) fn of(
        dir: &DataDir,
        store: &dyn Store,
        plan: &ForgetPlan,
    ) -> Result<Vec<Self>, ForgetError> {
        let mut out = Vec::new();
        for (kind, places) in
            [(SegmentKind::Warc, plan.all_records()), (SegmentKind::Text, plan.texts.clone())]
        {
            let touched: BTreeSet<u32> = places.iter().map(|at| at.segment).collect();
            for (segment, length) in store.segments(kind)? {
                if touched.contains(&segment) {
                    let file = name(kind, segment);
                    // Reading a whole archive twice is too much where nothing is to be proven.
                    let sha256 = match plan.prune {
                        None => sha256(dir, &file, length)?,
                        Some(_) => String::new(),
                    };
                    out.push(FileBefore { file, length, sha256 });
                }
            }
        }
        Ok(out)
    }
}

fn are_empty(digests: &(String, String)) -> bool {
    digests.0.is_empty() && digests.1.is_empty()
}

fn name(kind: SegmentKind, segment: u32) -> String {
    match kind {
        SegmentKind::Warc => format!("warc/{}", warc_segment_name(segment)),
        SegmentKind::Text => format!("text/{}", text_segment_name(segment)),
    }
}

fn sha256(dir: &DataDir, file: &str, length: u64) -> Result<String, ForgetError> {
    let path = dir.path().join(file);
    let mut source = File::open(&path).map_err(io_error("read", &path))?.take(length);
    let (mut hasher, mut piece) = (BodyHasher::new(), vec![0; 256 << 10]);
    loop {
        match source.read(&mut piece).map_err(io_error("read", &path))? {
            0 => break,
            n => hasher.update(&piece[..n]),
        }
    }
    Ok(hasher.finish().iter().map(|b| format!("{b:02x}")).collect())
}

impl Receipt {
    pub(super) fn new(plan: &ForgetPlan, after: Vec<FileBefore>, store_bytes: u64) -> Self {
        let mut places: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
        let mut add = |kind, at: &Location| {
            places.entry(name(kind, at.segment)).or_default().push((at.offset, at.length));
        };
        plan.all_records().iter().for_each(|at| add(SegmentKind::Warc, at));
        plan.texts.iter().for_each(|at| add(SegmentKind::Text, at));
        let files = after.into_iter().map(|now| {
            let before = plan.files.iter().find(|before| before.file == now.file);
            let (length, sha256) =
                before.map_or((now.length, String::new()), |b| (b.length, b.sha256.clone()));
            let mut places = places.remove(&now.file).unwrap_or_default();
            places.sort_unstable();
            FileReceipt {
                bytes: places.iter().map(|(_, length)| length).sum(),
                places,
                length: (length, now.length),
                sha256: (sha256, now.sha256),
                file: now.file,
            }
        });
        let time = Time(plan.time_ms);
        let (kind, remains) = match plan.prune {
            None => ("forget", &REMAINS[..]),
            Some(_) => ("prune", &REMAINS_PRUNED[..]),
        };
        let told = |times: &[i64]| times.iter().map(|ms| Time(*ms).to_string()).collect();
        let versions = plan.versions.iter().map(|page| Pruned {
            url: page.url.clone(),
            times: told(&page.times_ms),
            lost: told(&page.lost_ms),
        });
        let survivors = plan.moves.iter().flat_map(|group| &group.to);
        Receipt {
            id: format!("{kind}-{}-{:03}", time.digits14(), plan.time_ms.rem_euclid(1000)),
            time: time.to_string(),
            asked: plan.asked.clone(),
            urls: plan.urls.clone(),
            hosts: plan.hosts.clone(),
            keep: plan.prune.clone(),
            versions: versions.collect(),
            captures: plan.captures,
            records: plan.all_records().len() as u64,
            texts: plan.texts.len() as u64,
            bytes: plan.bytes(),
            moved: survivors.map(|survivor| survivor.url.clone()).collect(),
            files: files.collect(),
            store_bytes: (plan.store_bytes, store_bytes),
            remains: remains.iter().map(|line| (*line).to_owned()).collect(),
        }
    }
}
