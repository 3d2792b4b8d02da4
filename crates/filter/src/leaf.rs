//! A single rule, ready to be asked: what it says of a URL and its answer, and in which words.

use crate::facts::{Known, param_names, path_depth};
use crate::judge::Verdict;
use crate::script::{Failure, Script};
use argiope_model::{CanonicalUrl, Suffixes};
use std::cell::OnceCell;
use std::collections::HashSet;

/// Everything that is asked about.
pub(crate) struct Case<'a> {
    pub url: &'a CanonicalUrl,
    pub suffixes: &'a Suffixes,
    pub known: Known<'a>,
    /// All expressions of the filter, and which of them are found in the URL; searched for once.
    pub regexes: &'a regex::RegexSet,
    pub found: OnceCell<regex::SetMatches>,
}

/// A rule without others in it.
pub(crate) enum Leaf {
    Domain(HashSet<Box<str>>),
    Prefix {
        urls: Prefixes,
        paths: Prefixes,
    },
    Suffix(Vec<Box<str>>),
    Protocol {
        http: bool,
        https: bool,
    },
    /// Their numbers among all expressions of the filter, and their texts.
    Regex(std::ops::Range<usize>, Vec<String>),
    MinPathDepth(u32),
    MaxPathDepth(u32),
    Param(Names),
    MaxParams(u32),
    OnlyParams(Names),
    Type(Vec<Box<str>>),
    MinSize(u64),
    MaxSize(u64),
    Language(Vec<Box<str>>),
    Script(Box<Script>),
}

/// Texts of which none begins with another, sorted: the only one that a text can begin with is the
/// last that is not greater.
pub(crate) struct Prefixes(Vec<Box<str>>);

impl Prefixes {
    pub fn new(texts: impl Iterator<Item = String>) -> Self {
        let mut all: Vec<Box<str>> = texts.map(String::into_boxed_str).collect();
        all.sort();
        // Beside a shorter one, a longer one says nothing; it stands behind it.
        all.dedup_by(|longer, shorter| longer.starts_with(&**shorter));
        Prefixes(all)
    }

    fn of(&self, text: &str) -> Option<&str> {
        let after = self.0.partition_point(|prefix| **prefix <= *text);
        let last = &**self.0.get(after.checked_sub(1)?)?;
        text.starts_with(last).then_some(last)
    }
}

/// Names of parameters: whole ones, and beginnings.
pub(crate) struct Names {
    whole: HashSet<Box<str>>,
    beginnings: Vec<Box<str>>,
}

impl Names {
    pub fn new(names: &[String]) -> Self {
        let (beginnings, whole): (Vec<&String>, _) =
            names.iter().partition(|name| name.ends_with('*'));
        Names {
            whole: whole.into_iter().map(|name| name.as_str().into()).collect(),
            beginnings: beginnings.into_iter().map(|n| n.trim_end_matches('*').into()).collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.whole.contains(name) || self.beginnings.iter().any(|b| name.starts_with(&**b))
    }
}

impl Leaf {
    /// What it says. A script that fails says why.
    pub fn asked(&self, case: &Case<'_>) -> Result<Verdict, Failure> {
        let url = case.url;
        let yes = match self {
            Leaf::Domain(names) => domain_of(names, url.host()).is_some(),
            Leaf::Prefix { urls, paths } => {
                paths.of(url.path_and_query()).or_else(|| urls.of(url.as_str())).is_some()
            }
            Leaf::Suffix(endings) => ending_of(endings, url.path()).is_some(),
            Leaf::Protocol { http, https } => *(if url.is_https() { https } else { http }),
            Leaf::Regex(numbers, _) => {
                let found = case.found.get_or_init(|| case.regexes.matches(url.as_str()));
                numbers.clone().any(|number| found.matched(number))
            }
            Leaf::MinPathDepth(least) => path_depth(url) >= *least,
            Leaf::MaxPathDepth(most) => path_depth(url) <= *most,
            Leaf::Param(names) => param_names(url).any(|name| names.has(&name)),
            Leaf::MaxParams(most) => param_names(url).count() <= *most as usize,
            Leaf::OnlyParams(names) => param_names(url).all(|name| names.has(&name)),
            Leaf::Script(script) => script.crawl(url, case.suffixes)?,
            Leaf::Type(words) => {
                let Some((essence, group)) = case.known.kind else { return Ok(Verdict::Unknown) };
                words.iter().any(|word| **word == *essence || **word == *group)
            }
            Leaf::MinSize(least) => {
                let Some(size) = case.known.size else { return Ok(Verdict::Unknown) };
                size >= *least
            }
            Leaf::MaxSize(most) => {
                let Some(size) = case.known.size else { return Ok(Verdict::Unknown) };
                size <= *most
            }
            Leaf::Language(words) => {
                let Some(language) = case.known.language else { return Ok(Verdict::Unknown) };
                words.iter().any(|word| speaks(word, language))
            }
        };
        Ok(Verdict::from(yes))
    }

    /// Why it says what it says.
    pub fn reason(&self, case: &Case<'_>, verdict: Verdict) -> String {
        let url = case.url;
        let yes = verdict == Verdict::Yes;
        if verdict == Verdict::Unknown {
            let what = match self {
                Leaf::Type(_) => "its type",
                Leaf::Language(_) => "its language",
                _ => "its size",
            };
            return format!("{what} is known only from its answer");
        }
        match self {
            Leaf::Domain(names) => match domain_of(names, url.host()) {
                Some(name) if *name == *url.host() => format!("its host is {name}"),
                Some(name) => format!("its host lies below {name}"),
                None => format!("{} belongs to none of the domains", url.host()),
            },
            Leaf::Prefix { urls, paths } => {
                match paths.of(url.path_and_query()).or_else(|| urls.of(url.as_str())) {
                    Some(prefix) => format!("it begins with {prefix}"),
                    None => "it begins with none of the prefixes".to_owned(),
                }
            }
            Leaf::Suffix(endings) => match ending_of(endings, url.path()) {
                Some(ending) => format!("its path ends in {ending}"),
                None => "its path has none of the endings".to_owned(),
            },
            Leaf::Protocol { .. } => format!("its protocol is {}", url.scheme()),
            Leaf::Regex(numbers, texts) => {
                let found = case.found.get_or_init(|| case.regexes.matches(url.as_str()));
                match numbers.clone().zip(texts).find(|(number, _)| found.matched(*number)) {
                    Some((_, text)) => format!("it matches {text}"),
                    None => "it matches none of the expressions".to_owned(),
                }
            }
            Leaf::MinPathDepth(_) | Leaf::MaxPathDepth(_) => match path_depth(url) {
                1 => "its path has 1 segment".to_owned(),
                n => format!("its path has {n} segments"),
            },
            Leaf::Param(names) => match param_names(url).find(|name| names.has(name)) {
                Some(name) => format!("its query has the parameter {name}"),
                None => "its query has none of the parameters".to_owned(),
            },
            Leaf::MaxParams(_) => match param_names(url).count() {
                1 => "its query has 1 parameter".to_owned(),
                n => format!("its query has {n} parameters"),
            },
            Leaf::OnlyParams(names) => match param_names(url).find(|name| !names.has(name)) {
                Some(name) => format!("its query has the parameter {name}"),
                None => "its query has no other parameters".to_owned(),
            },
            Leaf::Script(script) => {
                format!("{} says {}", script.name(), if yes { "yes" } else { "no" })
            }
            Leaf::Type(_) => format!("its type is {}", case.known.kind.map_or("", |(e, _)| e)),
            Leaf::MinSize(_) | Leaf::MaxSize(_) => {
                format!("it has {} bytes", case.known.size.unwrap_or_default())
            }
            Leaf::Language(_) => match case.known.language.flatten() {
                Some(language) => format!("its language is {language}"),
                None => "its language cannot be told".to_owned(),
            },
        }
    }
}

/// The name that a host is or lies below: one look-up for each label of the host.
fn domain_of<'a>(names: &'a HashSet<Box<str>>, host: &str) -> Option<&'a str> {
    let mut name = host.strip_suffix('.').unwrap_or(host);
    loop {
        if let Some(known) = names.get(name) {
            return Some(known);
        }
        name = name.split_once('.')?.1;
    }
}

fn ending_of<'a>(endings: &'a [Box<str>], path: &str) -> Option<&'a str> {
    let ends = |ending: &str| {
        let from = path.len().checked_sub(ending.len());
        let end = from.and_then(|from| path.get(from..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    endings.iter().find(|ending| ends(ending)).map(|ending| &**ending)
}

/// Whether a language is meant: `en` means `en-GB` too.
fn speaks(word: &str, language: Option<&str>) -> bool {
    let Some(language) = language else { return word == "unknown" };
    let beginning = language.get(..word.len());
    beginning.is_some_and(|b| b.eq_ignore_ascii_case(word))
        && language[word.len()..].chars().next().is_none_or(|c| c == '-' || c == '_')
}
