//! Numbers, sizes and times as people read them.

use serde_json::Value;

pub(crate) use argiope_model::figures::{bytes, count, plural, seconds};

/// A time of a row, to the minute: `2026-03-01 12:30`.
pub(crate) fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

/// A text of a row, empty where there is none.
pub(crate) fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

/// A number of a row, 0 where there is none.
pub(crate) fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or(0)
}

/// A list of a row, empty where there is none.
pub(crate) fn list<'a>(row: &'a Value, name: &str) -> &'a [Value] {
    row[name].as_array().map_or(&[], Vec::as_slice)
}

/// A value for the query of a URL, or a part of its path.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte.into());
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_a_query() {
        assert_eq!(encoded("a b&c=ä/?#"), "a%20b%26c%3D%C3%A4%2F%3F%23");
    }

    #[test]
    fn times_are_cut() {
        assert_eq!(minute("2026-03-01T12:30:59.123Z"), "2026-03-01 12:30");
    }
}
