//! Numbers, sizes and spans of time as people read them, on a terminal and on a page alike.

/// 1234567 as `1,234,567`.
pub fn count(n: u64) -> String {
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
pub fn bytes(n: u64) -> String {
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
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Seconds as `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 days`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3_600.0 => format!("{} min {} s", (s / 60.0) as u64, s as u64 % 60),
        s if s < 172_800.0 => format!("{} h {} min", (s / 3_600.0) as u64, s as u64 / 60 % 60),
        s => format!("{} days", (s / 86_400.0) as u64),
    }
}

/// A text in which every time, as rows write it (`2026-01-31T23:59:59.123Z`), is written as `shown` has it.
pub fn with_times(text: &str, shown: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Found by its middle.
    while let Some(at) = rest.find('T') {
        let start = at.checked_sub(10).filter(|start| rest.is_char_boundary(*start));
        let time = start.and_then(|start| Some((start, rest.get(start..start + 24)?)));
        match time.filter(|(_, time)| is_time(time)) {
            Some((start, time)) => {
                out.push_str(&rest[..start]);
                out.push_str(&shown(time));
                rest = &rest[start + 24..];
            }
            None => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    out + rest
}

/// Whether a text is a time as rows hold it.
fn is_time(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            mark => byte == mark,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_have_their_units() {
        assert_eq!((count(7), count(1_234_567)), ("7".to_owned(), "1,234,567".to_owned()));
        assert_eq!((bytes(999), bytes(1_500)), ("999 B".to_owned(), "1.5 kB".to_owned()));
        assert_eq!(plural(1, "page", "pages"), "1 page");
        assert_eq!(plural(1_000, "page", "pages"), "1,000 pages");
        let spans = [4.25, 125.0, 7_500.0, 300_000.0].map(seconds);
        assert_eq!(spans, ["4.2 s", "2 min 5 s", "2 h 5 min", "3 days"]);
    }
}
