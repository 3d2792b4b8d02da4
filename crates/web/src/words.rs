//! Numbers, sizes and times as people read them.

use serde_json::Value;

/// 1234567 as `1,234,567`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Bytes in a unit that gives one to three digits before the point.
pub(crate) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// A number and what it counts.
pub(crate) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Seconds as `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 days`.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3_600.0 => format!("{} min {} s", (s / 60.0) as u64, s as u64 % 60),
        s if s < 172_800.0 => format!("{} h {} min", (s / 3_600.0) as u64, s as u64 / 60 % 60),
        s => format!("{} days", (s / 86_400.0) as u64),
    }
}

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
    fn numbers_are_grouped_and_times_cut() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(1_500), "1.5 kB");
        assert_eq!(plural(1, "page", "pages"), "1 page");
        assert_eq!(minute("2026-03-01T12:30:59.123Z"), "2026-03-01 12:30");
        assert_eq!(seconds(125.0), "2 min 5 s");
    }
}
