//! The configuration file: from bytes to what was written in it.
//!
//! Called by `load`. Reads the file, finds its syntax errors, and takes over every value with
//! its line. Reading goes on behind a mistake: the faulty line (for a faulty table header, its
//! section) is blanked in place and the rest read again, so that line numbers stay true and all
//! mistakes are told at once. Where a mistake cannot be pinned to its line, as in a list that
//! is never closed, reading stops rather than blame innocent lines.
//! Not here: whether the values fit (`values`).

use super::filter_table::Reader;
use super::filters::Book;
use super::keys::{KEYS, TABLES};
use super::nearest;
use super::problem::Problem;
use super::written::{Entry, Origin, Raw, short};
use std::io::{self, Read};
use std::path::Path;
use toml_edit::{Document, Item, TableLike, TomlError};

/// Larger files are not configurations.
pub const MAX_BYTES: u64 = 1_000_000;
/// Mistakes in syntax that are looked for in one file.
const MAX_FAULTS: usize = 50;
/// The table of filters, which holds no settings.
const FILTERS: &str = "filters";

/// Reads a file as text; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, Problem> {
    read_up_to(path, MAX_BYTES)
}

/// The same, up to a length.
pub(super) fn read_up_to(path: &Path, most: u64) -> Result<Option<String>, Problem> {
    let place = path.display();
    let fail = |line, text| Problem { line, text };
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path);
    match opened.and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(0, format!("{place}: {}", unreadable(&error)))),
        Ok(_) if bytes.len() as u64 > most => {
            let mega = most / 1_000_000;
            let what = if most == MAX_BYTES { "configuration file" } else { "file of a filter" };
            return Err(fail(0, format!("{place}: too large for a {what} ({mega} MB)")));
        }
        Ok(_) => {}
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let (line, column) = position(error.as_bytes(), error.utf8_error().valid_up_to());
        fail(line, format!("{place}:{line}:{column}: this is not UTF-8 text; save it as UTF-8"))
    })
}

/// Says why a file cannot be read, without the number of the error.
fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "cannot be read: you have no permission".to_owned(),
        io::ErrorKind::IsADirectory => "cannot be read: it is a directory".to_owned(),
        _ => {
            let text = error.to_string();
            let reason = text.split(" (os error").next().unwrap_or_default();
            format!("cannot be read: {reason}")
        }
    }
}

/// Takes over everything a file says, and everything that is wrong with how it says it.
pub(super) fn entries(path: &Path, text: &str, book: &mut Book) -> (Vec<Entry>, Vec<Problem>) {
    let mut walk = Walk { path, text, book, entries: Vec::new(), problems: Vec::new() };
    let mut twice: Vec<usize> = Vec::new();
    // Blanked lines keep their length, so offsets mean the same in both texts.
    let mut readable = text.to_owned();
    for _ in 0..MAX_FAULTS {
        let error = match Document::parse(readable.as_str()) {
            Ok(document) => {
                walk.root(document.as_table());
                walk.duplicates(&twice, document.as_table());
                break;
            }
            Err(error) => error,
        };
        let at = error.span().map_or(readable.len(), |span| span.start).min(readable.len());
        let line = line_around(&readable, at);
        let duplicate = error.message().starts_with("duplicate key");
        if duplicate {
            twice.push(at);
        } else {
            walk.syntax(&error, at);
        }
        let alone = &readable[line.clone()];
        let own_fault = Document::parse(alone).is_err() && !alone.trim().is_empty();
        if !duplicate && !own_fault {
            break;
        }
        let end = if alone.trim_start().starts_with('[') {
            section_end(&readable, line.end)
        } else {
            line.end
        };
        let blank: String = readable[line.start..end]
            .chars()
            .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()))
            .collect();
        readable.replace_range(line.start..end, &blank);
    }
    (walk.entries, walk.problems)
}

/// The walk over a file's tables.
struct Walk<'a> {
    path: &'a Path,
    text: &'a str,
    book: &'a mut Book,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn line(&self, at: usize) -> usize {
        position(self.text.as_bytes(), at).0
    }

    fn complain(&mut self, at: usize, fault: &str) {
        let line = self.line(at);
        let text = format!("{}:{line}: {fault}", self.path.display());
        self.problems.push(Problem { line, text });
    }

    fn syntax(&mut self, error: &TomlError, at: usize) {
        let (line, column) = position(self.text.as_bytes(), at);
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        let text = format!("{}:{line}:{column}: {reason}", self.path.display());
        self.problems.push(Problem { line, text });
    }

    fn root(&mut self, root: &dyn TableLike) {
        for (name, item) in root.iter() {
            let at = key_start(root, name);
            let known = TABLES.iter().any(|(table, _)| *table == name);
            match (item.as_table_like(), known) {
                (Some(filters), _) if name == FILTERS => {
                    let (path, text) = (self.path, self.text);
                    let mut reader = Reader::new(path, text);
                    self.book.take(&mut reader, filters);
                    self.problems.extend(reader.problems);
                }
                (Some(table), true) => self.table(name, table),
                (Some(_), false) => self.unknown_table(at, name),
                (None, true) => {
                    self.complain(at, &format!("{name} is a table; write [{name}] alone on a line"))
                }
                (None, false) => self.unknown_key(at, &plain(name)),
            }
        }
    }

    fn table(&mut self, table: &str, rows: &dyn TableLike) {
        for (leaf, item) in rows.iter() {
            let name = format!("{table}.{}", plain(leaf));
            let at = key_start(rows, leaf);
            match (KEYS.iter().position(|key| key.name == name), item) {
                (Some(key), Item::Value(value)) if !value.is_inline_table() => {
                    let source = value.span().and_then(|span| self.text.get(span));
                    let origin = Origin::File { path: self.path.into(), line: self.line(at) };
                    let raw = Raw::from_toml(value);
                    self.entries.push(Entry::new(key, raw, source.unwrap_or_default(), origin));
                }
                (Some(_), _) => {
                    let fault = format!("{name} is a setting, not a table; write {leaf} = …");
                    self.complain(at, &format!("{fault} below [{table}]"));
                }
                (None, _) => self.unknown_key(at, &name),
            }
        }
    }

    fn unknown_key(&mut self, at: usize, name: &str) {
        let hint = nearest::hint(name);
        self.complain(at, &format!("{name} is not a setting{hint}"));
    }

    fn unknown_table(&mut self, at: usize, name: &str) {
        let tables: Vec<_> = TABLES.iter().map(|(table, _)| *table).collect();
        let hint = match (nearest::table(name), nearest::setting(name)) {
            (Some(near), _) => format!("did you mean [{near}]?"),
            (None, Some(key)) => format!("did you mean the setting {key}?"),
            (None, None) => format!("the tables are {}", tables.join(", ")),
        };
        self.complain(at, &format!("[{}] is not a table of settings; {hint}", plain(name)));
    }

    /// Reports keys and tables that stand twice, now that the first ones are known.
    fn duplicates(&mut self, twice: &[usize], root: &dyn TableLike) {
        for &at in twice {
            let line = &self.text[line_around(self.text, at)];
            let header = line.trim_start().starts_with('[');
            let written = if header {
                line.trim().trim_matches(['[', ']'])
            } else {
                line.split('=').next().unwrap_or_default()
            };
            let written = short(written.trim());
            let table = root
                .iter()
                .filter_map(|(name, item)| Some((item.as_table()?.span()?.start, name)))
                .filter(|(start, _)| *start < at && !header)
                .max();
            let name = match table {
                Some((_, table)) => format!("{table}.{written}"),
                None => written,
            };
            let first = self
                .entries
                .iter()
                .find(|entry| entry.key().name == name)
                .map(Entry::line)
                .or_else(|| root.get(&name).map(|_| self.line(key_start(root, &name))));
            let first = first.map_or_else(String::new, |n| format!("; the first is in line {n}"));
            self.complain(at, &format!("{name} is written twice{first}"));
        }
    }
}

/// A name from the file, harmless on a terminal.
fn plain(name: &str) -> String {
    let bare = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        short(name)
    } else {
        short(&format!("{name:?}"))
    }
}

pub(super) fn key_start(table: &dyn TableLike, name: &str) -> usize {
    table.key(name).and_then(|key| key.span()).map_or(0, |span| span.start)
}

/// The line that holds an offset, without its end.
fn line_around(text: &str, at: usize) -> std::ops::Range<usize> {
    let bytes = text.as_bytes();
    let start = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    let end = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n);
    start..end
}

/// Where the next table begins behind an offset at the end of a line.
fn section_end(text: &str, from: usize) -> usize {
    let mut end = from;
    for line in text[from..].split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            break;
        }
        end += line.len();
    }
    end
}

/// Line and column of an offset, both from 1.
pub(super) fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |n| n + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_permission_is_named_as_such() {
        let denied = io::Error::from_raw_os_error(13);
        assert_eq!(unreadable(&denied), "cannot be read: you have no permission");
        let other = io::Error::from_raw_os_error(5);
        assert!(!unreadable(&other).contains("os error"));
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(position("ä = ß".as_bytes(), 5), (1, 5));
        assert_eq!(position(b"a\nb\n", 4), (3, 1));
        assert_eq!(position(b"", 9), (1, 1));
    }
}
