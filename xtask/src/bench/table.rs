//! Aligned tables for people: first column left, the others right.

/// The rows under their heads, columns aligned.
pub fn aligned(heads: &[&str], rows: &[Vec<String>]) -> String {
    let heads: Vec<String> = heads.iter().map(ToString::to_string).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&heads).chain(rows).collect();
    let width = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..heads.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in all {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn columns_stand_under_their_heads() {
        let rows = [vec!["long name".into(), "1".into()], vec!["x".into(), "1,000".into()]];
        assert_eq!(
            aligned(&["who", "n"], &rows),
            "who            n\nlong name      1\nx          1,000\n"
        );
    }
}
