//! Filters by name: those of the configuration, those that come with the program, and files.
//!
//! Filled by `document` while the configuration is read; asked by commands for the filter of a job, which
//! it gives whole: names looked up, scripts and lists of domains in it.
//! Invariants: every name that is used is there, and none leads back to itself; both are checked when
//! the configuration is read, for filters that nobody uses too. A filter of the user's goes before one of
//! the same name that comes with the program.
//! Not here: how rules are read (`filter_table`), presets (`presets`).

use super::document;
use super::filter_table::{Part, Place, Reader};
use super::nearest::within_reach;
use super::problem::{ConfigError, Problem};
use super::written::short;
use argiope_filter::{Rule, Saved};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml_edit::{Document, TableLike};

/// The filters that come with the program.
const BUILT_IN: &str = include_str!("filters.toml");
/// How the file of those is named in messages.
const BUILT_IN_NAME: &str = "built in";
/// No filter.
pub const NONE: &str = "none";

/// All filters that have a name.
#[derive(Debug, Default)]
pub struct Book {
    parts: BTreeMap<String, Named>,
}

#[derive(Debug)]
struct Named {
    part: Part,
    place: Place,
}

/// What is wrong with a name, and the names that lead to themselves where that is it.
struct Fault {
    problem: Problem,
    circle: BTreeSet<String>,
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Fault { problem, circle: BTreeSet::new() }
    }
}

impl Book {
    /// The filters that come with the program.
    pub(super) fn built_in() -> Self {
        let mut book = Book::default();
        let document = Document::parse(BUILT_IN).expect("the built-in filters are TOML");
        let path = Path::new(BUILT_IN_NAME);
        let mut reader = Reader { trusted: true, ..Reader::new(path, BUILT_IN) };
        let table = document.get("filters").and_then(|item| item.as_table_like());
        book.take(&mut reader, table.expect("they stand in a table"));
        book
    }

    /// Takes over the tables below `[filters]`.
    pub(super) fn take(&mut self, reader: &mut Reader<'_>, filters: &dyn TableLike) {
        for (name, item) in filters.iter() {
            let at = document::key_start(filters, name);
            let place = reader.place(at);
            let fault = match item.as_table_like() {
                _ if name == NONE => "none means no filter; choose another name".to_owned(),
                None => format!(
                    "filters.{0} is not a table; write [filters.{0}] alone on a line",
                    short(name)
                ),
                Some(table) => {
                    if let Some(part) = reader.table(at, table) {
                        self.parts.insert(name.to_owned(), Named { part, place });
                    }
                    continue;
                }
            };
            reader.problems.push(place.complain(&fault));
        }
    }

    /// Everything that is wrong with names: those that are not there, those that lead in a circle.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut out: Vec<Fault> = Vec::new();
        for (name, named) in &self.parts {
            if let Err(fault) = self.resolve(&named.part, &mut vec![name.as_str()]) {
                // A circle is the same wherever it is entered.
                let same = |known: &Fault| match fault.circle.is_empty() {
                    true => known.problem.text == fault.problem.text,
                    false => known.circle == fault.circle,
                };
                if !out.iter().any(same) {
                    out.push(fault);
                }
            }
        }
        out.into_iter().map(|fault| fault.problem).collect()
    }

    fn resolve<'a>(&'a self, part: &'a Part, within: &mut Vec<&'a str>) -> Result<Rule, Fault> {
        let mut each = |parts: &'a [Part]| -> Result<Vec<Rule>, Fault> {
            parts.iter().map(|part| self.resolve(part, within)).collect()
        };
        Ok(match part {
            Part::All(parts) => Rule::All(each(parts)?),
            Part::Any(parts) => Rule::Any(each(parts)?),
            Part::Not(part) => Rule::Not(Box::new(self.resolve(part, within)?)),
            Part::Ready(rule) => rule.clone(),
            Part::Use(name, place) => {
                let Some((name, named)) = self.parts.get_key_value(name) else {
                    return Err(place.complain(&self.unknown(name)).into());
                };
                if let Some(begin) = within.iter().position(|outer| outer == name) {
                    let names = within[begin..].iter().map(|name| (*name).to_owned());
                    let circle: BTreeSet<String> = names.collect();
                    let way = [&within[begin..], &[name.as_str()]].concat().join(" > ");
                    let problem = place.complain(&format!("filters lead in a circle: {way}"));
                    return Err(Fault { problem, circle });
                }
                within.push(name);
                let rule = self.resolve(&named.part, within)?;
                within.pop();
                Rule::Named { name: name.clone(), rule: Box::new(rule) }
            }
        })
    }

    fn unknown(&self, name: &str) -> String {
        let near = self
            .parts
            .keys()
            .filter_map(|known| within_reach(name, known).map(|slips| (slips, known.as_str())));
        let hint = match near.min() {
            Some((_, near)) => format!("did you mean {near}?"),
            None => format!("the filters are {}", self.names().collect::<Vec<_>>().join(", ")),
        };
        format!("there is no filter {:?}; {hint}", short(name))
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }

    /// Where a filter was written.
    pub fn origin(&self, name: &str) -> String {
        match self.parts.get(name).map(|named| &named.place) {
            Some(place) if place.path == Path::new(BUILT_IN_NAME) => BUILT_IN_NAME.to_owned(),
            Some(place) => format!("{}:{}", place.path.display(), place.line),
            None => "-".to_owned(),
        }
    }

    /// The filter that a word means: a name, or a file, whose relative path begins at `folder`.
    pub fn find(&self, word: &str, folder: &Path) -> Result<Saved, ConfigError> {
        let path = folder.join(word);
        let is_file =
            word.contains(['/', '\\']) || word.ends_with(".toml") || word.ends_with(".rhai");
        if let Some(named) = self.parts.get(word).filter(|_| !is_file) {
            let rule =
                self.resolve(&named.part, &mut vec![word]).map_err(|fault| one(fault.problem))?;
            return Ok(Saved { name: word.to_owned(), rule });
        }
        if is_file || path.is_file() {
            let rule = self.file(&path).map_err(ConfigError::new)?;
            return Ok(Saved { name: word.to_owned(), rule });
        }
        let fault = format!("{} (a file ends in .toml or .rhai)", self.unknown(word));
        Err(one(Problem { line: 0, text: fault }))
    }

    /// The filter of a file: a script, or a table whose names may be those of the configuration.
    fn file(&self, path: &Path) -> Result<Rule, Vec<Problem>> {
        if path.extension().is_some_and(|ending| ending == "rhai") {
            let name = PathBuf::from(path.file_name().unwrap_or_default());
            let mut reader = Reader::new(path, "");
            return match reader.script(0, &name.to_string_lossy()) {
                Some(rule) => Ok(rule),
                // What is missing stands in no line of another file.
                None => Err(reader.problems.into_iter().map(without_double).collect()),
            };
        }
        let text = match document::read(path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                let text = format!("{}: no such file", path.display());
                return Err(vec![Problem { line: 0, text }]);
            }
            Err(problem) => return Err(vec![problem]),
        };
        let document = Document::parse(text.as_str()).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let (line, column) = document::position(text.as_bytes(), at);
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            vec![Problem { line, text: format!("{}:{line}:{column}: {reason}", path.display()) }]
        })?;
        let mut reader = Reader::new(path, &text);
        let mut book = Book::default();
        book.parts.extend(self.parts.iter().map(|(name, named)| {
            let named = Named { part: named.part.clone(), place: named.place.clone() };
            (name.clone(), named)
        }));
        let root = document.as_table();
        if let Some(filters) = root.get("filters").and_then(|item| item.as_table_like()) {
            book.take(&mut reader, filters);
        }
        let mut rules = root.clone();
        rules.remove("filters");
        let part = reader.table(0, &rules);
        let mut problems = reader.problems;
        if problems.is_empty() {
            problems.extend(book.problems());
        }
        match part {
            Some(part) if problems.is_empty() => {
                book.resolve(&part, &mut Vec::new()).map_err(|fault| vec![fault.problem])
            }
            _ => Err(problems),
        }
    }
}

/// A script that is itself the file needs no line of another.
fn without_double(problem: Problem) -> Problem {
    let place = problem.text.split_once(":1: ").filter(|(_, rest)| rest.ends_with("no such file"));
    match place {
        Some((_, rest)) => Problem { line: 0, text: rest.to_owned() },
        None => problem,
    }
}

fn one(problem: Problem) -> ConfigError {
    ConfigError::new(vec![problem])
}
