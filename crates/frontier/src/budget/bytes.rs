//! The byte form of the tree, kept beside the store: a cache of what was read, never the truth.
//!
//! `ARGB`, version, then for each site its key, parent, requests, when it went over its budget, flags,
//! links; then a checksum. Whoever cannot read it begins anew.

use super::{Budgets, ROOT, STRAYS, Site, Standing};
use argiope_model::{SiteKey, Time};

const MAGIC: &[u8; 4] = b"ARGB";
const VERSION: u8 = 1;
const ROWS: u8 = 1;
const HELD: u8 = 2;

/// Bytes that are not a tree of sites.
#[derive(Debug, thiserror::Error)]
pub enum BadBudgets {
    /// Written by a newer program.
    #[error("it was written by a newer Argiope (version {0})")]
    Newer(u8),
    /// Cut off, or changed.
    #[error("it is damaged")]
    Damaged,
}

impl Budgets {
    /// Everything that is known, without the jobs.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 * self.sites.len());
        out.extend(MAGIC);
        out.push(VERSION);
        let sites = self.sites.get(2..).unwrap_or_default();
        out.extend((sites.len() as u32).to_le_bytes());
        for site in sites {
            let key = site.key.unwrap_or(SiteKey { part: 0, site: [0; 6] });
            out.extend(key.part.to_le_bytes());
            out.extend(key.site);
            out.extend(site.parent.to_le_bytes());
            out.extend(site.requests.to_le_bytes());
            let Standing { level, held, since, .. } = site.standing;
            out.extend(since.map_or(i64::MIN, |since| since.0).to_le_bytes());
            out.push(if site.rows { ROWS } else { 0 } | if held > 0 { HELD } else { 0 });
            out.push(level);
            out.extend((site.out.len() as u16).to_le_bytes());
            site.out.iter().for_each(|to| out.extend(to.to_le_bytes()));
        }
        let sum = checksum(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// Reads the byte form back, with memory for so many bytes.
    pub fn from_bytes(bytes: &[u8], memory: usize) -> Result<Self, BadBudgets> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(BadBudgets::Damaged)?;
        let mut read = Reader(body);
        if &read.take::<4>()? != MAGIC {
            return Err(BadBudgets::Damaged);
        }
        let [version] = read.take()?;
        if version != VERSION {
            return Err(BadBudgets::Newer(version));
        }
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(BadBudgets::Damaged);
        }
        let mut all = Budgets::with_bytes(memory);
        let count = u32::from_le_bytes(read.take()?);
        for number in 2..count.saturating_add(2) {
            let key = SiteKey { part: u16::from_le_bytes(read.take()?), site: read.take()? };
            let parent = u32::from_le_bytes(read.take()?);
            let requests = u64::from_le_bytes(read.take()?);
            let since = i64::from_le_bytes(read.take()?);
            let [flags, level] = read.take()?;
            let links = u16::from_le_bytes(read.take()?);
            let out: Result<Vec<u32>, _> =
                (0..links).map(|_| read.take().map(u32::from_le_bytes)).collect();
            let since = (since != i64::MIN).then_some(Time(since));
            let held = u8::from(flags & HELD != 0);
            let standing = Standing { level: level.min(60), held, since, ..Standing::default() };
            let rows = flags & ROWS != 0;
            all.requests = all.requests.saturating_add(requests);
            let out = out?;
            all.edges += out.len();
            all.known.insert(key, number);
            let site =
                Site { key: Some(key), parent, requests, out, rows, standing, ..Site::default() };
            all.sites.push(site);
        }
        all.mend()?;
        Ok(all)
    }

    /// Counts what is not written down, and refuses a tree that is none.
    fn mend(&mut self) -> Result<(), BadBudgets> {
        let count = self.sites.len();
        for at in 2..count {
            let Site { parent, out, .. } = &self.sites[at];
            let there = |site: &u32| (*site as usize) < count && *site > STRAYS;
            if *parent as usize >= count || !out.iter().all(there) {
                return Err(BadBudgets::Damaged);
            }
            for to in out.clone() {
                self.sites[to as usize].linking += 1;
            }
        }
        // What does not hang below the root hangs in a circle.
        let (order, _) = self.parents_first();
        let whole = order.len() == count && self.sites[STRAYS as usize].parent == ROOT;
        whole.then_some(()).ok_or(BadBudgets::Damaged)
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], BadBudgets> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(BadBudgets::Damaged)?;
        self.0 = rest;
        Ok(*first)
    }
}

/// FNV-1a, eight bytes at a time: enough to notice a file that was cut or overwritten.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325, |sum, piece| {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
    })
}
