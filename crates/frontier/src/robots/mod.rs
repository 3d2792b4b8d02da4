//! What a site's robots.txt asks of us (RFC 9309).
//!
//! The bytes of the file and our name go in; out come the rules of our group, a delay and the
//! sitemaps. The engine keeps one [`Robots`] per host and asks it before every request; the
//! line that decided is there to be told. Which meanings were chosen where authorities differ
//! is told in `docs/robots.md`.
//!
//! Invariants:
//! - Any bytes are a robots.txt: reading never fails and costs time linear in the file.
//! - Only the groups for us are kept; without one, those for everyone; never both.
//! - In doubt a path is not allowed.
//!
//! Not here: fetching the file, what its HTTP status means, how long it is believed, and
//! robots rules inside of pages.

mod agent;
mod lines;
mod rules;
mod spelling;

pub use agent::is_product_token;

use agent::{Addressed, Agent};
use lines::{Field, lines};
use rules::{Decision, Draft, RuleSet};
use std::time::Duration;

/// What is read of a robots.txt (RFC 9309, 2.5 asks for at least this much).
pub const MAX_ROBOTS_BYTES: usize = 500 << 10;

/// Sitemaps kept of one file.
const MAX_SITEMAPS: usize = 1_000;

/// The rules of one robots.txt for one crawler.
///
/// ```
/// use argiope_frontier::Robots;
///
/// let file = b"User-agent: *\nDisallow: /private/\nAllow: /private/door$";
/// let robots = Robots::parse(file, "argiope/1.0 (+https://example.org/bot)");
/// assert!(robots.verdict("/private/door").allowed);
/// let verdict = robots.verdict("/private/room?x=1");
/// assert!(!verdict.allowed);
/// assert_eq!(verdict.rule.map(|rule| rule.line), Some(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Robots {
    rules: RuleSet,
    crawl_delay: Option<Duration>,
    sitemaps: Box<[Box<str>]>,
}

/// Whether a path may be requested, and what said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// Whether the path may be requested.
    pub allowed: bool,
    /// The rule that decided. `None` and allowed: no rule spoke. `None` and not allowed: the
    /// rules are so many and intricate that it would cost too much to tell.
    pub rule: Option<Rule<'a>>,
}

/// A line of a robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'a> {
    /// Where it stands, from 1.
    pub line: u32,
    /// Whether it says Allow.
    pub allow: bool,
    /// The pattern as written there.
    pub pattern: &'a str,
}

impl Robots {
    /// Reads at most [`MAX_ROBOTS_BYTES`] of a file for a crawler, whose name is a product token
    /// or a whole user agent that begins with one. Hand over at least a byte more than that of
    /// a longer file: a last line that the limit cuts is then known to be cut, and left out.
    pub fn parse(bytes: &[u8], agent: &str) -> Robots {
        let agent = Agent::new(agent);
        let (mut ours, mut everyones) = (Group::default(), Group::default());
        let mut met = false;
        let mut sitemaps = Vec::new();
        // Whom the group being read is for, and whether its user-agent lines are over.
        let (mut to_us, mut to_everyone, mut ruled) = (false, false, false);
        for line in lines(bytes) {
            let group = match (to_us, to_everyone) {
                (true, _) => Some(&mut ours),
                (false, true) => Some(&mut everyones),
                (false, false) => None,
            };
            match line.field {
                Field::UserAgent => {
                    if ruled {
                        (to_us, to_everyone, ruled) = (false, false, false);
                    }
                    match agent.addressed(line.value) {
                        Addressed::Us => (to_us, met) = (true, true),
                        Addressed::Everyone => to_everyone = true,
                        Addressed::Others => {}
                    }
                }
                Field::Allow | Field::Disallow => {
                    ruled = true;
                    if let Some(group) = group
                        && !line.value.is_empty()
                    {
                        let allow = line.field == Field::Allow;
                        group.rules.push(Draft { line: line.number, allow, pattern: line.value });
                    }
                }
                Field::CrawlDelay => {
                    if let Some(group) = group {
                        group.delay = group.delay.max(seconds(line.value));
                    }
                }
                Field::Sitemap => {
                    if sitemaps.len() < MAX_SITEMAPS && !line.value.is_empty() {
                        sitemaps.push(String::from_utf8_lossy(line.value).into());
                    }
                }
            }
        }
        let group = if met { ours } else { everyones };
        Robots {
            rules: RuleSet::new(&group.rules),
            crawl_delay: group.delay,
            sitemaps: sitemaps.into(),
        }
    }

    /// No rules: everything is allowed.
    pub fn allow_all() -> Robots {
        Robots { rules: RuleSet::default(), crawl_delay: None, sitemaps: Box::default() }
    }

    /// Whether a path with its query may be requested. The file `/robots.txt` always may.
    pub fn verdict(&self, path_and_query: &str) -> Verdict<'_> {
        let path = path_and_query.split('#').next().unwrap_or_default();
        if path == "/robots.txt" {
            return Verdict { allowed: true, rule: None };
        }
        let mut steps = 0;
        let decision = if path.starts_with('/') {
            self.rules.decide(path.as_bytes(), &mut steps)
        } else {
            self.rules.decide(format!("/{path}").as_bytes(), &mut steps)
        };
        match decision {
            Decision::Silent => Verdict { allowed: true, rule: None },
            Decision::TooCostly => Verdict { allowed: false, rule: None },
            Decision::By(row) => {
                let pattern = self.rules.shown(row);
                let rule = Rule { line: row.line(), allow: row.allow(), pattern };
                Verdict { allowed: rule.allow, rule: Some(rule) }
            }
        }
    }

    /// The delay our group asks for; the longest, if it asks more than once.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps as written, whatever group they stand in; the first thousand.
    pub fn sitemaps(&self) -> &[Box<str>] {
        &self.sitemaps
    }

    /// The memory held beyond the value itself, about.
    pub fn heap_bytes(&self) -> usize {
        let sitemaps: usize = self.sitemaps.iter().map(|url| url.len()).sum();
        self.rules.heap_bytes() + sitemaps + size_of_val(&*self.sitemaps)
    }
}

/// What groups for the same crawler say together.
#[derive(Default)]
struct Group<'a> {
    rules: Vec<Draft<'a>>,
    delay: Option<Duration>,
}

/// A number of seconds, perhaps with a fraction; nothing else.
fn seconds(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests;
