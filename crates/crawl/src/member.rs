//! Directories that belong to a fleet: the seats of its workers, and those of its readers.
//!
//! ```text
//!  ROOT/worker-1/   fleet.json   the fleet, and the name by which the store knows its pages
//!                   warc/ text/ spool/ log/, as in any data directory
//!  ROOT/worker-2/   the seat of the next
//!
//!  DIR/             follows.json   the fleet, its store, the roots where its pages are
//!                   index/ graph/   kept here      warc/ text/   links to segments in the seats
//! ```
//!
//! * What is known of a fleet's pages is in its store, so neither kind has a `store/`.
//! * A root may be shared by any number of workers, also over a network: each takes the first seat that
//!   nobody has, so that one that was killed finds its own again. Seats are alike; which of
//!   them a worker has does not matter.
//! * Invariants: a seat has one writer (the lock) and one fleet for ever. Numbers of segments are given
//!   by the fleet, so no two seats hold files of the same name.

use crate::control::write_private;
use crate::data_dir::{Access, COPYING, DataDir, DataDirError, holds_bytes, warc_dir, write_whole};
use argiope_archive::look_elsewhere;
use argiope_model::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The version of both files.
const FORMAT: u32 = 1;
/// Says of a directory that it is a seat.
pub(crate) const SEAT: &str = "fleet.json";
/// Says of a directory that it reads a fleet.
const FOLLOWS: &str = "follows.json";
/// Seats in one root.
const SEATS: u32 = 10_000;

/// Which fleet's a seat is, and by which name the store knows what is kept there.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Seat {
    format: u32,
    fleet: u64,
    pub archive: String,
}

/// What a reader follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follows {
    format: u32,
    fleet: u64,
    /// The address of the store.
    pub store: String,
    /// Where the seats of the workers are.
    pub archives: Vec<PathBuf>,
}

/// What a directory follows, if it is that of a reader.
pub fn follows(dir: &Path) -> Result<Option<Follows>, DataDirError> {
    let file = dir.join(FOLLOWS);
    file.exists().then(|| read(&file)).transpose()
}

/// Whether a directory is a seat, a reader's, or a root of seats.
pub(crate) fn is_of_fleet(path: &Path) -> bool {
    let entries = || fs::read_dir(path).into_iter().flatten().flatten();
    let own = path.join("store").exists();
    !own && (path.join(SEAT).exists()
        || path.join(FOLLOWS).exists()
        || entries().any(|entry| entry.path().join(SEAT).exists()))
}

/// A seat that was found.
#[derive(Clone, Debug)]
pub struct SeatAt {
    /// Where.
    pub path: PathBuf,
    /// By which name the store knows what is kept there.
    pub archive: String,
}

/// The seats of a fleet in these roots: they themselves, or what lies directly in them.
pub fn seats_in(roots: &[PathBuf], fleet: u64) -> Result<Vec<SeatAt>, DataDirError> {
    let mut out: Vec<SeatAt> = Vec::new();
    for root in roots {
        let listing = fs::read_dir(root).map_err(|source| DataDirError::Io {
            action: "read",
            path: root.clone(),
            source,
        })?;
        let below = listing.flatten().map(|entry| entry.path());
        let mut all: Vec<PathBuf> = std::iter::once(root.clone()).chain(below).collect();
        all.sort();
        // What a copy has not finished is nobody's.
        let whole = |path: &PathBuf| path.join(SEAT).is_file() && !path.join(COPYING).exists();
        for path in all.into_iter().filter(whole) {
            let seat: Seat = read(&path.join(SEAT))?;
            let known = out.iter().any(|known| known.archive == seat.archive);
            if seat.fleet == fleet && !known {
                out.push(SeatAt { path, archive: seat.archive });
            }
        }
    }
    Ok(out)
}

impl Follows {
    /// The names of the archives whose pages lie in its roots.
    pub fn archives_here(&self) -> Result<BTreeSet<String>, DataDirError> {
        let seats = seats_in(&self.archives, self.fleet)?;
        Ok(seats.into_iter().map(|seat| seat.archive).collect())
    }
}

impl Seat {
    /// That of a fleet which is to lie in a directory: it gets a name that no other has.
    pub(crate) fn new(path: &Path, fleet: u64, now: Time) -> Self {
        Seat { format: FORMAT, fleet, archive: new_name(path, now) }
    }

    /// Writes it down in a directory.
    pub(crate) fn write(&self, path: &Path) -> Result<(), DataDirError> {
        write_whole(path, SEAT, &json(self))
    }
}

impl DataDir {
    /// Takes a seat in a root: that of the given name, else the first that nobody has. Says by which
    /// name the store knows what is kept there; a new one is given one here.
    pub fn take_seat(
        root: &Path,
        name: Option<&str>,
        fleet: u64,
        now: Time,
    ) -> Result<(Self, String), DataDirError> {
        if root.join("store").exists() || holds_bytes(&warc_dir(root)) && !is_of_fleet(root) {
            return Err(DataDirError::OwnCrawl(root.to_owned()));
        }
        if root.join(SEAT).exists() {
            return Self::sit_down(root, fleet, now);
        }
        if let Some(name) = name {
            return Self::sit_down(&root.join(name), fleet, now);
        }
        for number in 1..=SEATS {
            match Self::sit_down(&root.join(format!("worker-{number}")), fleet, now) {
                Err(DataDirError::Owned { .. }) => {}
                taken => return taken,
            }
        }
        Err(DataDirError::NoSeat(root.to_owned()))
    }

    fn sit_down(path: &Path, fleet: u64, now: Time) -> Result<(Self, String), DataDirError> {
        let dir = Self::open_any(path, Access::Seat, now)?;
        let file = path.join(SEAT);
        if file.exists() {
            let seat: Seat = read(&file)?;
            // What its store does not know would be cut off as a torn tail.
            if seat.fleet != fleet {
                return Err(DataDirError::OtherFleet(path.to_owned()));
            }
            return Ok((dir, seat.archive));
        }
        if path.join("store").exists() || holds_bytes(&warc_dir(path)) {
            return Err(DataDirError::OwnCrawl(path.to_owned()));
        }
        let seat = Seat::new(path, fleet, now);
        seat.write(path)?;
        Ok((dir, seat.archive))
    }

    /// Opens the directory of a reader; it is made if there is none. Roots that are given replace those
    /// that were given before.
    pub fn open_reader(
        path: &Path,
        access: Access,
        fleet: u64,
        store: &str,
        archives: &[PathBuf],
        now: Time,
    ) -> Result<(Self, Follows), DataDirError> {
        if path.join("store").exists() {
            return Err(DataDirError::OwnCrawl(path.to_owned()));
        }
        let before = follows(path)?;
        if path.join(SEAT).exists() || before.as_ref().is_some_and(|f| f.fleet != fleet) {
            return Err(DataDirError::OtherFleet(path.to_owned()));
        }
        let made = path.join("manifest.json").exists();
        let dir = Self::open_any(path, if made { access } else { Access::Own }, now)?;
        let given = |roots: &[PathBuf]| -> Result<Vec<PathBuf>, DataDirError> {
            let whole = |root: &PathBuf| {
                fs::canonicalize(root).map_err(|source| DataDirError::Io {
                    action: "find",
                    path: root.clone(),
                    source,
                })
            };
            roots.iter().map(whole).collect()
        };
        let archives = match (archives, before.as_ref()) {
            ([], Some(before)) => before.archives.clone(),
            ([], None) => given(&[path.to_owned()])?,
            (roots, _) => given(roots)?,
        };
        let store = store.to_owned();
        let follows = Follows { format: FORMAT, fleet, store, archives };
        if before.as_ref() != Some(&follows) {
            // An address may hold a password.
            let (part, whole) = (path.join(format!("{FOLLOWS}.part")), path.join(FOLLOWS));
            let written = write_private(&part, json(&follows).as_bytes())
                .and_then(|()| fs::rename(&part, &whole));
            written.map_err(|source| DataDirError::Io { action: "write", path: whole, source })?;
        }
        for folder in [dir.warc(), dir.text()] {
            look_elsewhere(&folder, &follows.archives).map_err(|e| DataDirError::Io {
                action: "write into",
                path: folder.clone(),
                source: std::io::Error::other(e),
            })?;
        }
        Ok((dir, follows))
    }

    /// Says whether keys made here are those of a fleet, by the number that the fleet goes by.
    pub fn agrees(&self, number: u64) -> Result<(), DataDirError> {
        match self.suffix_number()? == number {
            true => Ok(()),
            false => Err(DataDirError::OtherSuffixes(self.path().to_owned())),
        }
    }

    /// A number that stands for the list its keys are made with.
    pub fn suffix_number(&self) -> Result<u64, DataDirError> {
        suffix_number(self.path())
    }
}

/// A number that stands for the list of public suffixes in a directory.
pub(crate) fn suffix_number(dir: &Path) -> Result<u64, DataDirError> {
    let path = dir.join("suffixes.dat");
    let list =
        fs::read(&path).map_err(|source| DataDirError::Io { action: "read", path, source })?;
    Ok(fingerprint(&list))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("strings and numbers are JSON")
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<T, DataDirError> {
    let text = fs::read_to_string(file).map_err(|source| DataDirError::Io {
        action: "read",
        path: file.to_owned(),
        source,
    })?;
    let damaged =
        |e: serde_json::Error| DataDirError::Damaged { path: file.to_owned(), why: e.to_string() };
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let Version { format: found } = serde_json::from_str(&text).map_err(damaged)?;
    if found > FORMAT {
        return Err(DataDirError::Newer { path: file.to_owned(), found });
    }
    serde_json::from_str(&text).map_err(damaged)
}

/// A name that no other directory has: the machine's, and a number made of where, when and who.
fn new_name(path: &Path, now: Time) -> String {
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = machine.trim();
    let machine = if machine.is_empty() { "worker" } else { machine };
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let made_of = format!("{machine} {} {} {}", path.display(), now.0, std::process::id());
    format!("{machine}-{:08x}", fingerprint(made_of.as_bytes()) as u32)
}

/// 63 bits of some bytes, the same in every version.
fn fingerprint(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 32)) >> 1
}
