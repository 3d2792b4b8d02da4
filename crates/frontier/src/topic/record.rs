//! How good something was so far: a site, a folder, the links of a page, a word.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Things that are remembered.
const MOST: usize = 200_000;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Seen {
    good: f32,
    count: f32,
}

/// Records by what they are of.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    seen: HashMap<u64, Seen>,
}

impl Record {
    /// Something turned out this good, 0 to 1.
    pub fn add(&mut self, id: u64, worth: f32) {
        if self.seen.len() >= MOST && !self.seen.contains_key(&id) {
            self.seen.retain(|_, seen| seen.count > 1.0);
            if self.seen.len() >= MOST {
                self.seen.clear();
            }
        }
        let seen = self.seen.entry(id).or_default();
        seen.good += worth;
        seen.count += 1.0;
    }

    /// Something that was told is judged otherwise now: by how much.
    pub fn revise(&mut self, id: u64, by: f32) {
        if let Some(seen) = self.seen.get_mut(&id) {
            seen.good = (seen.good + by).clamp(0.0, seen.count);
        }
    }

    /// Whether it was better (above 0) or worse than is usual; `doubt`: how many one must have seen
    /// before it counts for half.
    pub fn lean(&self, id: u64, usual: f32, doubt: f32) -> f32 {
        let Some(seen) = self.seen.get(&id) else { return 0.0 };
        let usual = usual.clamp(0.02, 0.98);
        let mean = ((seen.good + doubt * usual) / (seen.count + doubt)).clamp(0.005, 0.995);
        ((mean / (1.0 - mean)) / (usual / (1.0 - usual))).ln().clamp(-3.0, 3.0)
    }
}
