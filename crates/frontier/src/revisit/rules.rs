//! What is said by hand of some pages: how often, never, no more than so many a day, by which policy.
//!
//! ```text
//! example.org/news/* every 1h        pages whose address fits the pattern
//! example.org at most 500 a day      a name alone is the site with all its hosts
//! *.pdf never
//! docs.example.org by fr
//! ```
//!
//! Of several rules that fit and say something of the same kind, the last counts. A pattern is matched
//! against the address without its scheme; `*` stands for anything.

use argiope_model::CanonicalUrl;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The policies by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// Every page after the same interval.
    Fixed,
    /// Learned intervals in rounds.
    Fr,
    /// The same, and unchanged pages are judged by their children.
    Selective,
    /// Learned change rates, best visits for the budget.
    #[default]
    Fresh,
}

impl PolicyName {
    /// All of them.
    pub const ALL: [PolicyName; 4] = [Self::Fixed, Self::Fr, Self::Selective, Self::Fresh];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Fr => "fr",
            Self::Selective => "selective",
            Self::Fresh => "fresh",
        }
    }

    /// The policy of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

/// What a rule says of the pages that fit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Says {
    Every(Duration),
    Never,
    AtMost(f64),
    By(PolicyName),
}

/// Which pages are meant: a name alone is a site with all its hosts, anything else an address without
/// its scheme, in which `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Reads a pattern; a scheme in front does not matter.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        Pattern(text.split_once("://").map_or(text, |(_, rest)| rest).to_ascii_lowercase())
    }

    /// Whether a page is meant.
    pub fn fits(&self, url: &CanonicalUrl) -> bool {
        let host = url.host();
        if !self.0.contains(['/', '*', ':']) {
            let name = self.0.as_str();
            return host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        }
        let rest = url.as_str().split_once("://").map_or("", |(_, rest)| rest);
        glob(self.0.as_bytes(), rest.to_ascii_lowercase().as_bytes())
    }
}

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pattern: Pattern,
    says: Says,
}

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule:?} is no rule for revisits: {why}")]
pub struct RuleError {
    rule: String,
    why: &'static str,
}

/// Reads `15m`, `6h`, `2d`, `1w`.
pub fn interval(text: &str) -> Option<Duration> {
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let unit: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let bad = |why| RuleError { rule: text.to_owned(), why };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (pattern, rest) = words.split_first().ok_or_else(|| bad("it is empty"))?;
        let says = match rest {
            ["every", time] => Says::Every(
                interval(time).ok_or_else(|| bad("a time is written like 15m, 6h, 2d or 1w"))?,
            ),
            ["never"] => Says::Never,
            ["at", "most", number, "a", "day"] => {
                let number =
                    number.parse::<u32>().map_err(|_| bad("how many a day is a number"))?;
                Says::AtMost(f64::from(number))
            }
            ["by", name] => Says::By(
                PolicyName::named(name)
                    .ok_or_else(|| bad("a policy is fixed, fr, selective or fresh"))?,
            ),
            _ => {
                return Err(bad(
                    "write PATTERN every 6h, PATTERN never, PATTERN at most 500 a day, or PATTERN by fresh",
                ));
            }
        };
        Ok(Rule { pattern: Pattern::new(pattern), says })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.pattern.0)?;
        match self.says {
            Says::Every(time) => write!(f, "every {}s", time.as_secs()),
            Says::Never => f.write_str("never"),
            Says::AtMost(number) => write!(f, "at most {number} a day"),
            Says::By(policy) => write!(f, "by {}", policy.name()),
        }
    }
}

impl Rule {
    /// The policy it names.
    pub fn policy(&self) -> Option<PolicyName> {
        match self.says {
            Says::By(policy) => Some(policy),
            _ => None,
        }
    }
}

/// Whether a text fits a pattern with `*`, in time that is at worst the product of their lengths.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            (p, t) = (at + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}

/// What all rules say of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Said {
    /// It is visited this often.
    pub every: Option<Duration>,
    /// It is not visited again.
    pub never: bool,
    /// The rule by which it has no more than so many visits a day, with others: which, and how many.
    pub at_most: Option<(usize, f64)>,
    /// The policy that decides.
    pub by: Option<PolicyName>,
}

/// What the rules say of a page.
pub fn said(rules: &[Rule], url: &CanonicalUrl) -> Said {
    let mut out = Said::default();
    for (number, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.pattern.fits(url)) {
        match rule.says {
            Says::Every(time) => (out.every, out.never) = (Some(time), false),
            Says::Never => (out.every, out.never) = (None, true),
            Says::AtMost(most) => out.at_most = Some((number, most)),
            Says::By(policy) => out.by = Some(policy),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[&str]) -> Vec<Rule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    #[test]
    fn the_last_rule_of_a_kind_that_fits_counts() {
        let rules = rules(&[
            "example.org every 1d",
            "example.org/news/* every 15m",
            "example.org at most 500 a day",
            "*.pdf never",
            "https://docs.example.org/* by fr",
        ]);
        let at = |text: &str| said(&rules, &url(text));
        assert_eq!(at("http://www.example.org/a").every, interval("1d"));
        assert_eq!(at("https://example.org/news/x?y=1").every, interval("15m"));
        assert_eq!(at("http://example.org/").at_most, Some((2, 500.0)));
        assert!(at("http://example.org/a.PDF").never && at("http://other.test/b.pdf").never);
        assert_eq!(at("http://docs.example.org/x").by, Some(PolicyName::Fr));
        assert_eq!(at("http://notexample.org/"), Said::default());
    }

    #[test]
    fn what_is_no_rule_is_refused_with_a_sentence() {
        for text in
            ["", "example.org", "x every 5", "x every 0h", "x at most many a day", "x by luck"]
        {
            let refused = text.parse::<Rule>().unwrap_err().to_string();
            assert!(refused.contains("no rule for revisits"), "{refused}");
        }
        let rule: Rule = "x/* every 2h".parse().unwrap();
        assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
    }

    #[test]
    fn stars_stand_for_anything() {
        assert!(glob(b"a*b*c", b"a--b-b--c") && glob(b"*", b"") && glob(b"a*", b"a"));
        assert!(!glob(b"a*b", b"a--") && !glob(b"", b"x") && !glob(b"a*bc", b"abcb"));
    }
}
