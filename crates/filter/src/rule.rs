//! Rules as they are written down, names resolved.

use serde::{Deserialize, Serialize};

/// Things that a label names, and letters of each.
const FEW: usize = 4;
const SHORT: usize = 32;
/// Things that are listed where somebody wants to see all.
const MANY: usize = 40;

/// A rule. Where one names several things, one of them suffices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// Every one says yes.
    All(Vec<Rule>),
    /// One at least says yes.
    Any(Vec<Rule>),
    /// The rule says no.
    Not(Box<Rule>),
    /// A rule under the name it has where it was written.
    Named {
        /// The name.
        name: String,
        /// What it stands for.
        rule: Box<Rule>,
    },
    /// The host is one of these or lies below one.
    Domain(Vec<String>),
    /// The URL begins with one of these, or its path where they begin with a slash.
    Prefix(Vec<String>),
    /// The path ends in one of these, in whatever case.
    Suffix(Vec<String>),
    /// The scheme is one of these.
    Protocol(Vec<String>),
    /// One of these is found in the URL.
    Regex(Vec<String>),
    /// The path has so many segments at least.
    MinPathDepth(u32),
    /// The path has so many segments at most.
    MaxPathDepth(u32),
    /// The query has one of these parameters; `utm_*` stands for all that begin so.
    Param(Vec<String>),
    /// The query has so many parameters at most.
    MaxParams(u32),
    /// The query has no other parameters than these.
    OnlyParams(Vec<String>),
    /// The answer is of one of these types or groups of types.
    Type(Vec<String>),
    /// The answer has so many bytes at least.
    MinSize(u64),
    /// The answer has so many bytes at most.
    MaxSize(u64),
    /// The answer is in one of these languages; `unknown`: nobody can tell.
    Language(Vec<String>),
    /// A script says yes.
    Script {
        /// Its file.
        name: String,
        /// Its text.
        text: String,
    },
}

impl Rule {
    /// The word by which configurations know it.
    pub fn word(&self) -> &'static str {
        match self {
            Rule::All(_) => "all",
            Rule::Any(_) => "any",
            Rule::Not(_) => "not",
            Rule::Named { .. } => "filter",
            Rule::Domain(_) => "domain",
            Rule::Prefix(_) => "prefix",
            Rule::Suffix(_) => "suffix",
            Rule::Protocol(_) => "protocol",
            Rule::Regex(_) => "regex",
            Rule::MinPathDepth(_) => "min_path_depth",
            Rule::MaxPathDepth(_) => "max_path_depth",
            Rule::Param(_) => "param",
            Rule::MaxParams(_) => "max_params",
            Rule::OnlyParams(_) => "only_params",
            Rule::Type(_) => "type",
            Rule::MinSize(_) => "min_size",
            Rule::MaxSize(_) => "max_size",
            Rule::Language(_) => "language",
            Rule::Script { .. } => "script",
        }
    }

    /// The word with what it is about, shortly.
    pub fn label(&self) -> String {
        self.labelled(FEW, SHORT)
    }

    /// The same, with at most so many things of at most so many letters each.
    fn labelled(&self, most: usize, letters: usize) -> String {
        let word = self.word();
        match self {
            Rule::All(_) | Rule::Any(_) | Rule::Not(_) => word.to_owned(),
            Rule::Named { name, .. } => name.clone(),
            Rule::Domain(list)
            | Rule::Prefix(list)
            | Rule::Suffix(list)
            | Rule::Protocol(list)
            | Rule::Regex(list)
            | Rule::Param(list)
            | Rule::OnlyParams(list)
            | Rule::Type(list)
            | Rule::Language(list) => format!("{word} {}", some_of(list, most, letters)),
            Rule::MinPathDepth(n) | Rule::MaxPathDepth(n) | Rule::MaxParams(n) => {
                format!("{word} {n}")
            }
            Rule::MinSize(n) | Rule::MaxSize(n) => format!("{word} {n}"),
            Rule::Script { name, .. } => format!("{word} {name}"),
        }
    }

    /// What it is, in a few words.
    pub fn summary(&self) -> String {
        match self {
            Rule::All(rules) => format!("all of {} rules", rules.len()),
            Rule::Any(rules) => format!("any of {} rules", rules.len()),
            Rule::Not(rule) => format!("not {}", rule.summary()),
            leaf => leaf.label(),
        }
    }

    /// The rule as lines for people, each deeper one further in.
    pub fn lines(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.write_lines(0, &mut out);
        out
    }

    fn write_lines(&self, depth: usize, out: &mut Vec<String>) {
        let says = match self {
            Rule::All(_) => "all of these:".to_owned(),
            Rule::Any(_) => "any of these:".to_owned(),
            Rule::Not(_) => "not:".to_owned(),
            Rule::Named { name, .. } => format!("{name}:"),
            leaf => leaf.labelled(MANY, usize::MAX),
        };
        out.push(format!("{}{says}", "  ".repeat(depth)));
        match self {
            Rule::All(rules) | Rule::Any(rules) => {
                rules.iter().for_each(|rule| rule.write_lines(depth + 1, out));
            }
            Rule::Not(rule) | Rule::Named { rule, .. } => rule.write_lines(depth + 1, out),
            _ => {}
        }
    }
}

/// The first of a list, cut, and how many there are.
fn some_of(list: &[String], most: usize, letters: usize) -> String {
    if list.is_empty() {
        return "(none)".to_owned();
    }
    let cut = |text: &String| match text.char_indices().nth(letters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.clone(),
    };
    let shown = list.iter().take(most).map(cut).collect::<Vec<_>>().join(", ");
    match list.len() {
        n if n > most => format!("{shown}, … ({n} in all)"),
        _ => shown,
    }
}
