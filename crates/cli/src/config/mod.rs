//! The configuration: defaults, then `argiope.toml`, then flags.
//!
//! Two steps. First what was written, with its origin (`written`, filled from the table of
//! settings in `keys`, from the file by `document`, and from flags); then what it means,
//! validated (`values` for each, `settings` for all). Only the second, [`Settings`], reaches
//! the engine. Commands call [`load`]; `config init` writes [`template()`]; `config show` prints
//! [`Loaded::rows`].
//!
//! Invariants: every setting is a row of one table; nothing unknown is passed over in silence;
//! all mistakes are told at once, each with its line. The environment is not consulted.
//! Not here: flags themselves, exit codes, and writing files.

mod cdn;
mod document;
mod filter_table;
mod filters;
mod keys;
mod nearest;
mod presets;
mod problem;
mod quantity;
mod recipes;
mod settings;
mod template;
#[cfg(test)]
mod tests;
mod values;
mod words;
mod written;

pub use document::MAX_BYTES as MAX_CONFIG_BYTES;
pub use filters::{Book, NONE as NO_FILTER};
pub(crate) use nearest::within_reach;
pub use presets::{PRESETS, preset};
pub use problem::ConfigError;
#[allow(unused_imports, reason = "the module's interface; no command needs all of it")]
pub use quantity::{human_duration, human_size, parse_duration, parse_size};
pub use recipes::{is_site, read_recipes, recipes_of, shipped_recipes};
#[allow(unused_imports, reason = "the module's interface; no command needs all of it")]
pub use settings::{Archive, Crawl, Fetch, Index, Settings, SkipExtensions, Store};
pub use template::template;

use argiope_filter::Saved;
use problem::Problem;
use settings::Holding;
use std::path::{Path, PathBuf};
use written::{Entry, Origin, Raw, Written, short};

/// The name of the file where none is given.
pub const FILE_NAME: &str = "argiope.toml";

/// A flag's word on a setting: the key (`crawl.delay`), the value as text, the flag (`--delay`).
///
/// Lists are written with commas (`html,text`). The last word on a key holds.
pub type Override = (&'static str, String, &'static str);

/// What the command line says of settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags<'a> {
    /// Flags that stand for one setting each.
    pub own: &'a [Override],
    /// The values of `--set`: `crawl.delay=5s`. A setting must not have a flag as well.
    pub set: &'a [String],
}

/// A valid configuration and where it came from.
#[derive(Debug)]
pub struct Loaded {
    /// What the engine gets.
    pub settings: Settings,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    /// All filters that have a name.
    pub filters: Book,
    /// The filter that `crawl.filter` means; `Some(None)`: that there shall be none.
    pub filter: Option<Option<Saved>>,
    rows: Vec<Row>,
}

impl Loaded {
    /// Every setting with its value and its origin, in the order of the template.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether somebody has said a setting, by a flag or in a file.
    pub fn is_said(&self, key: &str) -> bool {
        self.rows.iter().any(|row| row.key == key && row.origin != "default")
    }
}

/// One setting as `config show` prints it; as JSON, `value` keeps its type.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Row {
    /// Table and key.
    pub key: &'static str,
    /// The value for people; `-` where a limit is not set.
    #[serde(skip)]
    pub value: String,
    /// The value for programs: `null` where a limit is not set.
    #[serde(rename = "value")]
    pub json: serde_json::Value,
    /// `default`, `argiope.toml:12`, or the flag.
    pub origin: String,
    /// One line about the setting.
    pub help: &'static str,
}

/// What holds where nobody wrote anything.
pub fn defaults() -> Settings {
    Holding::of(&Written::defaults(), &mut Vec::new()).settings()
}

/// Loads the configuration: the file `--config` names, else `argiope.toml` here, else the one
/// in the data directory, else none; then the flags.
pub fn load(
    config_flag: Option<&Path>,
    data_dir: &Path,
    flags: Flags<'_>,
) -> Result<Loaded, ConfigError> {
    load_beside(Path::new(""), config_flag, data_dir, flags)
}

/// Loads the configuration with a current directory of the caller's choice.
fn load_beside(
    here: &Path,
    config_flag: Option<&Path>,
    data_dir: &Path,
    flags: Flags<'_>,
) -> Result<Loaded, ConfigError> {
    let mut written = Written::defaults();
    let mut problems = Vec::new();
    let mut file = None;
    let mut book = Book::built_in();
    match find_file(here, config_flag, data_dir) {
        Ok(Some((path, text))) => {
            let (entries, faults) = document::entries(&path, &text, &mut book);
            written.entries.extend(entries);
            problems.extend(faults);
            // Where a rule cannot be read, names may be missing for that reason alone.
            if problems.is_empty() {
                problems.extend(book.problems());
            }
            file = Some(path);
        }
        Ok(None) => {}
        Err(problem) => problems.push(problem),
    }
    let before = written.entries.len();
    for (name, value, flag) in flags.own {
        match position(name) {
            Some(key) => {
                let raw = Raw::from_flag(keys::KEYS[key].kind, value);
                written.entries.push(Entry::new(key, raw, value, Origin::Flag(flag)));
            }
            None => complain(&mut problems, format!("{flag}: {name} is not a setting")),
        }
    }
    let own = before..written.entries.len();
    for set in flags.set {
        match read_set(set) {
            Ok(entry) => {
                let twin = written.entries[own.clone()].iter().find(|own| own.key == entry.key);
                if let Some(twin) = twin {
                    complain(
                        &mut problems,
                        entry.complain(&format!(
                            "and {} set the same; give one of them",
                            twin.named()
                        )),
                    );
                }
                written.entries.push(entry);
            }
            Err(fault) => complain(&mut problems, fault),
        }
    }
    let chosen = written.entries.iter().rev().find(|e| e.key().name == "crawl.preset");
    let chosen = chosen.and_then(|entry| match &entry.raw {
        Some(Raw::Text(name)) => preset(&name.to_ascii_lowercase()),
        _ => None,
    });
    if let Some(preset) = chosen {
        written.prefer(preset, before);
    }
    let holding = Holding::of(&written, &mut problems);
    holding.check(&mut problems);
    if !problems.is_empty() {
        return Err(ConfigError::new(problems));
    }
    let filter = filter_of(&holding, &book)?;
    let row = |key: &keys::Key| {
        let (entry, value) = holding.get(key.name);
        let (text, json, origin) = (value.to_string(), value.to_json(), entry.origin.to_string());
        Row { key: key.name, value: text, json, origin, help: key.help }
    };
    let rows = keys::KEYS.iter().map(row).collect();
    let mut settings = holding.settings();
    settings.news.sites = data_dir.join("news").join("sites.toml");
    Ok(Loaded { settings, file, filters: book, filter, rows })
}

/// The filter that `crawl.filter` means.
fn filter_of(holding: &Holding<'_>, book: &Book) -> Result<Option<Option<Saved>>, ConfigError> {
    let (entry, value) = holding.get("crawl.filter");
    match value.to_string().as_str() {
        "\"\"" => Ok(None),
        NO_FILTER => Ok(Some(None)),
        word => match book.find(word, entry.folder()) {
            Ok(filter) => Ok(Some(Some(filter))),
            Err(error) => {
                // What stands in a file of its own names its place; a name is the setting's fault.
                let own = error.lines().all(|line| line.starts_with("there is no filter"));
                let fault = |line: &str| match own {
                    true => entry.complain(&format!("is not known: {line}")),
                    false => line.to_owned(),
                };
                let line = entry.line();
                let problems = error.lines().map(|text| Problem { line, text: fault(text) });
                Err(ConfigError::new(problems.collect()))
            }
        },
    }
}

/// Reads a value of `--set`.
fn read_set(set: &str) -> Result<Entry, String> {
    let Some((name, value)) = set.split_once('=') else {
        let set = short(set);
        return Err(format!("--set {set} is not KEY=VALUE; write for example crawl.delay=5s"));
    };
    let name = name.trim();
    let Some(key) = position(name) else {
        let name = short(name);
        return Err(format!("--set: {name} is not a setting{}", nearest::hint(&name)));
    };
    Ok(Entry::new(key, Raw::from_set(keys::KEYS[key].kind, value), value, Origin::Set))
}

fn position(name: &str) -> Option<usize> {
    keys::KEYS.iter().position(|key| key.name == name)
}

/// Notes something that stands in no line.
fn complain(problems: &mut Vec<Problem>, text: String) {
    problems.push(Problem { line: 0, text });
}

/// The file that holds, with its text.
fn find_file(
    here: &Path,
    config_flag: Option<&Path>,
    data_dir: &Path,
) -> Result<Option<(PathBuf, String)>, Problem> {
    if let Some(path) = config_flag {
        return match document::read(path)? {
            Some(text) => Ok(Some((path.to_owned(), text))),
            None => Err(Problem { line: 0, text: format!("{}: no such file", path.display()) }),
        };
    }
    for path in [here.join(FILE_NAME), data_dir.join(FILE_NAME)] {
        if let Some(text) = document::read(&path)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}
