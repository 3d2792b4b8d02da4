//! The nearest known name to one that is not known.
//!
//! Called when a file or a flag names a setting, a table or a word that does not exist. A slip is a
//! letter too many, missing, wrong, or two letters swapped; names further away than a third of
//! their letters are not suggested, since a wild guess helps nobody.
//! Not here: what the suggestion is for.

use super::keys::{KEYS, TABLES};

/// The setting somebody meant by `table.key`, or by `key` outside any table.
pub(super) fn setting(written: &str) -> Option<&'static str> {
    let (table, leaf) = written.split_once('.').unwrap_or(("", written));
    let candidates = KEYS.iter().filter_map(|key| {
        // The right key in the wrong table is one slip, a neighbour in the same table is none.
        let elsewhere = usize::from(key.table() != table);
        let slips = within_reach(leaf, key.leaf())?;
        Some((slips * 2 + elsewhere, key.name))
    });
    let whole = KEYS
        .iter()
        .filter_map(|key| within_reach(written, key.name).map(|slips| (slips * 2, key.name)));
    candidates.chain(whole).min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// The end of a sentence about a setting that does not exist: what to write instead.
pub(super) fn hint(written: &str) -> String {
    if let Some(near) = setting(written) {
        return format!("; did you mean {near}?");
    }
    let table = written.split_once('.').map_or("", |(table, _)| table);
    let known: Vec<_> = KEYS.iter().filter(|k| k.table() == table).map(|k| k.leaf()).collect();
    if known.is_empty() {
        let tables: Vec<_> = TABLES.iter().map(|(table, _)| *table).collect();
        format!("; settings stand in the tables {}", tables.join(", "))
    } else {
        format!("; [{table}] has {}", known.join(", "))
    }
}

/// The table somebody meant.
pub(super) fn table(written: &str) -> Option<&'static str> {
    word(written, TABLES.iter().map(|(table, _)| *table))
}

/// The nearest of some words.
pub(super) fn word(
    written: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    known
        .filter_map(|name| within_reach(written, name).map(|slips| (slips, name)))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// Slips between the names, unless they are too many to suggest one for the other.
pub(crate) fn within_reach(written: &str, known: &str) -> Option<usize> {
    let reach = known.len().div_ceil(3).min(3);
    if written.len().abs_diff(known.len()) > 2 * reach {
        return None;
    }
    let fold = |name: &str| name.to_lowercase().replace('-', "_").chars().collect::<Vec<_>>();
    let slips = distance(&fold(written), &fold(known));
    (slips <= reach).then_some(slips)
}

/// Edit distance with swaps of neighbours (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let wrong = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (above[j - 1] + wrong).min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slips(a: &str, b: &str) -> usize {
        distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn each_kind_of_slip_counts_once() {
        assert_eq!(slips("delay", "delay"), 0);
        assert_eq!(slips("dealy", "delay"), 1);
        assert_eq!(slips("dlay", "delay"), 1);
        assert_eq!(slips("dellay", "delay"), 1);
        assert_eq!(slips("telay", "delay"), 1);
        assert_eq!(slips("", "delay"), 5);
        assert_eq!(slips("delay", ""), 5);
    }

    #[test]
    fn the_right_key_is_found_in_another_table_and_without_one() {
        assert_eq!(setting("delay"), Some("crawl.delay"));
        assert_eq!(setting("fetch.delay"), Some("crawl.delay"));
        assert_eq!(setting("crawl.Max-Pages"), Some("crawl.max_pages"));
        assert_eq!(setting("crawl.contact"), Some("fetch.contact"));
        assert_eq!(setting("crwal.delay"), Some("crawl.delay"));
        assert_eq!(table("crwal"), Some("crawl"));
    }

    #[test]
    fn nothing_is_suggested_for_what_is_like_nothing() {
        assert_eq!(setting("crawl.zzzzzzzz"), None);
        assert_eq!(setting(""), None);
        assert_eq!(table("telephone"), None);
    }
}
