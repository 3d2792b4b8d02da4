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

mod document;
mod keys;
mod nearest;
mod problem;
mod quantity;
mod settings;
mod template;
#[cfg(test)]
mod tests;
mod values;
mod written;

pub use problem::ConfigError;
#[allow(unused_imports, reason = "the module's interface; no command needs all of it")]
pub use quantity::{human_duration, human_size, parse_duration, parse_size};
#[allow(unused_imports, reason = "the module's interface; no command needs all of it")]
pub use settings::{Archive, Crawl, Fetch, Settings, SkipExtensions, Store};
pub use template::template;

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

/// A valid configuration and where it came from.
#[derive(Debug)]
pub struct Loaded {
    /// What the engine gets.
    pub settings: Settings,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    rows: Vec<Row>,
}

impl Loaded {
    /// Every setting with its value and its origin, in the order of the template.
    pub fn rows(&self) -> &[Row] {
        &self.rows
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

/// Loads the configuration: the file `--config` names, else `argiope.toml` here, else the one
/// in the data directory, else none; then the flags.
pub fn load(
    config_flag: Option<&Path>,
    data_dir: &Path,
    overrides: &[Override],
) -> Result<Loaded, ConfigError> {
    load_beside(Path::new(""), config_flag, data_dir, overrides)
}

/// Loads the configuration with a current directory of the caller's choice.
fn load_beside(
    here: &Path,
    config_flag: Option<&Path>,
    data_dir: &Path,
    overrides: &[Override],
) -> Result<Loaded, ConfigError> {
    let mut written = Written::defaults();
    let mut problems = Vec::new();
    let mut file = None;
    match find_file(here, config_flag, data_dir) {
        Ok(Some((path, text))) => {
            let (entries, faults) = document::entries(&path, &text);
            written.entries.extend(entries);
            problems.extend(faults);
            file = Some(path);
        }
        Ok(None) => {}
        Err(problem) => problems.push(problem),
    }
    for (name, value, flag) in overrides {
        match keys::KEYS.iter().position(|key| key.name == *name) {
            Some(key) => written.entries.push(Entry {
                key,
                raw: Some(Raw::from_flag(keys::KEYS[key].kind, value)),
                shown: if value.trim().is_empty() { "\"\"".to_owned() } else { short(value) },
                origin: Origin::Flag(flag),
            }),
            None => {
                let text = format!("{flag}: {name} is not a setting");
                problems.push(Problem { line: 0, text });
            }
        }
    }
    let holding = Holding::of(&written, &mut problems);
    holding.check(&mut problems);
    if !problems.is_empty() {
        return Err(ConfigError::new(problems));
    }
    let row = |key: &keys::Key| {
        let (entry, value) = holding.get(key.name);
        let (text, json, origin) = (value.to_string(), value.to_json(), entry.origin.to_string());
        Row { key: key.name, value: text, json, origin, help: key.help }
    };
    let rows = keys::KEYS.iter().map(row).collect();
    Ok(Loaded { settings: holding.settings(), file, rows })
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
