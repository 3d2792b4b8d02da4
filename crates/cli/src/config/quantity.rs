//! Durations and sizes as people write them.
//!
//! Called by the configuration and by command-line flags, so that `delay = "10s"` and
//! `--delay 10s` mean the same. Invariants: reading what was printed gives the same value
//! (`parse_duration(human_duration(d)) = d` in whole milliseconds, and likewise for sizes);
//! nothing is rounded on the way in: what cannot be held exactly is refused.
//! Not here: which values a setting allows (`keys`).

use std::time::Duration;

/// Units of time in milliseconds, largest first; a duration names each at most once, in this order.
const TIME_UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Units of size in bytes: thousands without an `i`, powers of 1,024 with one.
const SIZE_UNITS: [(&str, u64); 9] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// Reads a duration: `10s`, `500ms`, `1h30m`, `1.5h`, `1d`, or a plain number of seconds.
///
/// The error completes the sentence "`tenn` is …".
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    millis(text.trim())
        .map(Duration::from_millis)
        .ok_or_else(|| r#"not a duration; write for example "10s" or "500ms""#.to_owned())
}

/// Reads a size: `256MB` (MB = 1,000,000 bytes), `512KiB` (KiB = 1,024 bytes), or plain bytes.
///
/// The error completes the sentence "`lots` is …".
pub fn parse_size(text: &str) -> Result<u64, String> {
    bytes(text.trim())
        .ok_or_else(|| r#"not a size; write for example "256MB" or "512KiB""#.to_owned())
}

/// Writes a duration in whole milliseconds the way [`parse_duration`] reads it: `1h30m`, `500ms`.
pub fn human_duration(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, length) in TIME_UNITS {
        if rest >= length {
            text += &format!("{}{unit}", rest / length);
            rest %= length;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// Writes a size exactly, with the unit that makes it shortest: `256MB`, `1GiB`, `1234567B`.
pub fn human_size(bytes: u64) -> String {
    SIZE_UNITS
        .iter()
        .filter(|(_, unit)| bytes.is_multiple_of(*unit) && (bytes > 0 || *unit == 1))
        .map(|(name, unit)| format!("{}{name}", bytes / unit))
        .min_by_key(String::len)
        .unwrap_or_else(|| format!("{bytes}B"))
}

fn millis(text: &str) -> Option<u64> {
    if let Some(seconds) = scaled(text, 1_000) {
        return Some(seconds);
    }
    let (mut rest, mut total, mut larger) = (text, 0u64, u64::MAX);
    loop {
        let (number, unit, after) = piece(rest);
        let (_, length) = TIME_UNITS.iter().find(|(name, _)| *name == unit)?;
        if *length >= larger {
            return None;
        }
        total = total.checked_add(scaled(number, *length)?)?;
        (rest, larger) = (after, *length);
        if rest.is_empty() {
            return Some(total);
        }
    }
}

fn bytes(text: &str) -> Option<u64> {
    if let Some(plain) = scaled(text, 1) {
        return Some(plain);
    }
    let (number, unit, rest) = piece(text);
    let (_, size) = SIZE_UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    if rest.is_empty() { scaled(number, *size) } else { None }
}

/// Splits `1h 30m` into `1`, `h` and `30m`.
fn piece(text: &str) -> (&str, &str, &str) {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let rest = rest.trim_start();
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(letters);
    (number, unit, rest.trim_start())
}

/// A decimal number times a unit; `None` if it is no number, too large, or not whole.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 18 {
        return None;
    }
    let unit = u128::from(unit);
    let ten_to = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = fraction.parse::<u128>().ok()? * unit;
    if !part.is_multiple_of(ten_to) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?;
    u64::try_from(u128::from(whole).checked_mul(unit)? + part / ten_to).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, ms) in [
            ("10s", 10_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1.5h", 5_400_000),
            ("1d", 86_400_000),
            ("0", 0),
            ("10", 10_000),
            ("0.25", 250),
            (" 3 s ", 3_000),
            ("1m500ms", 60_500),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in [
            "",
            "s",
            "tenn",
            "10x",
            "-1s",
            "1s1s",
            "1s1m",
            "1..5s",
            ".5s",
            "1.s",
            "1e3",
            "+5",
            "0.0001s",
            "99999999999999999999",
            "999999999999999999d",
            "1h30",
            "10 s x",
            "١s",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_thousands_or_powers_of_1024_by_their_unit() {
        for (text, bytes) in [
            ("256MB", 256_000_000),
            ("1GB", 1_000_000_000),
            ("512KiB", 524_288),
            ("1.5gib", 1_610_612_736),
            ("7", 7),
            ("7B", 7),
            ("0", 0),
            ("2 TB", 2_000_000_000_000),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "1M", "1.5", "0.5B", "-1", "1MB2KB", "1XB", "99999999TiB", "1 2"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_printed_reads_back_as_the_same() {
        let mut n = 1u64;
        for step in 0..5_000u64 {
            n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = n >> (step % 64);
            assert_eq!(parse_size(&human_size(value)), Ok(value));
            let duration = Duration::from_millis(value);
            assert_eq!(parse_duration(&human_duration(duration)), Ok(duration));
        }
        assert_eq!(human_size(256_000_000), "256MB");
        assert_eq!(human_size(1 << 30), "1GiB");
        assert_eq!(human_size(0), "0B");
        assert_eq!(human_duration(Duration::ZERO), "0s");
        assert_eq!(human_duration(Duration::from_secs(5_400)), "1h30m");
    }
}
