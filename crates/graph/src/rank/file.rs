//! The file of a measure: a number for each page or site, found by its own number.
//!
//! Form: `magic · version · blocks of rows, each with its checksum · footer · its length and
//! checksum · magic`. A row is the number of a page or site and its value, sixteen bytes; rows rise
//! by number. The footer holds the first number of every block, and what the measure is of. It is
//! what stays in memory: about four bytes for a hundred rows.
//!
//! Invariants: it takes its name when it is whole, so there is one or the one before; nothing in it
//! is text.

use super::{Measure, Of, file_name, site_id};
use crate::error::{GraphError, io_error};
use crate::source::{doc_at, order_of};
use argiope_model::{DocId, HostKey, Suffixes};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"ArgioRnk";
const VERSION: u32 = 1;
const HEADER: u64 = 12;
const ROW: usize = 16;
/// Rows of a block.
const ROWS: usize = 256;
const SUM: usize = 8;
const TRAILER: u64 = 24;

/// What the values of a file are of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RanksAbout {
    /// What is measured.
    pub measure: Measure,
    /// Of what.
    pub of: Of,
    /// How many pages or sites there are.
    pub nodes: u64,
    /// How many links between them.
    pub edges: u64,
    /// Rounds that were needed.
    pub rounds: u32,
    /// The standard error of one value; nothing where it is exact.
    pub error: f64,
    /// When it was made, milliseconds since 1970.
    pub made_ms: i64,
    /// How long that took.
    pub took_ms: u64,
    /// How far the change log was read by then, by partition.
    pub read: BTreeMap<u16, u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Footer {
    about: RanksAbout,
    firsts: Vec<u64>,
}

/// A measure, open.
#[derive(Debug)]
pub struct Ranks {
    path: PathBuf,
    file: File,
    footer: Footer,
}

impl Ranks {
    /// Opens that of a graph's directory; nothing where there is none.
    pub fn open(dir: &Path, measure: Measure, of: Of) -> Result<Option<Self>, GraphError> {
        let path = dir.join(file_name(measure, of));
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(io_error("open", &path)(e)),
        };
        let damaged = |why| GraphError::Damaged { path: path.clone(), why };
        let length = file.metadata().map_err(io_error("open", &path))?.len();
        let Some(trailer) = length.checked_sub(TRAILER).filter(|at| *at >= HEADER) else {
            return Err(damaged("it is too short"));
        };
        let mut head = [0; HEADER as usize];
        file.read_exact_at(&mut head, 0).map_err(io_error("read", &path))?;
        let version = u32::from_le_bytes(head[8..].try_into().unwrap_or_default());
        if head[..8] != MAGIC {
            return Err(damaged("it is no rank"));
        }
        if version > VERSION {
            return Err(GraphError::Newer { found: version, known: VERSION });
        }
        let mut tail = [0; TRAILER as usize];
        file.read_exact_at(&mut tail, trailer).map_err(io_error("read", &path))?;
        let size = u64::from_le_bytes(tail[..8].try_into().unwrap_or_default());
        let start = trailer.checked_sub(size).filter(|at| *at >= HEADER && tail[16..] == MAGIC);
        let start = start.ok_or_else(|| damaged("its end is missing"))?;
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, start).map_err(io_error("read", &path))?;
        if xxh3_64(&bytes).to_le_bytes() != tail[8..16] {
            return Err(damaged("the checksum of its footer is wrong"));
        }
        let footer: Footer =
            postcard::from_bytes(&bytes).map_err(|_| damaged("its footer is unreadable"))?;
        if (footer.about.measure, footer.about.of) != (measure, of) {
            return Err(damaged("it is of something else"));
        }
        Ok(Some(Ranks { path, file, footer }))
    }

    /// Writes one and opens it; the numbers rise.
    pub(crate) fn write(
        dir: &Path,
        about: RanksAbout,
        rows: impl Iterator<Item = (u64, f64)>,
    ) -> Result<Self, GraphError> {
        let (measure, of) = (about.measure, about.of);
        let path = dir.join(file_name(measure, of));
        let part = path.with_extension("rank-tmp");
        let written = write_to(&part, about, rows).and_then(|()| {
            fs::rename(&part, &path)?;
            File::open(dir)?.sync_all()
        });
        written.map_err(io_error("write", &path))?;
        let missing = || GraphError::Damaged { path, why: "it is missing" };
        Self::open(dir, measure, of)?.ok_or_else(missing)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the values are of.
    pub fn about(&self) -> &RanksAbout {
        &self.footer.about
    }

    /// The values of these documents; nothing for those that were not there.
    pub fn of_docs(&self, docs: &[DocId]) -> Result<Vec<Option<f64>>, GraphError> {
        self.values(&docs.iter().map(|doc| order_of(*doc)).collect::<Vec<_>>())
    }

    /// The documents with the largest values, the largest first.
    pub fn top_docs(&self, limit: usize) -> Result<Vec<(DocId, f64)>, GraphError> {
        let top = self.top(limit)?.into_iter();
        Ok(top.map(|(order, value)| (doc_at(order), value)).collect())
    }

    /// The value of the site that a host is of.
    pub fn of_site(
        &self,
        host: HostKey,
        origin: &str,
        pinned: &Suffixes,
    ) -> Result<Option<f64>, GraphError> {
        Ok(self.values(&[site_id(host, origin, pinned)])?.pop().flatten())
    }

    /// The values of these pages or sites; nothing for those that were not there.
    fn values(&self, ids: &[u64]) -> Result<Vec<Option<f64>>, GraphError> {
        let mut out = vec![None; ids.len()];
        let mut order: Vec<usize> = (0..ids.len()).collect();
        // Each block is read once.
        order.sort_unstable_by_key(|at| ids[*at]);
        let mut held: (Option<usize>, Vec<(u64, f64)>) = (None, Vec::new());
        for at in order {
            let block = self.footer.firsts.partition_point(|first| *first <= ids[at]);
            let Some(block) = block.checked_sub(1) else { continue };
            if held.0 != Some(block) {
                held = (Some(block), self.block(block)?);
            }
            let found = held.1.binary_search_by_key(&ids[at], |(row, _)| *row);
            out[at] = found.ok().map(|row| held.1[row].1);
        }
        Ok(out)
    }

    /// Those with the largest values, the largest first; of equal ones that with the smaller number.
    fn top(&self, limit: usize) -> Result<Vec<(u64, f64)>, GraphError> {
        // Values are not negative, so that their bits are in their order.
        let mut best: BinaryHeap<Reverse<(u64, Reverse<u64>)>> = BinaryHeap::new();
        for n in 0..self.footer.firsts.len() {
            for (id, value) in self.block(n)? {
                let row = Reverse((value.to_bits(), Reverse(id)));
                if best.len() < limit {
                    best.push(row);
                } else if best.peek().is_some_and(|least| row < *least) {
                    best.pop();
                    best.push(row);
                }
            }
        }
        let sorted = best.into_sorted_vec().into_iter();
        Ok(sorted.map(|Reverse((bits, Reverse(id)))| (id, f64::from_bits(bits))).collect())
    }

    fn block(&self, n: usize) -> Result<Vec<(u64, f64)>, GraphError> {
        let nodes = self.footer.about.nodes as usize;
        let rows = nodes.saturating_sub(n * ROWS).min(ROWS);
        let mut bytes = vec![0; rows * ROW + SUM];
        let offset = HEADER + (n * (ROWS * ROW + SUM)) as u64;
        self.file.read_exact_at(&mut bytes, offset).map_err(io_error("read", &self.path))?;
        let (rows, sum) = bytes.split_at(rows * ROW);
        if xxh3_64(rows).to_le_bytes() != sum {
            let why = "the checksum of a block is wrong";
            return Err(GraphError::Damaged { path: self.path.clone(), why });
        }
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let row = |row: &[u8]| (word(&row[..8]), f64::from_bits(word(&row[8..])));
        Ok(rows.chunks_exact(ROW).map(row).collect())
    }
}

fn write_to(
    path: &Path,
    about: RanksAbout,
    rows: impl Iterator<Item = (u64, f64)>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(256 << 10, File::create(path)?);
    out.write_all(&MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    let mut firsts = Vec::new();
    let mut block: Vec<u8> = Vec::with_capacity(ROWS * ROW);
    let mut close = |block: &mut Vec<u8>| {
        out.write_all(block)?;
        out.write_all(&xxh3_64(block).to_le_bytes())?;
        block.clear();
        io::Result::Ok(())
    };
    for (id, value) in rows {
        if block.is_empty() {
            firsts.push(id);
        }
        block.extend_from_slice(&id.to_le_bytes());
        block.extend_from_slice(&value.to_bits().to_le_bytes());
        if block.len() == ROWS * ROW {
            close(&mut block)?;
        }
    }
    if !block.is_empty() {
        close(&mut block)?;
    }
    let footer = postcard::to_stdvec(&Footer { about, firsts }).map_err(io::Error::other)?;
    out.write_all(&footer)?;
    out.write_all(&(footer.len() as u64).to_le_bytes())?;
    out.write_all(&xxh3_64(&footer).to_le_bytes())?;
    out.write_all(&MAGIC)?;
    out.flush()?;
    out.get_ref().sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(nodes: u64) -> RanksAbout {
        RanksAbout {
            measure: Measure::PageRank,
            of: Of::Pages,
            nodes,
            edges: 3,
            rounds: 9,
            error: 0.0,
            made_ms: 77,
            took_ms: 5,
            read: BTreeMap::from([(3, 4)]),
        }
    }

    fn write(dir: &Path, nodes: u64) -> Ranks {
        let rows = (0..nodes).map(|n| (n * 10, ((n * 7919) % nodes) as f64));
        Ranks::write(dir, about(nodes), rows).unwrap()
    }

    #[test]
    fn values_are_found_by_their_numbers_and_by_their_size() {
        let dir = tempfile::tempdir().unwrap();
        for nodes in [0, 1, 255, 256, 257, 1_000] {
            let ranks = write(dir.path(), nodes);
            assert_eq!(*ranks.about(), about(nodes));
            let ids: Vec<u64> = (0..nodes).map(|n| n * 10).collect();
            let wanted: Vec<Option<f64>> =
                (0..nodes).map(|n| Some(((n * 7919) % nodes) as f64)).collect();
            assert_eq!(ranks.values(&ids).unwrap(), wanted);
            assert_eq!(ranks.values(&[5, nodes * 10 + 1]).unwrap(), [None, None]);
            let top = ranks.top(3).unwrap();
            assert_eq!(top.len() as u64, nodes.min(3));
            assert!(top.windows(2).all(|pair| pair[0].1 >= pair[1].1));
            assert!(top.first().is_none_or(|best| best.1 == (nodes - 1) as f64));
        }
    }

    #[test]
    fn what_is_equal_stands_in_the_order_of_its_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let rows = (0..10).map(|n| (n, 0.1));
        let ranks = Ranks::write(dir.path(), about(10), rows).unwrap();
        let ids: Vec<u64> = ranks.top(4).unwrap().into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [0, 1, 2, 3]);
    }

    #[test]
    fn every_damaged_byte_is_told_and_a_newer_file_refused() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 300);
        let path = dir.path().join(file_name(Measure::PageRank, Of::Pages));
        let whole = fs::read(&path).unwrap();
        let open = || Ranks::open(dir.path(), Measure::PageRank, Of::Pages);
        for at in (0..whole.len()).step_by(7).chain([8]) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            fs::write(&path, &bytes).unwrap();
            let told = open().and_then(|ranks| ranks.map(|r| r.top(1)).transpose());
            assert!(told.is_err(), "byte {at}");
        }
        for length in [0, 11, 40, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(open(), Err(GraphError::Damaged { .. })), "length {length}");
        }
        let mut newer = whole.clone();
        newer[8] = 9;
        fs::write(&path, newer).unwrap();
        assert!(matches!(open(), Err(GraphError::Newer { found: 9, .. })));
    }

    #[test]
    fn where_there_is_none_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Ranks::open(dir.path(), Measure::Harmonic, Of::Sites).unwrap().is_none());
    }
}
