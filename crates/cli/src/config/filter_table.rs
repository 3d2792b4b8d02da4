//! Filters as they stand in a file: from a table of TOML to rules whose names are not looked up yet.
//!
//! Called by `document` for `[filters.NAME]` and by `filters` for files of their own. Every fault names
//! its line and what to write instead; reading goes on behind it. What a rule needs from other files
//! (scripts, lists of domains) is read here, so that the rule is whole.
//! Not here: what names stand for (`filters`), and what rules mean (the crate `filter`).

use super::document::{key_start, position};
use super::nearest;
use super::problem::Problem;
use super::quantity::parse_size;
use super::words::{content, domain};
use super::written::short;
use argiope_filter::{Rule, check_regex, check_script};
use std::path::{Path, PathBuf};
use toml_edit::{Item, TableLike, Value};

/// The longest list of domains that is read, in bytes.
const MAX_LIST: u64 = 64 << 20;

/// Every rule that may be written.
pub(super) const RULES: &[&str] = &[
    "all",
    "any",
    "not",
    "filter",
    "domain",
    "domain_file",
    "prefix",
    "suffix",
    "protocol",
    "regex",
    "min_path_depth",
    "max_path_depth",
    "param",
    "no_param",
    "max_params",
    "only_params",
    "type",
    "min_size",
    "max_size",
    "language",
    "script",
];

/// A rule, or a name that stands for one.
#[derive(Clone, Debug)]
pub(super) enum Part {
    All(Vec<Part>),
    Any(Vec<Part>),
    Not(Box<Part>),
    /// A name, and the place where it is used.
    Use(String, Place),
    Ready(Rule),
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub path: PathBuf,
    pub line: usize,
}

impl Place {
    /// A sentence about the place.
    pub fn complain(&self, fault: &str) -> Problem {
        let text = format!("{}:{}: {fault}", self.path.display(), self.line);
        Problem { line: self.line, text }
    }
}

/// Reads tables of one file.
pub(super) struct Reader<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    pub problems: Vec<Problem>,
    /// Expressions are known to be good: a test has seen to that.
    pub trusted: bool,
}

impl<'a> Reader<'a> {
    pub fn new(path: &'a Path, text: &'a str) -> Self {
        Reader { path, text, problems: Vec::new(), trusted: false }
    }
}

impl Reader<'_> {
    pub fn place(&self, at: usize) -> Place {
        let line = position(self.text.as_bytes(), at).0;
        Place { path: self.path.to_owned(), line }
    }

    fn complain(&mut self, at: usize, fault: &str) {
        let problem = self.place(at).complain(fault);
        self.problems.push(problem);
    }

    /// The rule of a table: all that its lines say. `None` where one cannot be read.
    pub fn table(&mut self, at: usize, rows: &dyn TableLike) -> Option<Part> {
        let mut parts = Vec::new();
        let mut whole = true;
        for (word, item) in rows.iter() {
            let at = key_start(rows, word);
            match self.rule(at, word, item) {
                Some(part) => parts.push(part),
                None => whole = false,
            }
        }
        if parts.is_empty() && whole {
            self.complain(at, &format!("a filter without a rule; rules are {}", RULES.join(", ")));
        }
        match parts.len() {
            _ if !whole => None,
            0 => None,
            1 => parts.pop(),
            _ => Some(Part::All(parts)),
        }
    }

    fn rule(&mut self, at: usize, word: &str, item: &Item) -> Option<Part> {
        if !RULES.contains(&word) {
            let hint = nearest::word(word, RULES.iter().copied()).map_or_else(
                || format!("; rules are {}", RULES.join(", ")),
                |near| format!("; did you mean {near}?"),
            );
            self.complain(at, &format!("{} is not a rule of a filter{hint}", short(word)));
            return None;
        }
        match word {
            "all" => self.parts(at, word, item).map(Part::All),
            "any" => self.parts(at, word, item).map(Part::Any),
            "not" => {
                let mut parts = self.parts(at, word, item)?;
                let one = if parts.len() == 1 { parts.pop()? } else { Part::Any(parts) };
                Some(Part::Not(Box::new(one)))
            }
            "filter" => {
                let names = self.words(at, word, item, false)?;
                let place = self.place(at);
                let mut uses: Vec<Part> =
                    names.into_iter().map(|name| Part::Use(name, place.clone())).collect();
                if uses.len() == 1 { uses.pop() } else { Some(Part::Any(uses)) }
            }
            _ => self.leaf(at, word, item),
        }
    }

    /// The members of `all`, `any` and `not`: tables, or names of filters.
    fn parts(&mut self, at: usize, word: &str, item: &Item) -> Option<Vec<Part>> {
        let mut out = Vec::new();
        let mut whole = true;
        let mut take = |part: Option<Part>| match part {
            Some(part) => out.push(part),
            None => whole = false,
        };
        match item {
            Item::Value(Value::Array(list)) => {
                for value in list {
                    let at = value.span().map_or(at, |span| span.start);
                    take(self.member(at, word, value));
                }
            }
            Item::Value(value) => take(self.member(at, word, value)),
            Item::Table(table) => take(self.table(at, table)),
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    let at = table.span().map_or(at, |span| span.start);
                    take(self.table(at, table));
                }
            }
            Item::None => {}
        }
        if out.is_empty() && whole {
            self.complain(
                at,
                &format!("{word} needs a rule at least: {word} = [{{ domain = \"example.org\" }}]"),
            );
            return None;
        }
        whole.then_some(out)
    }

    fn member(&mut self, at: usize, word: &str, value: &Value) -> Option<Part> {
        match value {
            Value::InlineTable(table) => self.table(at, table),
            Value::String(name) => Some(Part::Use(name.value().clone(), self.place(at))),
            _ => {
                let fault = format!("{word} holds rules in braces, or names of filters in quotes");
                self.complain(at, &fault);
                None
            }
        }
    }

    /// One text or a list of them.
    fn words(
        &mut self,
        at: usize,
        word: &str,
        item: &Item,
        may_be_empty: bool,
    ) -> Option<Vec<String>> {
        let texts: Option<Vec<String>> = match item {
            Item::Value(Value::String(text)) => Some(vec![text.value().clone()]),
            Item::Value(Value::Array(list)) => {
                list.iter().map(|value| value.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        };
        match texts {
            Some(texts) if texts.is_empty() && !may_be_empty => {
                self.complain(at, &format!("{word} is empty; it would let nothing through"));
                None
            }
            Some(texts) => Some(texts),
            None => {
                self.complain(at, &format!("{word} is not a text in quotes, or a list of them"));
                None
            }
        }
    }

    fn number(&mut self, at: usize, word: &str, item: &Item) -> Option<u32> {
        let number = item.as_integer().and_then(|n| u32::try_from(n).ok());
        if number.is_none() {
            self.complain(at, &format!("{word} is not a whole number, such as {word} = 5"));
        }
        number
    }

    fn size(&mut self, at: usize, word: &str, item: &Item) -> Option<u64> {
        let text = match item {
            Item::Value(Value::Integer(n)) => n.value().to_string(),
            item => item.as_str().unwrap_or_default().to_owned(),
        };
        match parse_size(&text) {
            Ok(size) => Some(size),
            Err(fault) => {
                self.complain(at, &format!("{word} is {fault}"));
                None
            }
        }
    }

    fn leaf(&mut self, at: usize, word: &str, item: &Item) -> Option<Part> {
        let rule = match word {
            "domain" => {
                let names = self.words(at, word, item, false)?;
                Rule::Domain(self.domains(at, names)?)
            }
            "domain_file" => Rule::Domain(self.domain_files(at, word, item)?),
            "prefix" => {
                let prefixes = self.words(at, word, item, false)?;
                self.each(at, &prefixes, |text| {
                    let whole = text.starts_with("http://") || text.starts_with("https://");
                    (!whole && !text.starts_with('/')).then(|| {
                        format!("prefix {:?} begins neither with https:// nor with /", short(text))
                    })
                })?;
                Rule::Prefix(prefixes)
            }
            "suffix" => Rule::Suffix(self.words(at, word, item, false)?),
            "protocol" => {
                let names = self.words(at, word, item, false)?;
                self.each(at, &names, |name| {
                    let known = name == "http" || name == "https";
                    (!known).then(|| format!("protocol {:?} is not http or https", short(name)))
                })?;
                Rule::Protocol(names)
            }
            "regex" => {
                let texts = self.words(at, word, item, false)?;
                let untested = if self.trusted { &[][..] } else { &texts };
                self.each(at, untested, |text| {
                    let wrong = check_regex(text).err()?;
                    Some(format!("regex {:?} is not an expression: {wrong}", short(text)))
                })?;
                Rule::Regex(texts)
            }
            "min_path_depth" => Rule::MinPathDepth(self.number(at, word, item)?),
            "max_path_depth" => Rule::MaxPathDepth(self.number(at, word, item)?),
            "param" => Rule::Param(self.words(at, word, item, false)?),
            "no_param" => Rule::Not(Box::new(Rule::Param(self.words(at, word, item, false)?))),
            "max_params" => Rule::MaxParams(self.number(at, word, item)?),
            "only_params" => Rule::OnlyParams(self.words(at, word, item, true)?),
            "type" => {
                let words = self.words(at, word, item, false)?;
                self.each(at, &words, |word| {
                    let fault = "is not a kind of content such as \"html\" or \"image/png\"";
                    content(word).is_none().then(|| format!("type {:?} {fault}", short(word)))
                })?;
                Rule::Type(words.iter().filter_map(|word| content(word)).collect())
            }
            "min_size" => Rule::MinSize(self.size(at, word, item)?),
            "max_size" => Rule::MaxSize(self.size(at, word, item)?),
            "language" => {
                let words = self.words(at, word, item, false)?;
                self.each(at, &words, |word| {
                    let good = word == "unknown"
                        || word.split(['-', '_']).next().is_some_and(|tag| {
                            (2..=3).contains(&tag.len())
                                && tag.bytes().all(|b| b.is_ascii_alphabetic())
                        });
                    let fault = "is not a language such as \"en\", nor \"unknown\"";
                    (!good).then(|| format!("language {:?} {fault}", short(word)))
                })?;
                Rule::Language(words.iter().map(|word| word.to_ascii_lowercase()).collect())
            }
            "script" => {
                let files = self.words(at, word, item, false)?;
                let scripts = files.iter().map(|file| self.script(at, file));
                let mut scripts: Vec<Rule> = scripts.collect::<Option<_>>()?;
                if scripts.len() == 1 { scripts.pop()? } else { Rule::Any(scripts) }
            }
            other => unreachable!("{other} stands in the table of rules"),
        };
        Some(Part::Ready(rule))
    }

    /// Complains of every text that has a fault.
    fn each(
        &mut self,
        at: usize,
        texts: &[String],
        fault: impl Fn(&str) -> Option<String>,
    ) -> Option<()> {
        let faults: Vec<String> = texts.iter().filter_map(|text| fault(text)).collect();
        faults.iter().for_each(|fault| self.complain(at, fault));
        faults.is_empty().then_some(())
    }

    fn domains(&mut self, at: usize, names: Vec<String>) -> Option<Vec<String>> {
        let named: Vec<Option<String>> = names.iter().map(|name| domain(name)).collect();
        self.each(at, &names, |name| {
            let fault = "is not a domain; write for example \"example.org\"";
            domain(name).is_none().then(|| format!("domain {:?} {fault}", short(name)))
        })?;
        named.into_iter().collect()
    }

    /// The domains of files, one a line.
    fn domain_files(&mut self, at: usize, word: &str, item: &Item) -> Option<Vec<String>> {
        let mut all = Vec::new();
        for file in self.words(at, word, item, false)? {
            let text = self.file(at, &file, MAX_LIST)?;
            let path = self.beside(&file);
            let mut bad = Vec::new();
            for (n, line) in text.lines().enumerate() {
                let name = line.split('#').next().unwrap_or_default().trim();
                match domain(name) {
                    Some(name) => all.push(name),
                    None if name.is_empty() => {}
                    None => bad.push((n + 1, short(name))),
                }
            }
            for (line, name) in bad.iter().take(5) {
                let place = Place { path: path.clone(), line: *line };
                self.problems.push(place.complain(&format!("{name:?} is not a domain")));
            }
            if !bad.is_empty() {
                return None;
            }
        }
        if all.is_empty() {
            self.complain(at, "there is no domain in the file; it would let nothing through");
            return None;
        }
        all.sort();
        all.dedup();
        Some(all)
    }

    pub fn script(&mut self, at: usize, file: &str) -> Option<Rule> {
        let text = self.file(at, file, 1 << 20)?;
        let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
        match check_script(&name, &text) {
            Ok(()) => Some(Rule::Script { name: name.into_owned(), text }),
            Err((line, what)) => {
                let place = Place { path: self.beside(file), line };
                self.problems.push(place.complain(&what));
                None
            }
        }
    }

    /// Relative paths begin where the file lies.
    fn beside(&self, file: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(file)
    }

    fn file(&mut self, at: usize, file: &str, most: u64) -> Option<String> {
        let path = self.beside(file);
        match super::document::read_up_to(&path, most) {
            Ok(Some(text)) => Some(text),
            Ok(None) => {
                self.complain(at, &format!("{}: no such file", path.display()));
                None
            }
            Err(problem) => {
                self.complain(at, &problem.text);
                None
            }
        }
    }
}
