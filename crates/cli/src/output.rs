//! What people see: sentences, tables, numbers.

#![allow(clippy::print_stdout, clippy::print_stderr)] // This module is where printing is done.

pub use argiope_model::figures::{bytes, count, plural, seconds};
use std::io::{IsTerminal, Write};

/// Says something on stderr.
pub fn talk(line: impl AsRef<str>) {
    // Whoever listened may be gone; that is no reason to fall over.
    let _ = writeln!(std::io::stderr(), "{}", line.as_ref());
}

/// Writes over the line that stands on the terminal; an empty one clears it.
pub fn line(text: impl AsRef<str>) {
    let _ = write!(std::io::stderr(), "\r\x1b[K{}", text.as_ref());
}

/// Whether stdout is a terminal.
pub fn is_shown() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether stderr is a terminal.
pub fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Prints result lines on stdout.
pub fn print(lines: impl IntoIterator<Item = impl AsRef<str>>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in lines {
        writeln!(out, "{}", line.as_ref())?;
    }
    Ok(())
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
    let mut widths: Vec<usize> = names.iter().map(|n| n.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut out = String::new();
        for ((cell, width), name) in cells.zip(&widths).zip(head) {
            let pad = " ".repeat(width - cell.chars().count());
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
