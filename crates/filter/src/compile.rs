//! From rules to what is asked of every URL.

use crate::leaf::{Leaf, Names, Prefixes};
use crate::rule::Rule;
use crate::saved::{Saved, SavedError};
use crate::script::Script;
use regex::{RegexSet, RegexSetBuilder};

/// All expressions of a filter together take no more memory than this.
const REGEX_BYTES: usize = 32 << 20;
/// Memory of one that anybody may send.
const EXPRESSION_BYTES: usize = 1 << 20;
/// Rules do not lie deeper within each other.
const MAX_DEPTH: usize = 64;

/// A filter, ready to be asked. Any number of threads may ask at once.
pub struct Filter {
    pub(crate) name: String,
    pub(crate) root: Node,
    pub(crate) regexes: RegexSet,
}

/// Why a rule cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// An expression, or all of them together.
    #[error("{0}")]
    Regex(String),
    /// A script: its line, and what is wrong there.
    #[error("{name}:{line}: {what}")]
    Script {
        /// Its file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// Rules within rules within rules.
    #[error("rules lie more than {MAX_DEPTH} deep within each other")]
    Deep,
    /// The text of a job.
    #[error(transparent)]
    Saved(#[from] SavedError),
}

pub(crate) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Named(String, Box<Node>),
    Leaf(Leaf, String),
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Filter {
    /// Makes a filter ready.
    pub fn new(saved: &Saved) -> Result<Self, Problem> {
        let mut regexes = Vec::new();
        let root = compile(&saved.rule, 0, &mut regexes)?;
        let regexes = set_of(&regexes).map_err(|e| Problem::Regex(in_words(&e)))?;
        Ok(Filter { name: saved.name.clone(), root, regexes })
    }

    /// Makes the filter of a job ready, from its text.
    pub fn from_text(text: &str) -> Result<Self, Problem> {
        Filter::new(&Saved::from_text(text)?)
    }

    /// What the user called it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn set_of(texts: &[String]) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(texts).size_limit(REGEX_BYTES).build()
}

/// Whether an expression can be used; else why not.
pub fn check_regex(text: &str) -> Result<(), String> {
    set_of(&[text.to_owned()]).map(|_| ()).map_err(|e| in_words(&e))
}

/// An expression by itself, for whoever wants no rule around it.
#[derive(Clone, Debug)]
pub struct Expression(RegexSet);

impl Expression {
    /// Reads an expression; a wrong or too large one is refused with a sentence.
    pub fn new(text: &str) -> Result<Self, String> {
        let set = RegexSetBuilder::new([text]).size_limit(EXPRESSION_BYTES).build();
        set.map(Expression).map_err(|e| in_words(&e))
    }

    /// Whether it is found in a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

fn in_words(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "the expressions are too large".to_owned(),
        // The message draws an arrow below the expression; its last line is the sentence.
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default().trim();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}

fn compile(rule: &Rule, depth: usize, regexes: &mut Vec<String>) -> Result<Node, Problem> {
    if depth > MAX_DEPTH {
        return Err(Problem::Deep);
    }
    let mut each = |rules: &[Rule]| -> Result<Vec<Node>, Problem> {
        rules.iter().map(|rule| compile(rule, depth + 1, regexes)).collect()
    };
    let texts = |list: &[String]| list.iter().map(|text| text.as_str().into()).collect();
    let leaf = match rule {
        Rule::All(rules) => return Ok(Node::All(each(rules)?)),
        Rule::Any(rules) => return Ok(Node::Any(each(rules)?)),
        Rule::Not(rule) => return Ok(Node::Not(Box::new(compile(rule, depth + 1, regexes)?))),
        Rule::Named { name, rule } => {
            let node = compile(rule, depth + 1, regexes)?;
            return Ok(Node::Named(name.clone(), Box::new(node)));
        }
        Rule::Domain(names) => {
            Leaf::Domain(names.iter().map(|name| name.as_str().into()).collect())
        }
        Rule::Prefix(prefixes) => {
            let (paths, urls): (Vec<String>, Vec<String>) =
                prefixes.iter().cloned().partition(|prefix| prefix.starts_with('/'));
            Leaf::Prefix {
                urls: Prefixes::new(urls.into_iter()),
                paths: Prefixes::new(paths.into_iter()),
            }
        }
        Rule::Suffix(endings) => Leaf::Suffix(texts(endings)),
        Rule::Protocol(names) => {
            let has = |name: &str| names.iter().any(|n| n == name);
            Leaf::Protocol { http: has("http"), https: has("https") }
        }
        Rule::Regex(all) => {
            let first = regexes.len();
            regexes.extend(all.iter().cloned());
            Leaf::Regex(first..regexes.len(), all.clone())
        }
        Rule::MinPathDepth(n) => Leaf::MinPathDepth(*n),
        Rule::MaxPathDepth(n) => Leaf::MaxPathDepth(*n),
        Rule::Param(names) => Leaf::Param(Names::new(names)),
        Rule::MaxParams(n) => Leaf::MaxParams(*n),
        Rule::OnlyParams(names) => Leaf::OnlyParams(Names::new(names)),
        Rule::Type(words) => Leaf::Type(texts(words)),
        Rule::MinSize(n) => Leaf::MinSize(*n),
        Rule::MaxSize(n) => Leaf::MaxSize(*n),
        Rule::Language(words) => Leaf::Language(texts(words)),
        Rule::Script { name, text } => Leaf::Script(Box::new(Script::new(name, text)?)),
    };
    Ok(Node::Leaf(leaf, rule.label()))
}
