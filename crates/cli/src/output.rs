//! What people see: sentences, tables, numbers.
//!
//! * Invariant: what comes from outside does not command the terminal. All text is cleaned where it is printed; of
//!   escapes only those of [`Style`] get through, and only by [`print_painted`], whose texts go through [`paint`] or
//!   [`clean`] before. Bytes that were asked for as they are ([`exact`]) are cleaned on a terminal alone.

#![allow(clippy::print_stdout, clippy::print_stderr)] // This module is where printing is done.

pub use argiope_model::figures::{bytes, count, plural, seconds};
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// How a text is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Bold,
    Faint,
    Red,
    Green,
    Struck,
}

impl Style {
    const ALL: [Style; 5] = [Style::Bold, Style::Faint, Style::Red, Style::Green, Style::Struck];
    /// Ends all of them.
    const END: &str = "\x1b[0m";

    fn begin(self) -> &'static str {
        match self {
            Style::Bold => "\x1b[1m",
            Style::Faint => "\x1b[2m",
            Style::Red => "\x1b[31m",
            Style::Green => "\x1b[32m",
            Style::Struck => "\x1b[31;9m",
        }
    }
}

/// What commands a terminal, or turns the letters behind it around. Marks of a direction (U+200E, U+200F) do neither.
fn is_wild(c: char) -> bool {
    let is_kept = matches!(c, '\n' | '\t');
    c.is_control() && !is_kept || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text that does not command the terminal: a space for what would.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_wild) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().filter_map(|c| match is_wild(c) {
        false => Some(c),
        true => c.is_control().then_some(' '),
    });
    Cow::Owned(kept.collect())
}

/// Cleans all texts of a row.
pub fn clean_row(row: &mut serde_json::Value) {
    use serde_json::Value;
    match row {
        Value::String(text) => {
            if let Cow::Owned(clean) = clean(text) {
                *text = clean;
            }
        }
        Value::Array(rows) => rows.iter_mut().for_each(clean_row),
        Value::Object(rows) => rows.values_mut().for_each(clean_row),
        _ => {}
    }
}

/// A text in a style; for [`print_painted`].
pub fn paint(style: Style, text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("{}{}{}", style.begin(), clean(text), Style::END),
    }
}

/// A line without any escape that is not one of ours.
fn clean_painted(line: &str) -> Cow<'_, str> {
    if !line.contains(is_wild) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&clean(&rest[..at]));
        rest = &rest[at..];
        let ours = Style::ALL.iter().map(|style| style.begin()).chain([Style::END]);
        let known = ours.into_iter().find(|escape| rest.starts_with(escape));
        out.push_str(known.unwrap_or(" "));
        rest = &rest[known.map_or(1, str::len)..];
    }
    out.push_str(&clean(rest));
    Cow::Owned(out)
}

/// JSON in which everything that could command a terminal is written as an escape of JSON.
pub fn json(row: &serde_json::Value) -> String {
    let text = row.to_string();
    if !text.contains(is_wild) {
        return text;
    }
    let written = |c: char| match is_wild(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    text.chars().map(written).collect()
}

/// Says something on stderr.
pub fn talk(line: impl AsRef<str>) {
    // Whoever listened may be gone; that is no reason to fall over.
    let _ = writeln!(io::stderr(), "{}", clean(line.as_ref()));
}

/// Writes over the line that stands on the terminal; an empty one clears it.
pub fn line(text: impl AsRef<str>) {
    let _ = write!(io::stderr(), "\r\x1b[K{}", clean(text.as_ref()));
}

/// Asks something; the answer is typed behind it.
pub fn ask(question: &str) {
    let mut out = std::io::stderr();
    let _ = write!(out, "{question}");
    let _ = out.flush();
}

/// Whether stdout is a terminal.
pub fn is_shown() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether stderr is a terminal on which a line can be written again and again.
pub fn on_terminal() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Whether the terminal says that it knows no escapes.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// Whether results are shown in colours: on a terminal that knows them, whose user has not asked for none
/// (<https://no-color.org>).
pub fn in_colour() -> bool {
    is_shown() && !is_dumb() && std::env::var_os("NO_COLOR").is_none_or(|said| said.is_empty())
}

/// The columns of the terminal; a usual number where there is none.
pub fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    said.or_else(seen).filter(|columns| *columns >= 20).unwrap_or(100)
}

/// The lines of the terminal; a usual number where there is none.
pub fn height() -> usize {
    let said = std::env::var("LINES").ok().and_then(|text| text.parse().ok());
    let seen = || terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
    said.or_else(seen).filter(|lines| *lines >= 8).unwrap_or(30)
}

/// Prints result lines on stdout.
pub fn print(lines: impl IntoIterator<Item = impl AsRef<str>>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines {
        writeln!(out, "{}", clean(line.as_ref()))?;
    }
    Ok(())
}

/// Prints result lines on stdout that may hold texts in a [`Style`].
pub fn print_painted(lines: impl IntoIterator<Item = impl AsRef<str>>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines {
        writeln!(out, "{}", clean_painted(line.as_ref()))?;
    }
    Ok(())
}

/// Prints rows as lines of JSON on stdout.
pub fn print_json(rows: &[serde_json::Value]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for row in rows {
        writeln!(out, "{}", json(row))?;
    }
    Ok(())
}

/// Stdout for bytes that were asked for as they are; a terminal gets them cleaned.
pub fn exact() -> Box<dyn Write> {
    let out = io::stdout().lock();
    match out.is_terminal() {
        true => Box::new(Tamed { out, rest: Vec::new() }),
        false => Box::new(out),
    }
}

/// Cleans what is written through it. A character may come in pieces.
struct Tamed<W: Write> {
    out: W,
    rest: Vec<u8>,
}

impl<W: Write> Write for Tamed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        // The beginning of a character waits for its end.
        let whole = match std::str::from_utf8(&self.rest) {
            Err(e) if e.error_len().is_none() => e.valid_up_to(),
            _ => self.rest.len(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).replace("\r\n", "\n");
        self.out.write_all(clean(&text).as_bytes())?;
        self.rest.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for Tamed<W> {
    fn drop(&mut self) {
        let _ = self.out.write_all(clean(&String::from_utf8_lossy(&self.rest)).as_bytes());
        let _ = self.out.flush();
    }
}

/// An error and its causes as one sentence.
pub fn sentence(e: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in e.chain() {
        let text = cause.to_string();
        // Some errors repeat their cause in their own text.
        if parts.iter().all(|p| !p.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

/// A text on one line, of at most `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The columns of a character on a terminal: letters of East Asia take two.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x202a..=0x202e | 0x2066..=0x2069 => 0,
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff => 2,
        0x2_0000..=0x3_fffd => 2,
        _ => 1,
    }
}

/// The columns of a text.
pub fn wide(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// A text with spaces behind it, so that it takes this many columns.
pub fn padded(text: &str, most: usize) -> String {
    format!("{text}{}", " ".repeat(most.saturating_sub(wide(text))))
}

/// The lines of a paragraph that take at most `most` columns each; words of East Asia are broken anywhere.
pub fn wrapped(text: &str, most: usize) -> Vec<String> {
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split_whitespace() {
        let gap = usize::from(used > 0);
        if used + gap + wide(word) <= most {
            line.push_str(&" "[..gap]);
            line.push_str(word);
            used += gap + wide(word);
            continue;
        }
        let is_broken = word.chars().any(|c| columns(c) == 2) || wide(word) > most;
        if !is_broken || used + gap + 2 > most {
            lines.push(std::mem::take(&mut line));
            used = 0;
        } else {
            line.push_str(&" "[..gap]);
            used += gap;
        }
        for c in word.chars() {
            if used + columns(c) > most {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += columns(c);
        }
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
}

/// A text on one line that takes at most `most` columns.
pub fn cut_wide(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if wide(&text) <= most {
        return text;
    }
    let mut room = most.saturating_sub(1);
    let kept = text.chars().take_while(|c| {
        let fits = columns(*c) <= room;
        room = room.saturating_sub(columns(*c));
        fits
    });
    kept.chain(['…']).collect()
}

/// A line of CSV (RFC 4180): what holds a comma, a quote or a line end stands in quotes.
pub fn csv_line(cells: impl IntoIterator<Item = String>) -> String {
    let quoted = |cell: String| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    cells.into_iter().map(quoted).collect::<Vec<_>>().join(",")
}

/// A table with a head, columns aligned; columns whose name starts with `>` to the right.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let names: Vec<&str> = head.iter().map(|h| h.trim_start_matches('>')).collect();
    let mut widths: Vec<usize> = names.iter().map(|n| wide(n)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(wide(cell));
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut out = String::new();
        for ((cell, width), name) in cells.zip(&widths).zip(head) {
            let pad = " ".repeat(width - wide(cell));
            let (left, right) =
                if name.starts_with('>') { (pad, String::new()) } else { (String::new(), pad) };
            out.push_str(&format!("{left}{cell}{right}  "));
        }
        out.trim_end().to_owned()
    };
    let mut out = vec![line(&mut names.iter().copied())];
    out.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_broken_between_words_and_east_asian_ones_anywhere() {
        assert_eq!(
            wrapped("an orb weaver sits  in its web", 12),
            ["an orb", "weaver sits", "in its web"]
        );
        assert_eq!(wrapped("蜘蛛在网上 等", 6), ["蜘蛛在", "网上", "等"]);
        assert_eq!(wrapped("https://example.org/", 8), ["https://", "example.", "org/"]);
        assert!(wrapped(" ", 8).is_empty());
    }

    #[test]
    fn what_comes_from_outside_does_not_command_the_terminal() {
        let title = "a\x1b]0;x\x07b\u{9b}31m\u{202e}c\u{2066}d\u{200f}\x7f\r\te\n";
        assert_eq!(clean(title), "a ]0;x b 31mcd\u{200f}  \te\n");
        let line = format!("{} {title}\x1b[8mx", paint(Style::Bold, "t\x1b[0mu"));
        assert_eq!(clean_painted(&line), "\x1b[1mt [0mu\x1b[0m a ]0;x b 31mcd\u{200f}  \te\n [8mx");
        let mut row = serde_json::json!({ "a": [title], "n": 1 });
        let written = json(&row);
        assert!(!written.contains(is_wild), "{written}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), row);
        clean_row(&mut row);
        assert_eq!(row["a"][0], clean(title).as_ref());
        let mut out = Vec::new();
        let mut tamed = Tamed { out: &mut out, rest: Vec::new() };
        for byte in "ä\x1b[2J\u{9b}\r\n蛛".bytes().chain([0xff, 0xe8]) {
            tamed.write_all(&[byte]).unwrap();
        }
        drop(tamed);
        assert_eq!(String::from_utf8(out).unwrap(), "ä [2J  \n蛛\u{fffd}\u{fffd}");
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_500_000), "1.5 MB");
        assert_eq!(seconds(200.0), "3 min 20 s");
    }

    #[test]
    fn texts_are_cut_between_characters_and_cells_are_quoted_where_they_must_be() {
        assert_eq!(cut("ein  Wört\n chen", 20), "ein Wört chen");
        assert_eq!(cut("ääää", 3), "ää…");
        assert_eq!(cut_wide("体育新闻 abc", 7), "体育新…");
        assert_eq!(cut_wide("体育新闻 abc", 12), "体育新闻 abc");
        let line = csv_line(["a".to_owned(), "b, \"c\"".to_owned(), "d\ne".to_owned()]);
        assert_eq!(line, "a,\"b, \"\"c\"\"\",\"d\ne\"");
    }

    #[test]
    fn tables_align() {
        let rows =
            vec![vec!["a".to_owned(), "10".to_owned()], vec!["long".to_owned(), "1".to_owned()]];
        assert_eq!(table(&["name", ">n"], &rows), ["name   n", "a     10", "long   1"]);
    }
}
