//! Joining: a farm may be entered at several places, and each entry would grow a branch of its own.
//!
//! A site that links to several others of one branch that it does not belong to is hung below that branch,
//! with everything that came with it. Never upwards: a link to a good site costs nothing and must bring
//! nothing. Among honest sites this only moves branches about; a single link joins nobody.

use super::{Budgets, ROOT};

/// A branch to which it links less often does not draw a site.
const LINKS: usize = 8;
/// Nor does one to which less than this part of its links go.
const PART: usize = 16;
/// A site this many steps from the root hangs nothing below itself.
const DEEPEST: usize = 64;

impl Budgets {
    /// Looks at the sites whose links have changed.
    pub(super) fn join(&mut self) {
        for site in std::mem::take(&mut self.linked) {
            if let Some(branch) = self.where_links_go(site) {
                self.sites[site as usize].parent = branch;
            }
        }
    }

    /// The innermost branch into which many of a site's links go, where that is not its own.
    fn where_links_go(&self, site: u32) -> Option<u32> {
        let out = &self.sites[site as usize].out;
        if out.len() < LINKS {
            return None;
        }
        // From the root down to each target.
        let mut paths: Vec<Vec<u32>> = Vec::with_capacity(out.len());
        for to in out {
            let mut path: Vec<u32> = self.chain(*to).collect();
            path.reverse();
            if !path.contains(&site) {
                paths.push(path);
            }
        }
        let enough = LINKS.max(paths.len() / PART);
        let (mut branch, mut depth) = (ROOT, 0);
        while depth < DEEPEST {
            let mut heads: Vec<u32> = paths.iter().filter_map(|p| p.get(depth).copied()).collect();
            heads.sort_unstable();
            let largest = heads.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
            let Some(next) = largest.filter(|same| same.len() >= enough).map(|same| same[0]) else {
                break;
            };
            paths.retain(|path| path.get(depth) == Some(&next));
            (branch, depth) = (next, depth + 1);
        }
        (branch != ROOT && !self.chain(site).any(|above| above == branch)).then_some(branch)
    }
}
