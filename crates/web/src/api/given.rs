//! The parameters of a request, read and checked by the table.

use super::table::{Endpoint, Kind, LONGEST_CURSOR, Param, Place, Verb};
use crate::failure::Failure;
use argiope_crawl::span_of;
use argiope_model::{CanonicalUrl, Time};
use axum::extract::{Query, RawPathParams};
use axum::http::{HeaderMap, Uri, header};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Checked parameters.
#[derive(Debug)]
pub(crate) struct Given {
    values: BTreeMap<&'static str, Vec<String>>,
    /// The path as it is described.
    pub path: &'static str,
    /// The path and query as they were asked for.
    pub raw: String,
    /// Where we are, as whoever asks sees it: `http://127.0.0.1:7070`.
    pub base: String,
    pub now: Time,
}

impl Given {
    pub fn read(
        endpoint: &'static Endpoint,
        path: &RawPathParams,
        uri: &Uri,
        headers: &HeaderMap,
        body: Option<Value>,
    ) -> Result<Given, Failure> {
        let mut given = Given {
            values: BTreeMap::new(),
            path: endpoint.path,
            raw: uri.path_and_query().map(|p| p.as_str().to_owned()).unwrap_or_default(),
            base: base(uri, headers),
            now: Time::from_system(SystemTime::now()),
        };
        let in_place = |name: &str, place: Place| {
            endpoint.params.iter().find(|p| p.name == name && p.place == place)
        };
        for (name, value) in path {
            if let Some(param) = in_place(name, Place::Path) {
                given.take(param, value.to_owned())?;
            }
        }
        let query = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| Failure::wrong("the query cannot be read"))?;
        for (name, value) in query.0 {
            match in_place(&name, Place::Query) {
                Some(param) => given.take(param, value)?,
                None if endpoint.lenient => {}
                None => return Err(not_known(endpoint, &name, Place::Query)),
            }
        }
        for param in endpoint.params.iter().filter(|p| p.place == Place::Header) {
            if let Some(value) = headers.get(param.name) {
                let text = value.to_str();
                let text =
                    text.map_err(|_| Failure::wrong(format!("{} is no text", param.name)))?;
                given.take(param, text.to_owned())?;
            }
        }
        if endpoint.verb == Verb::Post {
            let fields = match body {
                Some(Value::Object(fields)) => fields,
                None => serde_json::Map::new(),
                Some(_) => return Err(Failure::wrong("the body is to be a JSON object")),
            };
            for (name, value) in fields {
                let Some(param) = in_place(&name, Place::Body) else {
                    return Err(not_known(endpoint, &name, Place::Body));
                };
                given.take_json(param, value)?;
            }
        }
        match endpoint.params.iter().find(|p| p.needed && !given.values.contains_key(p.name)) {
            Some(missing) => {
                Err(Failure::wrong(format!("{} is missing: {}", missing.name, missing.about)))
            }
            None => Ok(given),
        }
    }

    fn take(&mut self, param: &'static Param, value: String) -> Result<(), Failure> {
        check(param, &value, self.now)
            .map_err(|why| Failure::wrong(format!("{} {}: {why}", param.name, shown(&value))))?;
        let held = self.values.entry(param.name).or_default();
        if held.len() >= param.most {
            let most = param.most;
            return Err(Failure::wrong(format!("{} is given more than {most} times", param.name)));
        }
        held.push(value);
        Ok(())
    }

    fn take_json(&mut self, param: &'static Param, value: Value) -> Result<(), Failure> {
        let wrong = || Failure::wrong(format!("{} is of the wrong type", param.name));
        let one = |value: Value| match (param.kind, value) {
            (Kind::Number(..), Value::Number(n)) => {
                // 2.0 is a whole number too.
                let whole = n.as_f64().filter(|x| *x >= 0.0 && x.fract() == 0.0 && *x < 1e18);
                whole.map(|x| (x as u64).to_string()).ok_or_else(wrong)
            }
            (Kind::Seconds(_), Value::Number(n)) => Ok(n.to_string()),
            (Kind::Flag, Value::Bool(b)) => Ok(b.to_string()),
            (Kind::Number(..) | Kind::Seconds(_) | Kind::Flag, _) => Err(wrong()),
            (_, Value::String(text)) => Ok(text),
            _ => Err(wrong()),
        };
        match (param.most, value) {
            (1, value) => self.take(param, one(value)?),
            (_, Value::Array(values)) => {
                self.values.entry(param.name).or_default();
                values.into_iter().try_for_each(|value| self.take(param, one(value)?))
            }
            _ => Err(wrong()),
        }
    }

    /// A parameter as it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.first().map(String::as_str)
    }

    /// A parameter that must be there.
    pub fn needed(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_owned()
    }

    /// All values of a list.
    pub fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn number(&self, name: &str, default: u64) -> u64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// The end of a moment, as `--at` has it.
    pub fn moment(&self, name: &str) -> Option<Time> {
        moment(self.text(name)?, self.now)
    }

    /// All that a cursor belongs to: the path and the parameters without the cursor.
    pub fn asked(&self) -> String {
        let mut out = self.path.to_owned();
        for (name, values) in self.values.iter().filter(|(name, _)| **name != "cursor") {
            out.push_str(&format!("\n{name}={values:?}"));
        }
        out
    }
}

/// What is written short means its end, as it does on the command line.
fn moment(text: &str, now: Time) -> Option<Time> {
    let whole = text.contains('-') || text.trim().parse::<u16>().is_err();
    let (from, until) = span_of(text, now).filter(|_| whole)?;
    Some(Time(until.0 - 1).max(from))
}

fn check(param: &Param, value: &str, now: Time) -> Result<(), String> {
    let length = value.chars().count();
    match param.kind {
        Kind::Text(least, most) if length < least || length > most => {
            Err(format!("is to have {least} to {most} characters"))
        }
        Kind::Text(..) if value.chars().any(char::is_control) => {
            Err("holds control characters".to_owned())
        }
        Kind::Number(least, most) => {
            let number = value.bytes().all(|b| b.is_ascii_digit()).then(|| value.parse::<u64>());
            match number {
                Some(Ok(n)) if (least..=most).contains(&n) => Ok(()),
                _ => Err(format!("is to be a whole number from {least} to {most}")),
            }
        }
        Kind::Seconds(most) => match value.parse::<f64>() {
            Ok(n) if (0.0..=f64::from(most)).contains(&n) => Ok(()),
            _ => Err(format!("is to be a number of seconds up to {most}")),
        },
        Kind::Choice(words) if !words.contains(&value) => {
            Err(format!("is to be one of {}", words.join(", ")))
        }
        Kind::Flag if !matches!(value, "true" | "false") => {
            Err("is to be true or false".to_owned())
        }
        Kind::Moment if length > 40 || moment(value, now).is_none() => {
            Err("is no time; write 2026-01-31, 2026-01-31T12:00:00Z or yesterday".to_owned())
        }
        Kind::Digits
            if !(4..=14).contains(&length) || !value.bytes().all(|b| b.is_ascii_digit()) =>
        {
            Err("is to be 4 to 14 digits: 20260131120000".to_owned())
        }
        Kind::Document(most) if length == 0 || length > most => {
            Err(format!("is to have 1 to {most} characters"))
        }
        Kind::Cursor if length > LONGEST_CURSOR => Err("is too long".to_owned()),
        Kind::Web => {
            let web = value.starts_with("http://") || value.starts_with("https://");
            match CanonicalUrl::parse(value) {
                _ if !web => Err("is to begin with http:// or https://".to_owned()),
                _ if length > 2_000 => Err("is longer than 2000 characters".to_owned()),
                Ok(_) => Ok(()),
                Err(e) => Err(e.to_string()),
            }
        }
        _ => Ok(()),
    }
}

/// The beginning of what was given, for a sentence.
fn shown(value: &str) -> String {
    let mut out: String = value.chars().take(40).collect();
    if out.len() < value.len() {
        out.push('…');
    }
    out
}

fn not_known(endpoint: &Endpoint, name: &str, place: Place) -> Failure {
    let known = endpoint.params.iter().filter(|p| p.place == place).map(|p| p.name);
    let known: Vec<&str> = known.collect();
    Failure::wrong(match known.is_empty() {
        true => format!("{} is not known here; nothing is taken", shown(name)),
        false => format!("{} is not known here; there are {}", shown(name), known.join(", ")),
    })
}

/// Where we are, as whoever asks sees it. The guard has looked at the name.
pub(crate) fn base(uri: &Uri, headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
    let host = text(header::HOST.as_str()).or(uri.authority().map(|a| a.as_str()));
    let scheme = match text("x-forwarded-proto") {
        Some("https") => "https",
        _ => "http",
    };
    // Behind the colon the guard has not looked.
    let fits = |c: &char| c.is_ascii_alphanumeric() || ".-_:[]".contains(*c);
    format!("{scheme}://{}", host.unwrap_or_default().chars().filter(fits).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_held_against_their_kind() {
        let try_it = |kind, value: &str| check(&Param::new("x", kind, ""), value, Time(0)).is_ok();
        for (kind, good, bad) in [
            (Kind::Text(1, 3), &["a", "äöü"][..], &["", "abcd", "a\n"][..]),
            (
                Kind::Number(2, 20),
                &["2", "20", "007"],
                &["1", "21", "-2", "+3", "2.0", "", "9e9", "²"],
            ),
            (Kind::Seconds(60), &["0", "0.5", "60"], &["-1", "61", "NaN", "inf", "1s"]),
            (Kind::Choice(&["a", "b"]), &["a"], &["A", ""]),
            (Kind::Flag, &["true", "false"], &["1", "yes", ""]),
            (
                Kind::Moment,
                &["2026-01-31", "20260131120000", "yesterday"],
                &["2026", "soon", "2026-02-30"],
            ),
            (Kind::Digits, &["2026", "20260131120000"], &["202", "2026-01", "202601311200001"]),
            (
                Kind::Web,
                &["http://a.test/", "https://a.test/?b"],
                &["ftp://a.test/", "--flag", "file:///etc", "http://"],
            ),
        ] {
            for value in good {
                assert!(try_it(kind, value), "{kind:?} {value}");
            }
            for value in bad {
                assert!(!try_it(kind, value), "{kind:?} {value}");
            }
        }
    }

    #[test]
    fn where_we_are_holds_nothing_that_is_no_name() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "localhost:70\"><b".parse().unwrap());
        assert_eq!(base(&Uri::from_static("/"), &headers), "http://localhost:70b");
    }
}
