//! Judging: what each branch may take of its parent's requests, how far it is over that, and what is held.
//!
//! A branch is held for what it is, not for what it took at some moment: very many sites behind very few
//! links. The more sites there are for a link, the longer it waits. A branch within a branch that hangs
//! there by a few links only is judged by itself and does not count for the one around it, so honest sites
//! do not wait for the farm that one of them links to.

use super::{Budgets, ROOT, STRAYS, Site, Standing};
use argiope_model::Time;

/// So many times its part a branch may take before it is over its budget: who is ahead of the others for
/// a while is no farm.
const SLACK: f64 = 4.0;
/// Requests that every parent is taken to have made already: nobody is judged by the first few.
const HEAD_START: f64 = 64.0;
/// A site's own pages count as much as a branch of this many sites, at least.
const OWN: f64 = 64.0;
/// A branch of fewer sites is never held: it only sinks.
const HOLDABLE: f64 = 16.0;
/// A branch with a link from elsewhere for every so many of its sites is part of the web around it.
const OPEN: f64 = 16.0;
/// So many of its sites, and half of all, must have been read before a branch can show that it is no farm …
const SHOWN: f64 = 32.0;
/// … by linking within itself hardly more often than it takes to know all its sites.
const DENSE: f64 = 1.25;
/// More steps to the root are not counted.
const DEEPEST: usize = 64;
const MOST: f64 = 60.0;
/// Who is further over its budget vouches for nobody: the entrances of a farm would vouch for each other.
const VOUCHES: u8 = 4;
/// A branch into which fewer links lead from the branch around it is no part of that one …
const NEAR: f64 = 8.0;
/// … nor is one with fewer than a link for so many of its sites.
const NEAR_SITES: f64 = 64.0;
/// A site with fewer links to those below it stands for itself: what one of its links has grown into is
/// not its doing.
const LED: u32 = 8;

/// Sites that are judged together: one, or a branch.
#[derive(Clone, Copy, Default)]
struct Part {
    sites: f64,
    requests: f64,
    /// Sites elsewhere that link into it and vouch for it.
    links: f64,
    /// Its sites without those of branches that hang within it by few links.
    bound: f64,
    /// Links from one of its sites to another.
    inner: f64,
    /// Sites whose links are known.
    read: f64,
    rows: bool,
}

impl Part {
    /// What it counts among its siblings.
    fn weight(&self) -> f64 {
        if self.rows { self.links.max(1.0).sqrt() / self.sites.powi(3) } else { 0.0 }
    }

    /// Whether very much hangs behind very few links.
    fn is_closed(&self) -> bool {
        self.bound >= HOLDABLE && self.links * OPEN < self.bound
    }

    /// How much that is, for each link: how often it would have to be halved to be one site, and 1 more.
    fn behind(&self) -> u8 {
        1 + (self.bound / self.links.max(1.0)).log2() as u8
    }

    /// How it stands, given what there is for each weight; inside something that stands like that.
    fn stands(&self, room: f64, weights: f64, above: Standing, top: bool) -> Standing {
        if !self.rows {
            return Standing { share: 0.0, ..above };
        }
        let level = above.level.max(over(self.requests, room * self.weight()));
        // What hangs below a start URL has been vouched for.
        let closed = self.is_closed() && (level > 0 || !top);
        let loose = self.read >= SHOWN.max(self.sites / 2.0) && self.inner < DENSE * self.sites;
        Standing {
            level,
            held: if closed && !loose { above.held.max(self.behind()) } else { above.held },
            share: above.share * (self.weight() / weights) as f32,
            ..above
        }
    }
}

/// A site, and everything below it.
#[derive(Clone, Copy, Default)]
struct Branch {
    own: Part,
    brood: Part,
    /// Links from the site to those below it.
    led: u32,
    /// Links into it from the other sites of its parent's branch.
    near: f64,
    /// Whether the two are judged apart.
    apart: bool,
}

impl Branch {
    fn whole(&self) -> Part {
        let Branch { own, brood, .. } = self;
        Part {
            sites: own.sites + brood.sites,
            requests: own.requests + brood.requests,
            links: own.links + brood.links,
            bound: own.bound + brood.bound,
            inner: own.inner + brood.inner,
            read: own.read + brood.read,
            rows: own.rows || brood.rows,
        }
    }

    /// What competes with its siblings for their parent's requests.
    fn parts(&self) -> [Part; 2] {
        if self.apart { [self.own, self.brood] } else { [self.whole(), Part::default()] }
    }
}

impl Budgets {
    /// Judges every site anew.
    pub fn judge(&mut self, now: Time) {
        self.join();
        self.judged = (self.requests, self.sites.len());
        let (order, children) = self.parents_first();
        let branches = self.branches(&order, &children);
        let mut standings = vec![Standing::default(); self.sites.len()];
        // How what a site leads to stands, as a whole.
        let mut broods = standings.clone();
        broods[ROOT as usize].share = 1.0;
        for site in order {
            let at = site as usize;
            let (above, branch) = (broods[at], branches[at]);
            let parts = children[at].iter().flat_map(|child| branches[*child as usize].parts());
            let weigh = |(sum, largest): (f64, f64), part: Part| {
                (sum + part.weight(), largest.max(part.weight()))
            };
            let (mut weights, largest) = parts.fold((0.0, 0.0), weigh);
            let own = if branch.own.rows { largest.max(OWN.powi(-3)) } else { 0.0 };
            let shared = if branch.apart { branch.brood } else { branch.whole() };
            weights += if branch.apart { 0.0 } else { own };
            let room = SLACK * (shared.requests + HEAD_START) / weights;
            for child in &children[at] {
                let below = &branches[*child as usize];
                let [first, second] = below.parts();
                let brood = if below.apart { second } else { first };
                broods[*child as usize] = brood.stands(room, weights, above, site == ROOT);
                if below.apart {
                    standings[*child as usize] = first.stands(room, weights, above, site == ROOT);
                }
            }
            let mine = &mut standings[at];
            if !branch.apart {
                *mine = Standing { share: 0.0, ..above };
                if branch.own.rows {
                    mine.level = above.level.max(over(branch.own.requests, room * own));
                    mine.share = above.share * (own / weights) as f32;
                }
            }
            let since = self.sites[at].standing.since.or(Some(now));
            mine.since = since.filter(|_| mine.level > 0 || mine.held > 0);
            mine.branch = branch.whole().sites as u32;
        }
        for (site, standing) in self.sites.iter_mut().zip(standings) {
            site.standing = standing;
        }
    }

    /// All sites, parents first, and the children of each.
    pub(super) fn parents_first(&self) -> (Vec<u32>, Vec<Vec<u32>>) {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.sites.len()];
        for (number, Site { parent, .. }) in self.sites.iter().enumerate().skip(1) {
            children[*parent as usize].push(number as u32);
        }
        let mut order = Vec::with_capacity(self.sites.len());
        order.push(ROOT);
        let mut next = 0;
        while let Some(site) = order.get(next).copied() {
            order.extend(&children[site as usize]);
            next += 1;
        }
        (order, children)
    }

    fn branches(&self, order: &[u32], children: &[Vec<u32>]) -> Vec<Branch> {
        let mut out: Vec<Branch> = self.sites.iter().map(alone).collect();
        let mut marks: Vec<u32> = vec![u32::MAX; self.sites.len()];
        let mut linked = marks.clone();
        for (from, site) in self.sites.iter().enumerate() {
            let from = from as u32;
            self.chain(from).take(DEEPEST).for_each(|above| marks[above as usize] = from);
            // Each vouches once for a branch, however many links it has there.
            let vouch =
                if site.standing.held > 0 || site.standing.level > VOUCHES { 0.0 } else { 1.0 };
            for to in &site.out {
                for into in self.chain(*to).take(DEEPEST) {
                    let branch = &mut out[into as usize];
                    if marks[into as usize] == from {
                        branch.brood.inner += 1.0;
                        branch.led += u32::from(into == from);
                        break;
                    }
                    let above = self.sites[into as usize].parent;
                    let near = if marks[above as usize] == from { 1.0 } else { 0.0 };
                    branch.near += near;
                    if into == *to {
                        branch.own.links += vouch;
                    } else if std::mem::replace(&mut linked[into as usize], from) != from {
                        branch.brood.links += vouch;
                    }
                }
            }
        }
        for site in order.iter().rev().filter(|site| **site != ROOT) {
            let branch = &mut out[*site as usize];
            let leads = !children[*site as usize].is_empty();
            branch.apart = *site != STRAYS && leads && branch.led < LED;
            let part = if branch.apart { branch.brood } else { branch.whole() };
            let loosely = branch.near < NEAR.max(part.bound / NEAR_SITES);
            let apart = part.bound >= HOLDABLE && loosely;
            let Part { sites, requests, inner, read, rows, bound, .. } = branch.whole();
            let above = &mut out[self.sites[*site as usize].parent as usize].brood;
            above.sites += sites;
            above.bound += if apart { 1.0 } else { bound };
            above.requests += requests;
            above.inner += inner;
            above.read += read;
            above.rows |= rows;
        }
        out
    }
}

fn alone(site: &Site) -> Branch {
    // The two above all sites are none themselves.
    let sites = if site.key.is_some() { 1.0 } else { 0.0 };
    let read = if site.out.is_empty() { 0.0 } else { 1.0 };
    let (requests, rows) = (site.requests as f64, site.rows);
    Branch {
        own: Part { sites, bound: sites, requests, read, rows, ..Part::default() },
        ..Branch::default()
    }
}

/// How often `taken` would have to be halved to be within `budget`.
fn over(taken: f64, budget: f64) -> u8 {
    let halvings = ((taken + 1.0) / budget).log2().ceil();
    // Where there is no budget at all, nothing has rows and nobody asks.
    if halvings.is_nan() { 0 } else { halvings.clamp(0.0, MOST) as u8 }
}
