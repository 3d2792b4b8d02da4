//! The rules of one group, kept so that the one that decides is found cheaply (RFC 9309,
//! 2.2.2 and 2.2.3).
//!
//! The parser in the parent module builds a [`RuleSet`]; verdicts ask it. A rule without
//! wildcards is a *prefix*: these are sorted, and each knows the next shorter prefix of itself
//! and the best rule on that chain, so one binary search finds the best of thousands. The
//! others are *patterns*, tried from the one of most weight down until one matches.
//!
//! Invariants:
//! - The rule with the most octets that matches decides; of equals, the one that allows.
//! - A pattern is matched in one pass over the path, without going back.
//! - A verdict costs at most [`MAX_STEPS`] octets looked at. When that is not enough nothing is
//!   known, and what is not known to be allowed is not allowed.

use super::spelling::{Depth, WILD, escapes_needlessly, spell_path, spell_pattern};
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Octets that may be looked at for one verdict. A real file needs a few thousand; this is ten
/// thousand patterns with wildcards on a path of 1,600 octets, and a few milliseconds.
pub(super) const MAX_STEPS: usize = 16_000_000;

/// No shorter prefix.
const NONE: u32 = u32::MAX;

/// A rule as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft<'a> {
    pub line: u32,
    pub allow: bool,
    /// Not empty.
    pub pattern: &'a [u8],
}

/// A place in [`RuleSet::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    length: u32,
}

/// A rule ready to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    line: u32,
    /// Twice the octets of the pattern, and one more if it allows: larger wins.
    rank: u32,
    spelled: Span,
    shown: Span,
    /// The pattern ends where the path ends (`$`).
    anchored: bool,
}

/// A rule without wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    row: Row,
    /// The longest other prefix that this one begins with.
    shorter: u32,
    /// The rule of highest rank among this one and all shorter ones.
    best: u32,
}

/// What the rules say about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision<'a> {
    /// No rule matches.
    Silent,
    /// This rule decides.
    By(&'a Row),
    /// The rules are too many and too intricate to be tried on this path.
    TooCostly,
}

/// All rules of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleSet {
    /// Spelled patterns, and the written ones where they look different.
    text: Box<str>,
    /// By spelled text.
    prefixes: Box<[Prefix]>,
    /// By rank, highest first.
    patterns: Box<[Row]>,
}

impl Row {
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    pub(super) fn allow(&self) -> bool {
        self.rank & 1 == 1
    }
}

impl RuleSet {
    pub(super) fn new(drafts: &[Draft<'_>]) -> RuleSet {
        let mut builder = Builder::default();
        for draft in drafts {
            builder.add(draft);
        }
        builder.finish()
    }

    /// The rule for a path that begins with `/`; `steps` grows by the octets looked at.
    pub(super) fn decide(&self, path: &[u8], steps: &mut usize) -> Decision<'_> {
        let decision = self.judge(spell_path(path), steps);
        let allows = matches!(decision, Decision::By(row) if row.allow());
        if path.is_ascii() || !allows {
            return decision;
        }
        // Not a path out of a URL, where everything is ASCII: what it means is in doubt, so it
        // must be allowed as it is, too.
        match self.judge(std::iter::once(Cow::Borrowed(path)), steps) {
            Decision::Silent => decision,
            as_it_is => as_it_is,
        }
    }

    /// The rule of highest rank that matches any of these spellings.
    fn judge<'p>(
        &self,
        spellings: impl Iterator<Item = Cow<'p, [u8]>>,
        steps: &mut usize,
    ) -> Decision<'_> {
        let mut best: Option<&Row> = None;
        for spelling in spellings {
            best = higher(best, self.best_prefix(&spelling, steps));
            for row in &self.patterns {
                if best.is_some_and(|best| best.rank >= row.rank) {
                    break;
                }
                if *steps > MAX_STEPS {
                    return Decision::TooCostly;
                }
                if matches(self.bytes(row.spelled), row.anchored, &spelling, steps) {
                    best = Some(row);
                    break;
                }
            }
        }
        best.map_or(Decision::Silent, Decision::By)
    }

    /// The pattern as written in the file.
    pub(super) fn shown(&self, row: &Row) -> &str {
        self.text.get(range(row.shown)).unwrap_or_default()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.text.len() + size_of_val(&*self.prefixes) + size_of_val(&*self.patterns)
    }

    fn bytes(&self, span: Span) -> &[u8] {
        &self.text.as_bytes()[range(span)]
    }

    fn best_prefix(&self, path: &[u8], steps: &mut usize) -> Option<&Row> {
        // Every prefix of the path sorts before it, and everything between the two begins with
        // that prefix: so all of them are on the chain of the last one before the path.
        let after = self.prefixes.partition_point(|p| self.bytes(p.row.spelled) <= path);
        let mut at = after.checked_sub(1)?;
        loop {
            let prefix = &self.prefixes[at];
            *steps += prefix.row.spelled.length as usize;
            if path.starts_with(self.bytes(prefix.row.spelled)) {
                return Some(&self.prefixes[prefix.best as usize].row);
            }
            if prefix.shorter == NONE {
                return None;
            }
            at = prefix.shorter as usize;
        }
    }
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.start as usize + span.length as usize
}

fn higher<'a>(one: Option<&'a Row>, other: Option<&'a Row>) -> Option<&'a Row> {
    match (one, other) {
        (Some(one), Some(other)) if other.rank > one.rank => Some(other),
        (one, other) => one.or(other),
    }
}

/// Whether a pattern matches a path. The pieces between wildcards are taken at the first place
/// where they fit: if they fit at all, they fit so.
fn matches(pattern: &[u8], anchored: bool, path: &[u8], steps: &mut usize) -> bool {
    let (first, mut pieces) = match memchr(WILD, pattern) {
        Some(at) => (&pattern[..at], &pattern[at + 1..]),
        None => {
            *steps += pattern.len();
            return if anchored { pattern == path } else { path.starts_with(pattern) };
        }
    };
    *steps += 1 + first.len();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    if anchored {
        let tail = pieces.rsplit(|&byte| byte == WILD).next().unwrap_or_default();
        *steps += tail.len();
        let Some(before) = rest.strip_suffix(tail) else {
            return false;
        };
        (rest, pieces) = (before, &pieces[..pieces.len() - tail.len()]);
    }
    for piece in pieces.split(|&byte| byte == WILD) {
        let Some(at) = find(rest, piece) else {
            *steps += rest.len() + piece.len();
            return false;
        };
        *steps += 1 + at + piece.len();
        rest = &rest[at + piece.len()..];
    }
    true
}

/// The first place of a piece, in time linear in the text.
fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    let Some(&first) = piece.first() else {
        return Some(0);
    };
    // Preparing a search costs more than comparing a short piece at a few places.
    if piece.len() > 8 && text.len() > 64 {
        return memmem::find(text, piece);
    }
    let mut from = 0;
    while let Some(at) = memchr(first, &text[from..]) {
        if text[from + at..].starts_with(piece) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Collects rows; see [`RuleSet::new`].
#[derive(Default)]
struct Builder {
    text: Vec<u8>,
    rows: Vec<Row>,
}

impl Builder {
    fn add(&mut self, draft: &Draft<'_>) {
        self.add_spellings(draft, draft.pattern);
        // A site that allows `/dir/index.html` means the page at `/dir/` too.
        if draft.allow
            && let Some(slash) = draft.pattern.iter().rposition(|&byte| byte == b'/')
            && draft.pattern[slash..].starts_with(b"/index.htm")
        {
            let directory = [&draft.pattern[..=slash], b"$"].concat();
            self.add_spellings(draft, &directory);
        }
    }

    fn add_spellings(&mut self, draft: &Draft<'_>, pattern: &[u8]) {
        let body = pattern.strip_suffix(b"$").unwrap_or(pattern);
        let dollar = pattern.len() - body.len();
        let mut plain = Vec::with_capacity(body.len());
        spell_pattern(body, Depth::Plain, &mut plain);
        // All spellings of a rule weigh the same, whichever of them matches.
        let weight = plain.len() + dollar;
        let rank = u32::try_from(weight * 2 + usize::from(draft.allow)).unwrap_or(u32::MAX);
        if !body.contains(&b'%') {
            self.add_row(draft, plain, dollar == 1, rank);
            return;
        }
        // Forbidding is read in every spelling. Allowing with escapes that nobody needs is read
        // as written: authorities differ, and a wrong "allowed" is the worse mistake.
        if draft.allow && escapes_needlessly(body) {
            plain.clear();
            spell_pattern(body, Depth::Written, &mut plain);
            self.add_row(draft, plain, dollar == 1, rank);
            return;
        }
        let mut loose = Vec::with_capacity(body.len());
        spell_pattern(body, Depth::Loose, &mut loose);
        if loose != plain {
            self.add_row(draft, loose, dollar == 1, rank);
        }
        self.add_row(draft, plain, dollar == 1, rank);
    }

    fn add_row(&mut self, draft: &Draft<'_>, mut spelled: Vec<u8>, dollar: bool, rank: u32) {
        let length = spelled.len();
        while spelled.last() == Some(&WILD) {
            spelled.pop();
        }
        let anchored = dollar && spelled.len() == length;
        let written = String::from_utf8_lossy(draft.pattern);
        let shown = self.keep(written.as_bytes());
        let same = spelled == written.as_bytes();
        let spelled = if same { shown } else { self.keep(&spelled) };
        self.rows.push(Row { line: draft.line, rank, spelled, shown, anchored });
    }

    fn keep(&mut self, text: &[u8]) -> Span {
        // Files are limited to half a megabyte: no place in the text exceeds 32 bits.
        let start = u32::try_from(self.text.len()).expect("a limited file");
        self.text.extend_from_slice(text);
        Span { start, length: u32::try_from(text.len()).expect("a limited file") }
    }

    fn finish(mut self) -> RuleSet {
        let text = String::from_utf8(self.text).expect("only texts were kept").into_boxed_str();
        let spelled = |row: &Row| &text.as_bytes()[range(row.spelled)];
        // Of rules with the same pattern only the one that can decide is kept, the first of them.
        self.rows.sort_by(|a, b| {
            let place = |row: &Row| (row.anchored, std::cmp::Reverse(row.rank), row.line);
            spelled(a).cmp(spelled(b)).then_with(|| place(a).cmp(&place(b)))
        });
        self.rows.dedup_by(|b, a| spelled(a) == spelled(b) && a.anchored == b.anchored);
        let (mut patterns, prefixes): (Vec<Row>, Vec<Row>) =
            self.rows.iter().partition(|row| row.anchored || spelled(row).contains(&WILD));
        patterns.sort_by_key(|row| (std::cmp::Reverse(row.rank), row.line));

        let mut chained: Vec<Prefix> = Vec::with_capacity(prefixes.len());
        for row in prefixes {
            let here = u32::try_from(chained.len()).expect("a limited file");
            let mut shorter = here.checked_sub(1).unwrap_or(NONE);
            while shorter != NONE {
                let candidate = &chained[shorter as usize];
                if spelled(&row).starts_with(spelled(&candidate.row)) {
                    break;
                }
                shorter = candidate.shorter;
            }
            let inherited = chained.get(shorter as usize).map(|candidate| candidate.best);
            let best = inherited.filter(|&best| chained[best as usize].row.rank > row.rank);
            chained.push(Prefix { row, shorter, best: best.unwrap_or(here) });
        }
        RuleSet { prefixes: chained.into(), patterns: patterns.into(), text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(rules: &[(bool, &str)]) -> RuleSet {
        let drafts: Vec<Draft<'_>> = rules
            .iter()
            .zip(1..)
            .map(|(&(allow, pattern), line)| Draft { line, allow, pattern: pattern.as_bytes() })
            .collect();
        RuleSet::new(&drafts)
    }

    fn line(set: &RuleSet, path: &str) -> Option<u32> {
        match set.decide(path.as_bytes(), &mut 0) {
            Decision::By(row) => Some(row.line()),
            Decision::Silent => None,
            Decision::TooCostly => panic!("{path} is too costly"),
        }
    }

    #[test]
    fn the_longest_of_nested_prefixes_decides() {
        let set =
            set(&[(false, "/"), (true, "/a"), (false, "/a/b"), (true, "/a/b/c"), (true, "/x")]);
        let cases = [("/", 1), ("/a", 2), ("/a/", 2), ("/a/b", 3), ("/a/c", 2), ("/a/bc", 3)];
        for (path, expected) in cases {
            assert_eq!(line(&set, path), Some(expected), "{path}");
        }
        assert_eq!(line(&set, "/a/b/c/d"), Some(4));
        assert_eq!(line(&set, "/w"), Some(1));
        assert_eq!(line(&set, "/y"), Some(1));
    }

    #[test]
    fn a_wildcard_at_the_end_counts_as_an_octet_and_changes_nothing_else() {
        let set = set(&[(false, "/fi****"), (true, "/fish"), (false, "/fo*$")]);
        assert_eq!(line(&set, "/fish/1"), Some(1));
        assert_eq!(line(&set, "/fo/1"), Some(3));
        assert_eq!(line(&set, "/f"), None);
    }

    #[test]
    fn of_rules_of_the_same_length_the_allowing_one_decides() {
        for (first, second) in [("/a*", "/ab"), ("/ab", "/a*"), ("/ab", "/ab"), ("/*b", "/a*")] {
            let set_1 = set(&[(false, first), (true, second)]);
            assert_eq!(line(&set_1, "/ab"), Some(2), "{first} {second}");
        }
    }

    #[test]
    fn wildcards_and_the_end_sign_match_as_they_say() {
        let cases = [
            ("/*.php", "/a.php5?x", true),
            ("/*.php$", "/a.php", true),
            ("/*.php$", "/a.php?x", false),
            ("/*.php$", "/a.php/b.php", true),
            ("/a*b*a$", "/aba", true),
            ("/a*ba*a$", "/aba", false),
            ("*/x", "/y/x", true),
            ("/**x", "/x", true),
            ("/$", "/", true),
            ("/$", "/a", false),
            ("/a$b", "/a$bc", true),
            ("/a%24", "/a$", true),
            ("/a%2A", "/a*", true),
            ("/a%2A", "/ab", false),
            ("$", "/", false),
            ("a", "/a", false),
            ("*", "/", true),
        ];
        for (pattern, path, expected) in cases {
            let set = set(&[(false, pattern)]);
            assert_eq!(line(&set, path).is_some(), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn long_pieces_are_found_in_long_paths_and_in_their_order() {
        let filler = "/filler".repeat(20);
        let path = format!("{filler}/one-long-piece{filler}/another-piece{filler}");
        for (pattern, expected) in [
            ("/*/one-long-piece*/another-piece", true),
            ("/*/another-piece*/one-long-piece", false),
            ("/*/one-long-piece*/another-piece$", false),
            ("/*/one-long-piece*/filler/filler$", true),
            ("/*/one-long-piecf", false),
        ] {
            assert_eq!(line(&set(&[(false, pattern)]), &path).is_some(), expected, "{pattern}");
        }
    }

    #[test]
    fn hostile_wildcards_are_matched_in_one_pass() {
        let pattern: String = "/".to_owned() + &"*a".repeat(4_000) + "*b";
        let path = "/".to_owned() + &"a".repeat(8_000);
        let set = RuleSet::new(&[Draft { line: 1, allow: false, pattern: pattern.as_bytes() }]);
        let mut steps = 0;
        assert_eq!(set.decide(path.as_bytes(), &mut steps), Decision::Silent);
        assert!(steps <= 2 * (pattern.len() + path.len()), "{steps} steps");
    }

    #[test]
    fn a_verdict_that_would_cost_too_much_is_not_given() {
        let patterns: Vec<String> = (0..20_000).map(|n| format!("/*aaaaab*{n}")).collect();
        let drafts: Vec<Draft<'_>> = patterns
            .iter()
            .map(|pattern| Draft { line: 1, allow: true, pattern: pattern.as_bytes() })
            .collect();
        let set = RuleSet::new(&drafts);
        let mut steps = 0;
        let path = "/".to_owned() + &"a".repeat(8_000);
        assert_eq!(set.decide(path.as_bytes(), &mut steps), Decision::TooCostly);
        assert!(steps <= MAX_STEPS + 2 * path.len(), "{steps} steps");
        assert_eq!(set.decide(b"/short/path", &mut 0), Decision::Silent);
    }

    #[test]
    fn equal_rules_are_kept_once() {
        let rules = [(false, "/a"); 1_000];
        assert!(set(&rules).prefixes.len() == 1);
    }
}
