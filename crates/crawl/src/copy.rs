//! `store copy`: a crawl moves between a data directory and a fleet, with its pages.
//!
//! * Its place: `cli` opens both ends and shows the [`CopyStep`]s; rows are copied by `store`, files by
//!   [`files`].
//! * What it comes from stays as it was and goes on working.
//!
//! ```text
//!  into a fleet                                   into a directory
//!  ROOT/worker-1.part  copying.json, then pages   DIR  copying.json, then pages
//!  one transaction with every row, and a number   DIR/store  every row, from one snapshot
//!  ROOT/worker-1       the name: it is a seat     DIR/manifest.json
//!  copying.json is removed: done                  copying.json is removed: done
//! ```
//!
//! * Killed at any moment: before the transaction holds there is nothing in the store, and the next copy
//!   removes the directory; afterwards the number in the store is that of the directory, and the next
//!   copy only gives it its name. A directory with `copying.json` in it is refused by everybody and
//!   begun again by the next copy into it.
//! * Nobody works in the fleet meanwhile: a copy joins it and holds all partitions; what workers have told
//!   each other and nobody has heard is taken in first.
//! * What is not copied: the word index and the back-links (made again by following the change log,
//!   whose numbers stay what they are), the crawl log, settings.

mod files;
mod problem;

pub use problem::CopyError;

use crate::data_dir::{self, Access, COPYING, DataDir, DataDirError};
use crate::member::{Seat, SeatAt, seats_in, suffix_number};
use argiope_model::Time;
use argiope_store::{Copied, CopyInto, EmbeddedStore, PostgresStore, SegmentKind, Store};
use files::{Put, Segment, mark_last, put_all, put_file, put_own, sync};
use problem::io_error;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a copy is called among the workers.
const COPIER: &str = "store copy";
/// How long a copy counts as alive without a renewal; one that was killed is waited for.
const LEASE: Duration = Duration::from_secs(15);
/// Rows are counted up to this when somebody is told that there are some.
const MANY: u64 = 100_000;

/// What is known of a copy that is not whole.
#[derive(Debug, Serialize, Deserialize)]
struct Copying {
    format: u32,
    /// Its number in the store, once that has it.
    id: u64,
    /// The server and its database.
    server: String,
}

/// How far a copy is.
#[derive(Debug)]
pub enum CopyStep<'a> {
    /// A copy that was killed has to be taken for dead first.
    Waiting(Duration),
    /// So many files of so many, and their bytes.
    Files(u64, u64, u64),
    /// Rows of this kind; all so far.
    Rows(&'static str, &'a Copied),
}

/// What was copied.
#[derive(Clone, Debug, Default)]
pub struct CopySummary {
    /// Rows.
    pub rows: Copied,
    /// Where the pages are now.
    pub place: PathBuf,
    /// Files of pages that share their bytes with those they were copied from.
    pub linked: u64,
    /// Files of pages that were copied.
    pub copied: u64,
    /// Bytes of pages.
    pub bytes: u64,
    /// It had been cut short after its last row, and was only given its name now.
    pub finished: bool,
}

/// What would be copied.
#[derive(Clone, Debug, Default)]
pub struct CopyPlan {
    /// Rows.
    pub rows: Copied,
    /// Where the pages would be.
    pub place: PathBuf,
    /// Files of pages.
    pub files: u64,
    /// Bytes of pages.
    pub bytes: u64,
}

type Watch<'a> = &'a mut dyn FnMut(CopyStep<'_>);

/// Says what a copy into a fleet would do, and whether it could be made.
pub fn plan_to_fleet(
    dir: &DataDir,
    from: &EmbeddedStore,
    to: &PostgresStore,
    root: &Path,
    name: Option<&str>,
) -> Result<CopyPlan, CopyError> {
    nobody_works(to, &mut |_| {})?;
    is_empty(to)?;
    let segments = segments_of(dir, from)?;
    let bytes = segments.iter().map(|segment| segment.length).sum();
    let (rows, place) = (from.count_rows()?, new_seat(root, name)?);
    Ok(CopyPlan { rows, place, files: segments.len() as u64, bytes })
}

/// Copies a data directory into an empty fleet, and its pages into a seat in `root`.
pub fn copy_to_fleet(
    dir: &DataDir,
    from: &EmbeddedStore,
    to: &PostgresStore,
    root: &Path,
    name: Option<&str>,
    now: Time,
    watch: Watch<'_>,
) -> Result<CopySummary, CopyError> {
    fs::create_dir_all(root).map_err(io_error("make the directory", root))?;
    if let Some(place) = finish_or_clear(root, to)? {
        return Ok(CopySummary { place, finished: true, ..CopySummary::default() });
    }
    nobody_works(to, watch)?;
    is_empty(to)?;
    let segments = segments_of(dir, from)?;
    segments.iter().try_for_each(Segment::check)?;
    let id = new_number();
    let fleet = to.agree("fleet", id)?;
    let suffixes = dir.suffix_number()?;
    if to.agree("suffixes", suffixes)? != suffixes {
        return Err(CopyError::OtherSuffixes(to.name().to_owned()));
    }
    let place = new_seat(root, name)?;
    let part = part_of(&place);
    fs::create_dir(&part).map_err(io_error("make the directory", &part))?;
    let _lock = data_dir::lock(&part, Access::Own)?;
    let done = (|| {
        mark(&part, id, to)?;
        let put = put_all(&segments, &part, |put| watch(files_step(put, &segments)))?;
        put_own(dir.path(), &part)?;
        for name in ["suffixes.dat", "manifest.json"] {
            put_file(&dir.path().join(name), &part.join(name))?;
        }
        let member = Seat::new(&place, fleet, now);
        member.write(&part)?;
        sync(&part)?;
        let into = CopyInto { archive: member.archive, id };
        let rows = to.holding(&copier(), LEASE, || {
            is_empty(to)?;
            let rows = to.copy_in(from, &into, &mut |kind, rows| watch(CopyStep::Rows(kind, rows)));
            rows.map_err(CopyError::from)
        })?;
        Ok(summary(rows, name_it(&part, &place)?, put))
    })();
    done.map_err(|e: CopyError| e.named(&part))
}

/// Says what a copy into a directory would do, and whether it could be made.
pub fn plan_to_dir(
    from: &PostgresStore,
    roots: &[PathBuf],
    to: &Path,
) -> Result<CopyPlan, CopyError> {
    is_free(to)?;
    nobody_works(from, &mut |_| {})?;
    let (_, segments) = segments_of_fleet(from, roots)?;
    segments.iter().try_for_each(Segment::check)?;
    let bytes = segments.iter().map(|segment| segment.length).sum();
    let (rows, place) = (from.count_rows(u64::MAX)?, to.to_owned());
    Ok(CopyPlan { rows, place, files: segments.len() as u64, bytes })
}

/// Copies a fleet, with the pages of all its workers, into a data directory.
pub fn copy_to_dir(
    from: &PostgresStore,
    roots: &[PathBuf],
    to: &Path,
    now: Time,
    watch: Watch<'_>,
) -> Result<CopySummary, CopyError> {
    is_free(to)?;
    nobody_works(from, watch)?;
    let (found, segments) = segments_of_fleet(from, roots)?;
    segments.iter().try_for_each(Segment::check)?;
    fs::create_dir_all(to).map_err(io_error("make the directory", to))?;
    let _lock = data_dir::lock(to, Access::Own)?;
    // Asked again: somebody may have been quicker.
    is_free(to)?;
    let done = (|| {
        clear(to)?;
        mark(to, 0, from)?;
        // Lengths are read again once nobody can change them.
        let (rows, put) = from.holding(&copier(), LEASE, || {
            let (_, segments) = segments_of_fleet(from, roots)?;
            let put = put_all(&segments, to, |put| watch(files_step(put, &segments)))?;
            let store = to.join("store");
            let rows =
                from.copy_out(&store, now, &mut |kind, rows| watch(CopyStep::Rows(kind, rows)))?;
            Ok::<_, CopyError>((rows, put))
        })?;
        found.iter().try_for_each(|seat| put_own(&seat.path, to))?;
        write_manifest(from, &found, to, now)?;
        sync(to)?;
        let marker = to.join(COPYING);
        fs::remove_file(&marker).map_err(io_error("remove", &marker))?;
        sync(to)?;
        Ok(summary(rows, to.to_owned(), put))
    })();
    done.map_err(|e: CopyError| e.named(to))
}

fn files_step(put: &Put, segments: &[Segment]) -> CopyStep<'static> {
    CopyStep::Files(put.linked + put.copied, segments.len() as u64, put.bytes)
}

fn summary(rows: Copied, place: PathBuf, put: Put) -> CopySummary {
    let Put { linked, copied, bytes } = put;
    CopySummary { rows, place, linked, copied, bytes, finished: false }
}

fn copier() -> String {
    format!("{COPIER} (process {})", std::process::id())
}

/// A number that only has to be unlike others.
fn new_number() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64 >> 1
}

/// Makes sure that nobody works in the fleet; a copy that was killed is waited for.
fn nobody_works(store: &PostgresStore, watch: Watch<'_>) -> Result<(), CopyError> {
    let mut waited = Duration::ZERO;
    loop {
        let workers = store.fleet()?.workers;
        let alive: Vec<_> = workers.iter().filter_map(|w| Some((w, w.left?))).collect();
        let Some(left) = alive.iter().map(|(_, left)| *left).max() else { return Ok(()) };
        let only_copies = alive.iter().all(|(worker, _)| worker.name.starts_with(COPIER));
        // One that lives renews its lease, and is still there when it should be over.
        if !only_copies || waited > LEASE + Duration::from_secs(2) {
            let tell = |(worker, left): &(&argiope_store::WorkerRow, Duration)| {
                format!("{} (its lease lasts another {} s)", worker.name, left.as_secs() + 1)
            };
            let workers = alive.iter().map(tell).collect::<Vec<_>>().join(", ");
            return Err(CopyError::Alive { workers });
        }
        watch(CopyStep::Waiting(left));
        let pause = Duration::from_millis(500);
        std::thread::sleep(pause);
        waited += pause;
    }
}

fn is_empty(store: &PostgresStore) -> Result<(), CopyError> {
    let rows = store.count_rows(MANY)?.rows;
    let some = rows.iter().filter(|(_, n)| **n > 0).map(|(kind, n)| match *n {
        MANY => format!("{kind} ({n} rows or more)"),
        1 => format!("{kind} (1 row)"),
        n => format!("{kind} ({n} rows)"),
    });
    let mut holds = some.collect::<Vec<_>>().join(", ");
    // Whoever has set some aside will use them, and they would be given twice.
    if holds.is_empty() && store.agreed("page")?.is_some() {
        holds = "a worker has joined its fleet and has set numbers aside".to_owned();
    }
    match holds.is_empty() {
        true => Ok(()),
        false => Err(CopyError::NotEmpty { server: store.name().to_owned(), holds }),
    }
}

fn segments_of(dir: &DataDir, store: &EmbeddedStore) -> Result<Vec<Segment>, CopyError> {
    let mut out = Vec::new();
    for kind in [SegmentKind::Warc, SegmentKind::Text] {
        for (number, length) in store.segments(kind)? {
            let home = dir.path().to_owned();
            out.push(Segment { kind, number, length, home, last: false });
        }
    }
    mark_last(&mut out);
    Ok(out)
}

/// The workers' directories, and all that is known of their pages.
fn segments_of_fleet(
    store: &PostgresStore,
    roots: &[PathBuf],
) -> Result<(Vec<SeatAt>, Vec<Segment>), CopyError> {
    let found = match store.agreed("fleet")? {
        Some(fleet) => seats_in(roots, fleet)?,
        None => Vec::new(),
    };
    let (mut out, mut missing) = (Vec::new(), std::collections::BTreeSet::new());
    for segment in store.all_segments()? {
        match found.iter().find(|seat| seat.archive == segment.archive) {
            Some(SeatAt { path, .. }) => out.push(Segment {
                kind: segment.kind,
                number: segment.number,
                length: segment.length,
                home: path.clone(),
                last: false,
            }),
            None => drop(missing.insert(segment.archive)),
        }
    }
    if !missing.is_empty() {
        let archives = missing.into_iter().collect::<Vec<_>>().join(", ");
        return Err(CopyError::NoPages { archives });
    }
    mark_last(&mut out);
    Ok((found, out))
}

/// The directory that is to be a seat: the name given, or the first that is free.
fn new_seat(root: &Path, name: Option<&str>) -> Result<PathBuf, CopyError> {
    let is_free = |path: &PathBuf| !path.exists() && !part_of(path).exists();
    match name {
        Some(name) => {
            let path = root.join(name);
            if is_free(&path) { Ok(path) } else { Err(CopyError::Taken(path)) }
        }
        None => {
            let mut names = (1u32..).map(|n| root.join(format!("worker-{n}")));
            Ok(names.find(is_free).unwrap_or_else(|| root.join("worker")))
        }
    }
}

fn part_of(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    place.with_file_name(name)
}

fn mark(dir: &Path, id: u64, store: &PostgresStore) -> Result<(), CopyError> {
    let copying = Copying { format: 1, id, server: store.name().to_owned() };
    let text = serde_json::to_string_pretty(&copying).expect("strings and numbers are JSON");
    data_dir::write_whole(dir, COPYING, &text)?;
    sync(dir)
}

/// Gives a directory that is whole its name, or, where a worker was quicker, the next that is free.
fn name_it(part: &Path, place: &Path) -> Result<PathBuf, CopyError> {
    let root = place.parent().unwrap_or(Path::new(".")).to_owned();
    let mut place = place.to_owned();
    while part != place {
        match fs::rename(part, &place) {
            Ok(()) => break,
            Err(e) if is_taken(&e) => place = new_seat(&root, None)?,
            Err(e) => return Err(io_error("give its name to", part)(e)),
        }
    }
    sync(&root)?;
    let marker = place.join(COPYING);
    fs::remove_file(&marker).map_err(io_error("remove", &marker))?;
    sync(&place)?;
    Ok(place)
}

fn is_taken(e: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    [AlreadyExists, DirectoryNotEmpty, NotADirectory].contains(&e.kind())
}

/// What a copy left that was cut short: finished where the store has all of it, removed where it has
/// nothing. Answers the seat that was finished.
fn finish_or_clear(root: &Path, to: &PostgresStore) -> Result<Option<PathBuf>, CopyError> {
    let listing = fs::read_dir(root).map_err(io_error("read", root))?;
    let mut found: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
    found.sort();
    for path in found {
        let is_part = path.extension().is_some_and(|end| end == "part") && path.is_dir();
        let Some(copying) = read_marker(&path)? else {
            // Killed before it could say what it is: it holds nothing but its lock.
            if is_part && fs::read_dir(&path).is_ok_and(|mut all| all.all(is_lock)) {
                remove(&path)?;
            }
            continue;
        };
        let _lock = free_lock(&path)?;
        if copying.server != to.name() {
            return Err(CopyError::OtherCopy { path, server: copying.server });
        }
        if to.agreed("copied")? == Some(copying.id) {
            let place = if is_part { path.with_extension("") } else { path.clone() };
            return name_it(&path, &place).map(Some);
        }
        if is_part {
            remove(&path)?;
        }
    }
    Ok(None)
}

fn is_lock(entry: io::Result<fs::DirEntry>) -> bool {
    let names = ["lock", "copying.json.part"];
    entry.is_ok_and(|entry| names.iter().any(|name| entry.file_name() == *name))
}

fn read_marker(dir: &Path) -> Result<Option<Copying>, CopyError> {
    let path = dir.join(COPYING);
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
    let damaged = |e: serde_json::Error| DataDirError::Damaged { path, why: e.to_string() };
    Ok(Some(serde_json::from_str(&text).map_err(damaged)?))
}

fn remove(path: &Path) -> Result<(), CopyError> {
    fs::remove_dir_all(path).map_err(io_error("remove", path))
}

/// The lock of what a copy left; whoever makes one holds it.
fn free_lock(dir: &Path) -> Result<Option<File>, CopyError> {
    match data_dir::lock(dir, Access::Own) {
        Ok(lock) => Ok(Some(lock)),
        Err(DataDirError::Owned { path, .. }) => Err(CopyError::UnderWay(path)),
        Err(e) => Err(e.into()),
    }
}

/// Names that may lie in a directory before a copy is made into it.
const HARMLESS: [&str; 4] = ["lock", "argiope.toml", "lost+found", "copying.json.part"];
/// What a copy puts into a directory.
const OURS: [&str; 7] = [
    "store",
    "warc",
    "text",
    "receipts",
    "suffixes.dat",
    "suffixes.dat.part",
    "manifest.json.part",
];

/// Makes sure that nothing is where the copy is to be, but what an earlier one has left.
fn is_free(to: &Path) -> Result<(), CopyError> {
    if to.is_file() {
        return Err(DataDirError::NotADirectory(to.to_owned()).into());
    }
    if !to.exists() || to.join(COPYING).exists() {
        return Ok(());
    }
    if to.join("manifest.json").exists() {
        return Err(CopyError::Taken(to.to_owned()));
    }
    let listing = fs::read_dir(to).map_err(io_error("read", to))?;
    let foreign = |entry: &fs::DirEntry| !HARMLESS.iter().any(|name| entry.file_name() == *name);
    match listing.flatten().any(|entry| foreign(&entry)) {
        true => Err(CopyError::Foreign(to.to_owned())),
        false => Ok(()),
    }
}

/// Removes what an earlier copy has left.
fn clear(to: &Path) -> Result<(), CopyError> {
    for name in OURS.into_iter().chain(["manifest.json"]) {
        let path = to.join(name);
        if path.is_dir() {
            remove(&path)?;
        } else if path.exists() {
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
        }
    }
    Ok(())
}

/// The manifest comes last, and with the list that the fleet's keys are made with.
fn write_manifest(
    from: &PostgresStore,
    found: &[SeatAt],
    to: &Path,
    now: Time,
) -> Result<(), CopyError> {
    match found.first() {
        Some(seat) => {
            for name in ["suffixes.dat", "manifest.json"] {
                put_file(&seat.path.join(name), &to.join(name))?;
            }
        }
        // Nobody has begun: nothing is known that depends on it.
        None => drop(data_dir::write_new(to, now)?),
    }
    let number = suffix_number(to)?;
    match from.agreed("suffixes")? {
        Some(agreed) if agreed != number => Err(CopyError::OtherSuffixes(from.name().to_owned())),
        _ => Ok(()),
    }
}
