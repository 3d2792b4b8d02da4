//! The manifest: which runs there are, and how far each partition's change log is in them.
//!
//! It is written beside and takes its name when it is whole, after the runs it names are on the
//! disk: whenever the power goes, what it says is true.

use crate::error::{GraphError, io_error};
use crate::run::VERSION;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

const NAME: &str = "manifest.json";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub format: u32,
    /// The number of the next run.
    pub next: u64,
    /// Oldest first.
    pub runs: Vec<u64>,
    /// The last row of the change log that was read, by partition.
    pub read: BTreeMap<u16, u64>,
}

impl Default for Manifest {
    fn default() -> Self {
        Manifest { format: VERSION, next: 1, runs: Vec::new(), read: BTreeMap::new() }
    }
}

/// Where a run lies.
pub(crate) fn run_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:08}.run"))
}

impl Manifest {
    /// Reads it; an empty one where there is none.
    pub fn read(dir: &Path) -> Result<Self, GraphError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let path = dir.join(NAME);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(io_error("read", &path)(e)),
        };
        let damaged = |why| GraphError::Damaged { path: path.clone(), why };
        let Format { format } =
            serde_json::from_slice(&text).map_err(|_| damaged("it is not a manifest"))?;
        if format > VERSION {
            return Err(GraphError::Newer { found: format, known: VERSION });
        }
        serde_json::from_slice(&text).map_err(|_| damaged("it is not a manifest"))
    }

    /// Writes it; the runs it names are on the disk.
    pub fn write(&self, dir: &Path) -> Result<(), GraphError> {
        let (path, part) = (dir.join(NAME), dir.join("manifest.part"));
        let text = serde_json::to_vec(self).map_err(std::io::Error::other);
        let write = || {
            let mut file = File::create(&part)?;
            file.write_all(&text?)?;
            file.sync_all()?;
            fs::rename(&part, &path)?;
            File::open(dir)?.sync_all()
        };
        write().map_err(io_error("write", &path))
    }

    /// Deletes what a crash left of runs that were being written or merged away, and ranks of a graph that
    /// is made again.
    pub fn tidy(&self, dir: &Path) -> Result<(), GraphError> {
        let failed = |e| io_error("tidy", dir)(e);
        for entry in fs::read_dir(dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let number = path.file_stem().and_then(|s| s.to_str()).and_then(|s| s.parse().ok());
            let stale = match path.extension().and_then(|e| e.to_str()) {
                Some("part") => true,
                Some("run") => number.is_none_or(|n: u64| !self.runs.contains(&n)),
                // Who has read nothing has nothing to rank: it is of a graph that was thrown away.
                Some("rank") => self.read.is_empty(),
                _ => false,
            };
            if stale {
                fs::remove_file(&path).map_err(io_error("delete", &path))?;
            }
        }
        Ok(())
    }
}
