//! What one written value means by itself.
//!
//! Called by `settings` for every entry. A [`Value`] fits its key: it is of the right kind, in
//! range, and in one form (words lower case, extensions without their dot). The fault of one
//! that does not fit completes the sentence "`crawl.delay = "tenn"` …" and says what to write.
//! Not here: lists (`words`), and how values depend on each other (`settings`).

use super::keys::{Key, Kind, Preset};
use super::nearest;
use super::quantity::{human_duration, human_size, parse_duration, parse_size};
use super::words;
use super::written::Raw;
use argiope_crawl::Keep;
use argiope_fetch::ProxyUrl;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// A value that fits its key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Nothing was written, and there is no default.
    Unset,
    /// The value follows from other settings.
    Auto,
    Choice(&'static str),
    Words(Vec<String>),
    Duration(Duration),
    Size(u64),
    Count(u64),
    Text(String),
    /// Shows itself without user name and password.
    Proxy(ProxyUrl),
    Flag(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("-"),
            Self::Auto => f.write_str("auto"),
            Self::Choice(word) => f.write_str(word),
            Self::Words(words) if words.is_empty() => f.write_str("[]"),
            Self::Words(words) => f.write_str(&words.join(", ")),
            Self::Duration(duration) => f.write_str(&human_duration(*duration)),
            Self::Size(bytes) => f.write_str(&human_size(*bytes)),
            Self::Count(count) => write!(f, "{count}"),
            Self::Text(text) if text.is_empty() => f.write_str("\"\""),
            Self::Text(text) => f.write_str(text),
            Self::Proxy(proxy) => write!(f, "{proxy}"),
            Self::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

impl Value {
    /// The value for programs: numbers, truth and lists as such, the rest as text.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Unset => serde_json::Value::Null,
            Self::Words(words) => words.as_slice().into(),
            Self::Count(count) => (*count).into(),
            Self::Text(text) => text.as_str().into(),
            Self::Flag(flag) => (*flag).into(),
            other => other.to_string().into(),
        }
    }
}

/// Says what a written value means, or what is wrong with it; relative paths begin at `folder`.
pub(super) fn interpret(key: &Key, raw: Option<&Raw>, folder: &Path) -> Result<Value, String> {
    let Some(raw) = raw else { return Ok(Value::Unset) };
    let value = match key.kind {
        Kind::Choice(words) => choice(words, raw),
        Kind::Words { of, auto, may_be_empty } => words::list(of, auto, may_be_empty, raw, folder),
        Kind::Duration { auto: true, .. } if *raw == Raw::Text("auto".into()) => Ok(Value::Auto),
        Kind::Duration { min_ms, max_ms, auto } => {
            let value = duration(min_ms, max_ms, raw);
            if auto { value.map_err(|fault| fault + ", or \"auto\"") } else { value }
        }
        Kind::Size { min } => size(min, raw),
        Kind::Count { min, max } => count(min, max, raw),
        Kind::Text { may_be_empty } => text(may_be_empty, raw),
        Kind::Filter => text(true, raw),
        Kind::Keep => keep(raw),
        Kind::Proxy => proxy(raw),
        Kind::Flag => match raw {
            Raw::Flag(flag) => Ok(Value::Flag(*flag)),
            _ => Err("is not true or false".to_owned()),
        },
    };
    match (&key.preset, value) {
        (Preset::Unset { without, .. }, Err(fault)) => {
            Err(format!("{fault}; without the line {without}"))
        }
        (_, value) => value,
    }
}

fn choice(words: &'static [&'static str], raw: &Raw) -> Result<Value, String> {
    let Raw::Text(text) = raw else {
        return Err(format!("is not one of {}; write it in quotes", words.join(", ")));
    };
    if let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(Value::Choice(word));
    }
    let hint = nearest::word(text, words.iter().copied())
        .map_or_else(String::new, |word| format!("; did you mean {word}?"));
    Err(format!("is not one of {}{hint}", words.join(", ")))
}

fn duration(min_ms: u64, max_ms: u64, raw: &Raw) -> Result<Value, String> {
    let value = parse_duration(&number_or_text(raw)).map_err(|fault| format!("is {fault}"))?;
    let (min, max) = (Duration::from_millis(min_ms), Duration::from_millis(max_ms));
    if value < min || value > max {
        let (min, max) = (human_duration(min), human_duration(max));
        return Err(format!("is out of range; allowed are {min} to {max}"));
    }
    Ok(Value::Duration(value))
}

fn size(min: u64, raw: &Raw) -> Result<Value, String> {
    let value = parse_size(&number_or_text(raw)).map_err(|fault| format!("is {fault}"))?;
    if value < min {
        return Err(format!("is too small; the minimum is {}", human_size(min)));
    }
    Ok(Value::Size(value))
}

/// Plain numbers go the way of text, so that both obey one reader.
fn number_or_text(raw: &Raw) -> String {
    match raw {
        Raw::Text(text) => text.clone(),
        Raw::Integer(number) => number.to_string(),
        Raw::Float(number) => number.to_string(),
        Raw::Flag(_) | Raw::List(_) | Raw::Other => String::new(),
    }
}

fn count(min: u64, max: u64, raw: &Raw) -> Result<Value, String> {
    let Raw::Integer(number) = raw else {
        let quotes = matches!(raw, Raw::Text(text) if text.parse::<i64>().is_ok());
        let hint = if quotes { "; write it without quotes" } else { "" };
        return Err(format!("is not a whole number{hint}"));
    };
    match u64::try_from(*number) {
        Ok(value) if (min..=max).contains(&value) => Ok(Value::Count(value)),
        _ if max == u64::MAX => Err(format!("is too small; the minimum is {min}")),
        _ => Err(format!("is out of range; allowed are {min} to {max}")),
    }
}

fn keep(raw: &Raw) -> Result<Value, String> {
    let rule = if let Raw::Text(text) = raw { text.trim().parse::<Keep>().ok() } else { None };
    let rule = rule.map(|rule| Value::Text(rule.to_string()));
    rule.ok_or_else(|| {
        r#"is no rule; write "all", "daily", "weekly", "monthly", "yearly" or "last:5""#.to_owned()
    })
}

fn text(may_be_empty: bool, raw: &Raw) -> Result<Value, String> {
    let Raw::Text(text) = raw else {
        return Err("is not text; write it in quotes".to_owned());
    };
    let text = text.trim();
    if text.is_empty() && !may_be_empty {
        return Err("must not be empty".to_owned());
    }
    // Goes into a request header: one line of visible ASCII.
    if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Err("holds characters a request cannot carry; use one line of plain ASCII".into());
    }
    Ok(Value::Text(text.to_owned()))
}

fn proxy(raw: &Raw) -> Result<Value, String> {
    let Raw::Text(text) = raw else {
        return Err("is not text; write it in quotes".to_owned());
    };
    // The reason never repeats the text, which may hold a password.
    text.parse().map(Value::Proxy).map_err(|why| format!("cannot be used: {why}"))
}
