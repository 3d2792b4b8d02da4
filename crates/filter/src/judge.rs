//! Asking a filter: three-valued, as early as it can be known, and in words.

use crate::compile::{Filter, Node};
use crate::facts::Known;
use crate::leaf::Case;
use crate::script::Failure;
use argiope_model::{CanonicalUrl, Suffixes};
use std::cell::OnceCell;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It lets the URL through.
    Yes,
    /// It does not.
    No,
    /// The answer must tell.
    Unknown,
}

impl From<bool> for Verdict {
    fn from(yes: bool) -> Self {
        if yes { Verdict::Yes } else { Verdict::No }
    }
}

impl Verdict {
    /// The word in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Yes => "yes",
            Verdict::No => "no",
            Verdict::Unknown => "later",
        }
    }

    fn opposite(self) -> Self {
        match self {
            Verdict::Yes => Verdict::No,
            Verdict::No => Verdict::Yes,
            Verdict::Unknown => Verdict::Unknown,
        }
    }
}

/// What a filter says.
#[derive(Debug)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The script that failed, where that is why it is refused.
    pub failure: Option<Failure>,
}

/// What a filter says, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The rule that decided, and through which others, from the outermost on.
    pub path: Vec<String>,
    /// Why, as the end of a sentence.
    pub detail: String,
}

impl Explanation {
    /// The path on one line.
    pub fn rule(&self) -> String {
        self.path.join(" > ")
    }
}

impl Filter {
    /// What it says of a URL, by what is known of its answer.
    pub fn judge(&self, url: &CanonicalUrl, suffixes: &Suffixes, known: Known<'_>) -> Judgement {
        match decide(&self.root, &self.case(url, suffixes, known)) {
            Ok(verdict) => Judgement { verdict, failure: None },
            Err(failure) => Judgement { verdict: Verdict::No, failure: Some(failure) },
        }
    }

    /// The same, and why.
    pub fn explain(
        &self,
        url: &CanonicalUrl,
        suffixes: &Suffixes,
        known: Known<'_>,
    ) -> Explanation {
        let (name, case) = (self.name.clone(), self.case(url, suffixes, known));
        match reason(&self.root, &case) {
            Ok(mut why) => {
                // A filter that is one name does not say it twice.
                if why.path.first() != Some(&name) {
                    why.path.insert(0, name);
                }
                why
            }
            Err(failure) => Explanation {
                verdict: Verdict::No,
                path: vec![name, "script".to_owned()],
                detail: format!("{failure}"),
            },
        }
    }

    fn case<'a>(
        &'a self,
        url: &'a CanonicalUrl,
        suffixes: &'a Suffixes,
        known: Known<'a>,
    ) -> Case<'a> {
        Case { url, suffixes, known, regexes: &self.regexes, found: OnceCell::new() }
    }
}

fn decide(node: &Node, case: &Case<'_>) -> Result<Verdict, Failure> {
    match node {
        Node::Leaf(leaf, _) => leaf.asked(case),
        Node::Named(_, node) => decide(node, case),
        Node::Not(node) => decide(node, case).map(Verdict::opposite),
        Node::All(nodes) => joined(nodes, case, Verdict::No),
        Node::Any(nodes) => joined(nodes, case, Verdict::Yes),
    }
}

/// Asks until one says `last`, which decides; unknown where one is, and the opposite otherwise.
fn joined(nodes: &[Node], case: &Case<'_>, last: Verdict) -> Result<Verdict, Failure> {
    let mut all = last.opposite();
    for node in nodes {
        match decide(node, case)? {
            verdict if verdict == last => return Ok(last),
            Verdict::Unknown => all = Verdict::Unknown,
            _ => {}
        }
    }
    Ok(all)
}

fn reason(node: &Node, case: &Case<'_>) -> Result<Explanation, Failure> {
    let within = |word: &str, mut why: Explanation| {
        why.path.insert(0, word.to_owned());
        why
    };
    Ok(match node {
        Node::Leaf(leaf, label) => {
            let verdict = leaf.asked(case)?;
            let detail = leaf.reason(case, verdict);
            Explanation { verdict, path: vec![label.clone()], detail }
        }
        Node::Named(name, node) => within(name, reason(node, case)?),
        Node::Not(node) => {
            let why = reason(node, case)?;
            let verdict = why.verdict.opposite();
            Explanation { verdict, ..within("not", why) }
        }
        Node::All(nodes) => reasons("all", nodes, case, Verdict::No)?,
        Node::Any(nodes) => reasons("any", nodes, case, Verdict::Yes)?,
    })
}

fn reasons(
    word: &str,
    nodes: &[Node],
    case: &Case<'_>,
    last: Verdict,
) -> Result<Explanation, Failure> {
    let mut all = Vec::new();
    for node in nodes {
        let why = reason(node, case)?;
        let decides = why.verdict == last;
        all.push(why);
        if decides {
            break;
        }
    }
    // Who decides alone speaks for all; else who is not known yet; else everybody has spoken.
    let speaker = match all.last() {
        Some(why) if why.verdict == last => Some(all.len() - 1),
        _ if all.len() == 1 => Some(0),
        _ => all.iter().position(|why| why.verdict == Verdict::Unknown),
    };
    if let Some(at) = speaker {
        let mut why = all.swap_remove(at);
        why.path.insert(0, word.to_owned());
        return Ok(why);
    }
    let mut details: Vec<&str> = all.iter().map(|why| &*why.detail).collect();
    details.dedup();
    let more = if details.len() > 3 { ", …" } else { "" };
    let detail = format!("{}{more}", details[..details.len().min(3)].join(", "));
    Ok(Explanation { verdict: last.opposite(), path: vec![word.to_owned()], detail })
}
