//! What was written, by whom, and where: the first of the two steps.
//!
//! Filled from the table of settings, the file and the flags; read by `values`, which says what
//! it means. Invariants: entries stand in rising priority, the last one of a key holds; an
//! entry that a later one replaces is still kept, so that a mistake in the file is reported
//! even where a flag hides it. Nothing here is checked except that the key exists.
//! Not here: the meaning of anything.

use super::keys::{KEYS, Key, Kind, Preset};
use std::fmt;
use std::path::{Path, PathBuf};

/// Who wrote a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nobody.
    Default,
    /// Nobody, but for a preset that somebody chose.
    Preset(&'static str),
    /// A line of a file.
    File { path: PathBuf, line: usize },
    /// A command-line flag of its own.
    Flag(&'static str),
    /// `--set KEY=VALUE`.
    Set,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Flag(name) => f.write_str(name),
            Self::Set => f.write_str("--set"),
        }
    }
}

/// A value as it was written, before anybody asks whether it fits.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    List(Vec<Raw>),
    /// A date or something nested, which no setting is.
    Other,
}

impl Raw {
    /// Takes over a value of the file.
    pub fn from_toml(value: &toml_edit::Value) -> Self {
        use toml_edit::Value;
        match value {
            Value::String(text) => Self::Text(text.value().clone()),
            Value::Integer(number) => Self::Integer(*number.value()),
            Value::Float(number) => Self::Float(*number.value()),
            Value::Boolean(flag) => Self::Flag(*flag.value()),
            Value::Array(list) => Self::List(list.iter().map(Self::from_toml).collect()),
            Value::Datetime(_) | Value::InlineTable(_) => Self::Other,
        }
    }

    /// Takes over the value of a flag, which a shell knows only as text.
    pub fn from_flag(kind: Kind, text: &str) -> Self {
        let text = text.trim();
        match kind {
            Kind::Count { .. } => {
                text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::Integer)
            }
            Kind::Flag => text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::Flag),
            Kind::Words { auto: true, .. } if text == "auto" => Self::Text(text.to_owned()),
            Kind::Words { .. } => match text.parse::<toml_edit::Value>() {
                Ok(list) if list.is_array() => Self::from_toml(&list),
                _ => {
                    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                    Self::List(words.map(|word| Self::Text(word.to_owned())).collect())
                }
            },
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Takes over the value of `--set`: as for a flag, or quoted as in the file.
    pub fn from_set(kind: Kind, text: &str) -> Self {
        match (text.trim().parse::<toml_edit::Value>(), kind) {
            (Ok(toml_edit::Value::String(quoted)), Kind::Words { .. }) => {
                Self::from_flag(kind, quoted.value())
            }
            (Ok(toml_edit::Value::String(quoted)), _) => Self::Text(quoted.value().clone()),
            _ => Self::from_flag(kind, text),
        }
    }
}

/// One written value.
#[derive(Debug)]
pub(super) struct Entry {
    /// Place in the table of settings.
    pub key: usize,
    /// The value; `None` where a limit has none.
    pub raw: Option<Raw>,
    /// The value as it stands in its source, short enough for a message.
    pub shown: String,
    /// Who wrote it.
    pub origin: Origin,
}

impl Entry {
    /// Something written as `source`.
    pub fn new(key: usize, raw: Raw, source: &str, origin: Origin) -> Self {
        let in_file = matches!(origin, Origin::File { .. });
        let shown = match (KEYS[key].kind, &raw) {
            // Escapes in the source must not hide where the password is.
            (Kind::Proxy, Raw::Text(text)) if in_file => short(&format!("{:?}", masked(text))),
            (Kind::Proxy, _) => short(&masked(source)),
            _ => short(source),
        };
        let shown = if source.trim().is_empty() { "\"\"".to_owned() } else { shown };
        Entry { key, raw: Some(raw), shown, origin }
    }

    /// The key.
    pub fn key(&self) -> &'static Key {
        &KEYS[self.key]
    }

    /// Names the entry in a sentence: `crawl.delay = "tenn"`, `--delay tenn`, or
    /// `--set crawl.delay=tenn`.
    pub fn named(&self) -> String {
        match &self.origin {
            Origin::Flag(flag) => format!("{flag} {}", self.shown),
            Origin::Set => format!("--set {}={}", self.key().name, self.shown),
            _ => format!("{} = {}", self.key().name, self.shown),
        }
    }

    /// The line of the file, 0 outside one.
    pub fn line(&self) -> usize {
        if let Origin::File { line, .. } = &self.origin { *line } else { 0 }
    }

    /// The folder where relative paths begin: that of the file, or the current one.
    pub fn folder(&self) -> &Path {
        match &self.origin {
            Origin::File { path, .. } => path.parent().unwrap_or(Path::new("")),
            _ => Path::new(""),
        }
    }

    /// A sentence about the entry, with its place.
    pub fn complain(&self, fault: &str) -> String {
        match &self.origin {
            Origin::File { .. } => format!("{}: {} {fault}", self.origin, self.named()),
            _ => format!("{} {fault}", self.named()),
        }
    }
}

/// Everything that was written, in rising priority.
#[derive(Debug)]
pub(super) struct Written {
    pub entries: Vec<Entry>,
}

impl Written {
    /// What holds before anybody writes anything.
    pub fn defaults() -> Self {
        let entry = |(key, row): (usize, &Key)| {
            let (raw, shown) = match row.preset {
                Preset::Is(text) => {
                    let value = text.parse::<toml_edit::Value>().expect("defaults are TOML");
                    (Some(Raw::from_toml(&value)), text.to_owned())
                }
                Preset::Unset { .. } => (None, "-".to_owned()),
            };
            Entry { key, raw, shown, origin: Origin::Default }
        };
        Self { entries: KEYS.iter().enumerate().map(entry).collect() }
    }
}

impl Written {
    /// Lets the settings of a preset hold where nobody has said anything else in a file, which counts up
    /// to `file`.
    pub fn prefer(&mut self, preset: &'static super::presets::Preset, file: usize) {
        let mut more = Vec::new();
        for (name, text) in preset.settings {
            let Some(key) = KEYS.iter().position(|key| key.name == *name) else { continue };
            let of_key = |entry: &&Entry| entry.key == key;
            let mut said = self.entries[..file].iter().filter(of_key);
            // A file from `config init` repeats every default.
            let default = said.next().and_then(|entry| entry.raw.clone());
            if said.next_back().is_some_and(|entry| entry.raw != default) {
                continue;
            }
            let value = text.parse::<toml_edit::Value>().expect("presets are TOML");
            let raw = Some(Raw::from_toml(&value));
            let origin = Origin::Preset(preset.name);
            more.push(Entry { key, raw, shown: (*text).to_owned(), origin });
        }
        self.entries.splice(file..file, more);
    }
}

/// Shortens a piece of source to what fits into a message.
pub(super) fn short(source: &str) -> String {
    const LONGEST: usize = 60;
    let line = source.lines().next().unwrap_or_default().trim_end();
    let kept: String = line.chars().take(LONGEST).filter(|c| !c.is_control()).collect();
    if kept.len() < source.trim_end().len() { kept + "…" } else { kept }
}

/// The URL of a proxy without its password, whether or not it is a proper one.
fn masked(url: &str) -> String {
    let Some(at) = url.rfind('@') else { return url.to_owned() };
    let start = url.find("://").map_or(0, |n| n + 3).min(at);
    match url[start..at].find(':') {
        Some(colon) => format!("{}***{}", &url[..=start + colon], &url[at..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_masked_however_badly_the_url_is_written() {
        for (url, shown) in [
            ("http://me:secret@proxy.test:1", "http://me:***@proxy.test:1"),
            ("http://me:se@cr/et@proxy.test", "http://me:***@proxy.test"),
            ("me:secret@proxy.test:1", "me:***@proxy.test:1"),
            ("htp:/me:secret@proxy.test:1", "htp:***@proxy.test:1"),
            ("http://me@proxy.test:1", "http://me@proxy.test:1"),
            ("@://", "@://"),
            ("http://proxy.test:1", "http://proxy.test:1"),
        ] {
            assert_eq!(masked(url), shown);
        }
    }
}
